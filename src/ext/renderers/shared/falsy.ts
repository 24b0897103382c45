// Python's notion of an empty value.
import { isDict, PyFloat, type Value } from 'halite/sdk';

export function isFalsy(value: Value): boolean {
  if (value instanceof PyFloat) return value.value === 0;
  if (Array.isArray(value) || value instanceof Uint8Array) return value.length === 0;
  if (isDict(value)) return value instanceof Map ? value.size === 0 : Object.keys(value).length === 0;
  return !value;
}
