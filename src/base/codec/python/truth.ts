// Truth values of Python and Salt.
import { asNumber, dictSize, isDict, PyFloat, type Value } from '../value.ts';

/** Python's bool(value): False for None, zero and everything empty. */
export function isTruthy(value: Value | undefined): boolean {
  if (value instanceof PyFloat) return value.value !== 0;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length > 0;
  return isDict(value) ? dictSize(value) > 0 : Boolean(value) || Number.isNaN(value);
}

/**
 * Salt's reading of a yes/no option: the word `true`, numbers above zero, and every other value that is true in Python,
 * except text.
 */
export function isTrue(value: Value | undefined): boolean {
  if (typeof value === 'string') {
    if (value.toLowerCase() === 'true') return true;
    return /^\s*[-+]?\d+(?:\.\d+)?\s*$/.test(value) && Number(value) > 0;
  }
  const number = asNumber(value);
  return number === undefined ? isTruthy(value) : number > 0;
}
