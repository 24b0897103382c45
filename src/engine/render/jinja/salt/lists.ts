// Salt's filters on lists and sets.
import { HaliteError } from '../../../../base/errors/index.ts';
import { PyError, typeError } from '../errors.ts';
import { toFloat } from '../filters/numbers.ts';
import { sum } from '../filters/sequences.ts';
import { intOf } from '../filters/support.ts';
import { add, div, sub } from '../runtime/arith.ts';
import { contains, less, ordered } from '../runtime/compare.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { DictView, PyDict } from '../runtime/dict.ts';
import { each, iterate, len, toArray, truth, tryIterate, unpack } from '../runtime/iterate.ts';
import { isText, textOf } from '../runtime/markup.ts';
import { asInt, makeFloat } from '../runtime/number.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { PySet } from '../runtime/set.ts';
import { sorted } from '../runtime/sort.ts';
import { noAttribute, Undefined } from '../runtime/undefined.ts';
import { type PyValue, typeName } from '../runtime/value.ts';
import { sampleOf } from './random.ts';

/** True for types with a hash: everything but list, dict, set and the set-like views. */
export function isHashable(value: PyValue): boolean {
  if (Array.isArray(value) || value instanceof PyDict) return false;
  if (value instanceof PySet) return value.frozen;
  return !(value instanceof DictView && value.kind !== 'values');
}

function unique(value: PyValue): PyValue {
  if (isHashable(value)) return new PySet(toArray(value));
  const out: PyValue[] = [];
  for (const item of each(value)) if (!contains(out, item)) out.push(item);
  return out;
}

const bothHashable = (a: PyValue, b: PyValue): boolean => isHashable(a) && isHashable(b);

const setOf = (value: PyValue): PySet => new PySet(toArray(value));

function union(a: PyValue, b: PyValue): PyValue {
  if (bothHashable(a, b)) return new PySet([...setOf(a), ...setOf(b)]);
  return unique(add(a, b));
}

/** Set results are built in the order CPython builds them, since that shows when they are printed. */
function intersect(a: PyValue, b: PyValue): PyValue {
  if (!bothHashable(a, b)) return unique(toArray(a).filter((item) => contains(b, item)));
  let [large, small] = [setOf(a), setOf(b)];
  if (small.size > large.size) [large, small] = [small, large];
  return new PySet(small.toArray().filter((item) => large.has(item)));
}

function difference(a: PyValue, b: PyValue): PyValue {
  if (!bothHashable(a, b)) return unique(toArray(a).filter((item) => !contains(b, item)));
  const other = setOf(b);
  return new PySet(
    setOf(a)
      .toArray()
      .filter((item) => !other.has(item)),
  );
}

function symmetric(a: PyValue, b: PyValue): PyValue {
  if (!bothHashable(a, b)) {
    const all = toArray(union(a, b));
    const common = intersect(a, b);
    return unique(all.filter((item) => !contains(common, item)));
  }
  const out = setOf(b);
  for (const item of setOf(a)) if (!out.delete(item)) out.add(item);
  return out;
}

function extreme(value: PyValue, name: 'min' | 'max'): PyValue {
  const source = iterate(value);
  const first = source.next();
  if (first.done) throw new PyError('ValueError', `${name}() arg is an empty sequence`);
  let best = first.value;
  for (let step = source.next(); !step.done; step = source.next()) {
    if (name === 'min' ? less(step.value, best) : ordered('>', step.value, best)) best = step.value;
  }
  return best;
}

function average(value: PyValue): PyValue {
  if (isHashable(value)) return makeFloat(toFloat(value));
  return makeFloat(toFloat(div(sum(each(value), 0), len(value))));
}

function isIterable(value: PyValue): boolean {
  if (isText(value)) return false;
  if (value instanceof Undefined && value.strict) value.fail();
  return tryIterate(value) !== undefined;
}

const nulls = new Set<PyValue>([null, 'None', 'null']);

function flatten(value: PyValue, levels: PyValue, keepNulls: boolean, seen: Set<unknown>): PyValue[] {
  if (typeof value === 'object' && value !== null) {
    if (seen.has(value)) throw new PyError('RecursionError', 'Reference cycle detected. Check input list.');
    seen.add(value);
  }
  const out: PyValue[] = [];
  for (const item of each(value)) {
    if (!keepNulls && nulls.has(item)) continue;
    if (isIterable(item) && (levels === null || ordered('>=', levels, 1))) {
      out.push(...flatten(item, levels === null ? null : sub(levels, 1), keepNulls, seen));
    } else out.push(item);
  }
  return out;
}

function exactly(value: PyValue, amount: PyValue): boolean {
  const wanted = asInt(amount);
  if (wanted === undefined) throw typeError(`'${typeName(amount)}' object cannot be interpreted as an integer`);
  let found = 0;
  for (const item of each(value)) if (truth(item)) found += 1;
  return found === Math.max(0, Number(wanted));
}

function sortedIgnoreCase(value: PyValue): PyValue {
  return sorted(toArray(value), (item) => {
    const text = textOf(item);
    if (text === undefined) throw noAttribute(item, 'lower');
    return text.toLowerCase();
  });
}

function compareLists(old: PyValue, fresh: PyValue): PyValue {
  const changes = new PyDict();
  const only = (from: PyValue, without: PyValue): PyValue[] => toArray(from).filter((item) => !contains(without, item));
  const added = only(fresh, old);
  if (added.length > 0) changes.set('new', added);
  const removed = only(old, fresh);
  if (removed.length > 0) changes.set('old', removed);
  return changes;
}

function sequence(value: PyValue): PyValue {
  const kept = Array.isArray(value) || value instanceof PyTuple || value instanceof PySet || value instanceof PyDict;
  return kept ? value : [value];
}

function toEntries(value: PyValue): PyValue {
  const entry = (key: PyValue, item: PyValue): PyDict =>
    PyDict.from([
      ['key', key],
      ['value', item],
    ]);
  if (value instanceof PyDict) return [...value.entries()].map(([key, item]) => entry(key, item));
  if (Array.isArray(value)) return value.map((item, index) => entry(index, item));
  throw new HaliteError('render.failed', 'Input data must be a dict or list');
}

function fromEntries(value: PyValue): PyValue {
  const out = new PyDict();
  for (const item of each(value)) {
    const lower = new PyDict();
    const pairs =
      item instanceof PyDict ? item.entries() : toArray(item).map((pair) => unpack(pair, 2) as [PyValue, PyValue]);
    for (const [key, member] of pairs) lower.set(textOf(key)?.toLowerCase() ?? key, member);
    const name = [lower.get('key'), lower.get('name')].find((key) => key !== undefined && truth(key));
    if (name !== undefined) out.set(name, lower.get('value') ?? null);
  }
  return out;
}

export const listFilters: FunctionTable = tableOf({
  unique: define('unique', 'values', (_rt, values) => unique(values!)),
  min: define('lst_min', 'obj', (_rt, obj) => extreme(obj!, 'min')),
  max: define('lst_max', 'obj', (_rt, obj) => extreme(obj!, 'max')),
  avg: define('lst_avg', 'lst', (_rt, lst) => average(lst!)),
  union: define('union', 'lst1, lst2', (_rt, a, b) => union(a!, b!)),
  intersect: define('intersect', 'lst1, lst2', (_rt, a, b) => intersect(a!, b!)),
  difference: define('difference', 'lst1, lst2', (_rt, a, b) => difference(a!, b!)),
  symmetric_difference: define('symmetric_difference', 'lst1, lst2', (_rt, a, b) => symmetric(a!, b!)),
  flatten: define('flatten', 'data, levels=None, preserve_nulls=False, _ids=None', (_rt, data, levels, keep) =>
    flatten(data!, levels!, truth(keep!), new Set()),
  ),
  exactly_n_true: define('exactly_n', 'iterable, amount=1', (_rt, value, amount) => exactly(value!, amount!)),
  exactly_one_true: define('exactly_one', 'iterable', (_rt, value) => exactly(value!, 1)),
  is_list: define('is_list', 'value', (_rt, value) => Array.isArray(value)),
  is_iter: define('is_iter', 'thing, ignore=None', (_rt, thing) => isIterable(thing!)),
  sequence: define('ensure_sequence_filter', 'data', (_rt, data) => sequence(data!)),
  sorted_ignorecase: define('sorted_ignorecase', 'to_sort', (_rt, value) => sortedIgnoreCase(value!)),
  substring_in_list: define('substr_in_list', 'string_to_search_for, list_to_search', (_rt, part, list) =>
    toArray(list!).some((item) => contains(item, part!)),
  ),
  compare_lists: define('compare_lists', 'old=None, new=None', (_rt, old, fresh) => compareLists(old!, fresh!)),
  random_sample: define('sample', 'value, size, seed=None', (_rt, value, size, seed) =>
    sampleOf(value!, intOf(size!), seed!),
  ),
  random_shuffle: define('shuffle', 'value, seed=None', (_rt, value, seed) => sampleOf(value!, len(value!), seed!)),
  to_entries: define('to_entries', 'data', (_rt, data) => toEntries(data!)),
  from_entries: define('from_entries', 'entries', (_rt, entries) => fromEntries(entries!)),
});
