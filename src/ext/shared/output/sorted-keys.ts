// The order of a dict's entries in outputters: sorted as in Python, or unchanged if the dict is marked as ordered.

import { asNumber, type Dict, dictEntries, pyStr, type Value } from 'halite/sdk';
import { compareText, isOrdered } from 'halite/sdk/codec';

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

/** Cache of sorted keys for small dicts: results are long lists of dicts with the same keys. */
const shapes = new Map<string, { readonly given: readonly string[]; readonly sorted: readonly string[] }>();
const [smallDict, mostShapes] = [32, 500];

function sortedKeys(keys: string[]): readonly string[] {
  if (keys.length > smallDict) return isSorted(keys) ? keys : keys.sort(compareText);
  const shape = keys.join('\n');
  const known = shapes.get(shape);
  if (known && isSame(known.given, keys)) return known.sorted;
  const sorted = [...keys].sort(compareText);
  if (shapes.size >= mostShapes) shapes.clear();
  shapes.set(shape, { given: keys, sorted });
  return sorted;
}

/** Keys with line ends could be ambiguous when they are joined. */
function isSame(a: readonly string[], b: readonly string[]): boolean {
  for (let at = 0; at < b.length; at++) if (a[at] !== b[at]) return false;
  return a.length === b.length;
}

function isSorted(keys: readonly string[]): boolean {
  for (let at = 1; at < keys.length; at++)
    if (compareText(keys[at - 1] as string, keys[at] as string) > 0) return false;
  return true;
}

/** Calls with each entry, in the order of displayEntries. */
export function eachEntry(dict: Dict, use: (key: string, value: Value) => void): void {
  if (dict instanceof Map || isOrdered(dict)) for (const [key, value] of displayEntries(dict)) use(pyStr(key), value);
  else for (const key of sortedKeys(Object.keys(dict))) use(key, dict[key] as Value);
}

/** As sortedEntries; keys of mixed kinds are turned into text first. Dicts marked as ordered keep their order. */
export function displayEntries(dict: Dict): Entry[] {
  if (isOrdered(dict)) return dictEntries(dict);
  const sorted = sortedEntries(dict);
  if (sorted) return sorted;
  const byText = new Map(dictEntries(dict).map(([key, value]) => [pyStr(key), value]));
  return [...byText].sort(([a], [b]) => compareText(a, b));
}
