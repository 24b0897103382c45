// Parses JSON text with `JSON.parse` where that is lossless, which is nearly always.
import { type Dict, isDict, isReorderedKey, newDict, PyFloat, type Value } from '../value.ts';
import { loadJson } from './load.ts';

/**
 * What only `loadJson` preserves: large integers, whole floats, NaN, and the order of keys that look like numbers.
 * The pattern is applied to the whole text; a match inside a string only costs time.
 */
const number = '-?(?:\\d{16}|\\d+\\.(?:0+(?!\\d)|\\d{15})|\\d+(?:\\.\\d+)?[eE]|NaN|Infinity)';
const special = new RegExp(`[[:,]\\s*${number}|^\\s*${number}|"\\d{1,10}"\\s*:`);

export function parseValue(text: string): Value {
  return special.test(text) ? loadJson(text) : parsePlain(text);
}

/** Parses a text whose value satisfied `isPlainJson` when it was written. */
export function parsePlain(text: string): Value {
  const value = JSON.parse(text) as Value;
  bare(value);
  return value;
}

/** Converts to objects without a prototype, as in the rest of the code. */
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

/** Parses a database column that holds a map; anything else gives an empty map. */
export function parseDict(text: unknown): Dict {
  const value = parseValue(String(text ?? '{}'));
  return isDict(value) ? value : newDict();
}

/** Whether `JSON.parse` of the JSON of this value gives an equal value. */
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
