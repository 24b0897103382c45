// JSON text as values: with the engine's own parser where that loses nothing, which is nearly always.
import { type Dict, isDict, isReorderedKey, newDict, PyFloat, type Value } from '../value.ts';
import { loadJson } from './load.ts';

/**
 * What only our own reader keeps: large integers, whole floats, NaN, and the order of keys that look like numbers.
 * Found by a look at the text; a match inside of a string only costs time.
 */
const number = '-?(?:\\d{16}|\\d+\\.(?:0+(?!\\d)|\\d{15})|\\d+(?:\\.\\d+)?[eE]|NaN|Infinity)';
const special = new RegExp(`[[:,]\\s*${number}|^\\s*${number}|"\\d{1,10}"\\s*:`);

export function parseValue(text: string): Value {
  return special.test(text) ? loadJson(text) : parsePlain(text);
}

/** The value of a text of which `isPlainJson` was true. */
export function parsePlain(text: string): Value {
  const value = JSON.parse(text) as Value;
  bare(value);
  return value;
}

/** Objects without a prototype, as everywhere. */
function bare(value: Value): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') bare(item);
    return;
  }
  Object.setPrototypeOf(value, null);
  for (const key in value) {
    const item = (value as Record<string, Value>)[key] as Value;
    if (typeof item === 'object') bare(item);
  }
}

/** A column that holds a map; anything else is an empty one. */
export function parseDict(text: unknown): Dict {
  const value = parseValue(String(text ?? '{}'));
  return isDict(value) ? value : newDict();
}

/** Whether `JSON.parse` of the JSON of this value gives the same again. */
export function isPlainJson(value: Value | undefined): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) || !(Number.isInteger(value) || isEndless(value));
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  if (Array.isArray(value)) return value.every(isPlainJson);
  // Bytes and dates are text in JSON.
  if (value instanceof PyFloat || value instanceof Map) return false;
  if (value instanceof Uint8Array || value instanceof Date) return true;
  return Object.keys(value).every((key) => !isReorderedKey(key) && isPlainJson(value[key]));
}

const isEndless = (value: number): boolean => !Number.isFinite(value);
