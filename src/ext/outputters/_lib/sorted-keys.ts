// The order in which outputters walk a dict: sorted as Python sorts, or as given when the dict says so.
import { compareText } from '../../../base/codec/json/compare-text.ts';
import { pyStr } from '../../../base/codec/python/repr.ts';
import { asNumber, type Dict, dictEntries, type Value } from '../../../base/codec/value.ts';
import { isOrdered } from '../../../base/codec/yaml/collections.ts';

type Entry = [Value, Value];

const numberOf = (key: Value): number | undefined => (typeof key === 'boolean' ? Number(key) : asNumber(key));

function comparable(a: Value, b: Value): number | undefined {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  const left = numberOf(a);
  const right = numberOf(b);
  return left === undefined || right === undefined ? undefined : left - right;
}

/** Entries in the order of sorted(dict); undefined when the keys have no common order. */
export function sortedEntries(dict: Dict): Entry[] | undefined {
  const entries = dictEntries(dict);
  let fails = false;
  const sorted = entries.sort(([a], [b]) => {
    const order = comparable(a, b);
    if (order === undefined) fails = true;
    return order ?? 0;
  });
  return fails ? undefined : sorted;
}

/** As sortedEntries; keys of mixed kinds are turned into text first. Dicts marked as ordered keep their order. */
export function displayEntries(dict: Dict): Entry[] {
  if (isOrdered(dict)) return dictEntries(dict);
  const sorted = sortedEntries(dict);
  if (sorted) return sorted;
  const byText = new Map(dictEntries(dict).map(([key, value]) => [pyStr(key), value]));
  return [...byText].sort(([a], [b]) => compareText(a, b));
}
