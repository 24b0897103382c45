// Changes and looks up nested data, for functions on grains and pillar.
import {
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  isTruthy,
  pyEquals,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { deepCopy, mergeRecurse, traverse } from 'halite/sdk/data';
import { matchesGlob } from 'halite/sdk/text';

export function dictSet(dict: Dict, key: Value, value: Value): void {
  if (dict instanceof Map) dict.set(key, value);
  else dict[pyStr(key)] = value;
}

export function dictDelete(dict: Dict, key: Value): void {
  if (dict instanceof Map) dict.delete(key);
  else delete dict[pyStr(key)];
}

/**
 * Puts `over` into `base` itself, level by level. Templates rely on it: `{% do salt['defaults.merge'](a, b) %}` changes `a`.
 */
export function updateInPlace(base: Dict, over: Dict, mergeLists: boolean, recursive = true): Dict {
  for (const [key, now] of dictEntries(over)) {
    const old = recursive ? dictGet(base, key) : undefined;
    if (isDict(old) && isDict(now)) updateInPlace(old, now, mergeLists);
    else if (mergeLists && Array.isArray(old) && Array.isArray(now)) {
      dictSet(base, key, [...old, ...now.filter((item) => !old.some((known) => pyEquals(known, item)))]);
    } else dictSet(base, key, now);
  }
  return base;
}

export interface FilterOptions {
  readonly merge?: Value;
  readonly default?: Value;
  readonly base?: Value;
}

/** The entry of `lookup` whose key (a glob) matches one of the values, merged over a base and under `merge`. */
export function filterBy(lookup: Dict, values: readonly Value[], options: FilterOptions): Value {
  let found: Value | undefined;
  for (const value of values) {
    const hit = dictEntries(lookup).find(([key]) => matchesGlob(pyStr(value), pyStr(key)));
    // Salt: an entry that is None counts as not found.
    if (hit && hit[1] !== null) {
      found = hit[1];
      break;
    }
  }
  found ??= dictGet(lookup, options.default ?? null);
  const base = options.base ? dictGet(lookup, options.base) : undefined;
  if (base !== undefined) {
    if (found === undefined || found === null) found = base;
    else if (isDict(base)) {
      if (!isDict(found))
        throw pythonError('SaltException', 'filter_by default and look-up values must both be dictionaries.');
      found = mergeRecurse(base, found);
    }
  }
  if (isTruthy(options.merge ?? null)) {
    if (!isDict(options.merge)) throw pythonError('SaltException', 'filter_by merge argument must be a dictionary.');
    if (found === undefined || found === null) found = options.merge;
    // In place, as Salt does: the entry of the caller's own dictionary changes.
    else if (isDict(found)) updateInPlace(found, deepCopy(options.merge), false);
  }
  return found ?? null;
}

/** The values at a path, for `filterBy`: the items of a list, or none when the path does not exist. */
export function valuesAt(data: Dict, path: string): Value[] {
  const found = traverse(data, pyStr(path));
  return found === undefined ? [] : Array.isArray(found) ? found : [found];
}

/** Python's rsplit(delimiter, 1) for a path that contains the delimiter. */
export function splitLast(path: string, delimiter: string): [string, string] {
  const at = path.lastIndexOf(delimiter);
  return [path.slice(0, at), path.slice(at + delimiter.length)];
}
