// How two dictionaries differ, as Salt shows it: `{key: {old: …, new: …}}`, level by level.
import { type Dict, dictEntries, dictGet, dictHas, dictOf, isDict, newDict, type Value } from 'halite/sdk';
import { pyEquals } from '../../../base/util/index.ts';

const NONE = '_null_';

function pairOf(old: Value | undefined, now: Value | undefined): Dict {
  return newDict([['old', old ?? NONE], ['new', now ?? NONE]]);
}

/** Only what differs; a key that one side lacks has `_null_` there. */
export function dataDiff(old: Dict, now: Dict): Dict {
  const found: [Value, Value][] = [];
  for (const [key, value] of dictEntries(now)) {
    const before = dictGet(old, key);
    if (before === undefined) found.push([key, pairOf(undefined, value)]);
    else if (isDict(before) && isDict(value)) {
      const inner = dataDiff(before, value);
      if (dictEntries(inner).length > 0) found.push([key, inner]);
    } else if (!pyEquals(before, value)) found.push([key, pairOf(before, value)]);
  }
  for (const [key, value] of dictEntries(old)) if (!dictHas(now, key)) found.push([key, pairOf(value, undefined)]);
  return dictOf(found);
}
