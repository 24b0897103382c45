// Merges data in which parts are marked as "to be joined, not replaced" (`!aggregate` of the yamlex renderer).
import { type Dict, dictEntries, dictOf, isDict, type Value } from '../../base/codec/value.ts';
import { pyDictGet, pyEquals } from '../../base/util/py-equals.ts';

const marked = new WeakSet<object>();

/** Marks a list or map: when merged with another marked one of the same kind, both are joined. */
export function markAggregate<T extends Dict | Value[]>(value: T): T {
  marked.add(value);
  return value;
}

const isMarked = (value: Value): boolean => typeof value === 'object' && value !== null && marked.has(value);

/** A copy of a list or map, with the mark of the original when it has one. */
function copyOf(value: Value): Value {
  const copy = Array.isArray(value) ? [...value] : isDict(value) ? dictOf(dictEntries(value)) : value;
  return isMarked(value) ? markAggregate(copy as Dict | Value[]) : copy;
}

/** `over` merged into `base` by their marks; `levels` is the number of levels that count as marked in any case. */
export function aggregate(base: Value, over: Value, levels = 0): Value {
  if (levels > 0) return aggregate(asMarked(base), asMarked(over), 0);
  if (isDict(base) && isDict(over)) {
    const both = isMarked(base) && isMarked(over);
    const merged = new Map<Value, Value>(dictEntries(both ? base : over));
    for (const [key, value] of dictEntries(over)) {
      const old = pyDictGet(base, key);
      merged.set(key, old === undefined ? value : aggregate(old, value));
    }
    const result = dictOf([...merged]);
    return both || isMarked(over) ? markAggregate(result) : result;
  }
  if (Array.isArray(base) && Array.isArray(over) && isMarked(base) && isMarked(over)) {
    return markAggregate([...base, ...over.filter((item) => !base.some((known) => pyEquals(known, item)))]);
  }
  return copyOf(over);
}

function asMarked(value: Value): Value {
  if (isMarked(value)) return value;
  if (isDict(value)) return markAggregate(dictOf(dictEntries(value)));
  return markAggregate(Array.isArray(value) ? [...value] : [value]);
}
