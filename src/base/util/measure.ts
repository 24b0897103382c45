// Estimates the size of untrusted data within bounds.
import { isDict, type Value } from '../codec/value.ts';

export interface Bounds {
  readonly bytes: number;
  readonly depth: number;
}

/** The size of one value in addition to its content. */
const overhead = 8;

/**
 * The approximate size of a value in bytes. Undefined for a value that is larger or deeper than allowed, or has a list
 * or a map as key, which no Python dict can have.
 */
export function measure(value: Value, bounds: Bounds): number | undefined {
  const left = leftAfter(value, bounds.bytes, bounds.depth);
  return left < 0 ? undefined : bounds.bytes - left;
}

function leftAfter(value: Value, bytes: number, depth: number): number {
  let left = bytes - overhead;
  if (typeof value === 'string') return left - value.length;
  if (value === null || typeof value !== 'object') return left;
  if (value instanceof Uint8Array) return left - value.length;
  const isMap = isDict(value);
  if (!isMap && !Array.isArray(value)) return left;
  if (depth <= 0) return -1;
  if (!isMap) {
    for (let at = 0; at < value.length && left >= 0; at++) left = leftAfter(value[at] as Value, left, depth - 1);
    return left;
  }
  for (const [key, item] of value instanceof Map ? value : Object.entries(value)) {
    if (key !== null && typeof key === 'object' && (Array.isArray(key) || isDict(key))) return -1;
    left = leftAfter(item, leftAfter(key, left, 1), depth - 1);
    if (left < 0) return left;
  }
  return left;
}
