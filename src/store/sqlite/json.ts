// JSON in columns.
import { dumpJson } from '../../base/codec/json/index.ts';
import { PackedValue } from '../../base/codec/msgpack/index.ts';
import { type Dict, isDict, type Value } from '../../base/codec/value.ts';

/** JSON for a column; types that JSON lacks (bytes, dates) become text, as in Salt's own returners. */
export const json = (value: Value): string => dumpJson(value, { ensureAscii: false });

/** Long results are encoded in the writing thread. */
const mostCost = 8192;

/** The JSON of a result, when making it takes the calling thread no longer than passing its values on would. */
export const shortJson = (load: Dict): string | undefined => (costOf(load, mostCost) >= 0 ? json(load) : undefined);

/** What is left of a budget of characters and values; negative when it does not suffice. */
function costOf(value: Value, budget: number): number {
  if (typeof value === 'string') return budget - value.length;
  if (value === null || typeof value !== 'object') return budget - 8;
  if (value instanceof PackedValue || value instanceof Uint8Array) return -1;
  let left = budget - 16;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = costOf(value[at] as Value, left);
    return left;
  }
  if (!isDict(value)) return left;
  if (value instanceof Map) return -1;
  for (const key in value) {
    left = costOf(value[key] as Value, left - key.length);
    if (left < 0) break;
  }
  return left;
}
