// How two dictionaries differ, as Salt shows it: `{key: {new: …, old: …}}`, level by level.
import {
  type Dict,
  dictEntries,
  dictGet,
  dictHas,
  dictOf,
  dictSize,
  isDict,
  newDict,
  pyEquals,
  type Value,
} from 'halite/sdk';

const none = '<_null_>';

/** The differences. Removed keys are only included on request. */
export function dataDiff(old: Dict, now: Dict, withRemoved = false): Dict {
  const found: [Value, Value][] = [];
  for (const [key, value] of dictEntries(now)) {
    const before = dictGet(old, key);
    if (before === undefined)
      found.push([
        key,
        newDict([
          ['new', value],
          ['old', none],
        ]),
      ]);
    else if (isDict(before) && isDict(value)) {
      const inner = dataDiff(before, value, withRemoved);
      if (dictSize(inner) > 0) found.push([key, inner]);
    } else if (!pyEquals(before, value))
      found.push([
        key,
        newDict([
          ['new', value],
          ['old', before],
        ]),
      ]);
  }
  if (withRemoved) {
    for (const [key, value] of dictEntries(old))
      if (!dictHas(now, key))
        found.push([
          key,
          newDict([
            ['new', none],
            ['old', value],
          ]),
        ]);
  }
  return dictOf(found);
}
