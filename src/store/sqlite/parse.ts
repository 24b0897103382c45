// Stored JSON as values: with the engine's own parser where that loses nothing, which is nearly always.
import { loadJson } from '../../base/codec/json/index.ts';
import { type Dict, isDict, newDict, type Value } from '../../base/codec/value.ts';

/**
 * What only our own reader keeps: large integers, floats, NaN, and the order of keys that look like numbers. Found by
 * a look at the text; a match inside of a string only costs time.
 */
const special = /[[:,]\s*-?(?:\d{16}|\d+[.eE]|NaN|Infinity)|^\s*-?(?:\d{16}|\d+[.eE]|NaN|Infinity)|"-?\d+"\s*:/;

export function parseValue(text: string): Value {
  return special.test(text) ? loadJson(text) : safe(JSON.parse(text) as Value);
}

/** Objects without a prototype, as everywhere. */
function safe(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item = value[at];
      if (typeof item === 'object' && item !== null) value[at] = safe(item);
    }
    return value;
  }
  const dict = newDict();
  for (const key of Object.keys(value)) dict[key] = safe((value as Record<string, Value>)[key] ?? null);
  return dict;
}

/** A column that holds a map; anything else is an empty one. */
export function parseDict(text: unknown): Dict {
  const value = parseValue(String(text ?? '{}'));
  return isDict(value) ? value : newDict();
}
