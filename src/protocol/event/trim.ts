// Keeps events below `max_event_size`: the largest values go first and leave a mark, as in Salt.
import { type Dict, dictEntries, isDict, newDict, type Value } from '../../base/codec/value.ts';

const mark = 'VALUE_TRIMMED';

/** About the packed size in bytes; stops counting once past `limit`. */
export function roughSize(value: Value, limit = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length + 3;
  if (value === null || typeof value !== 'object') return 9;
  if (value instanceof Uint8Array) return value.length + 5;
  let size = 5;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && size <= limit; i++) size += roughSize(value[i] as Value, limit - size);
    return size;
  }
  if (!isDict(value)) return 27;
  if (value instanceof Map) {
    for (const [key, item] of value) {
      size += roughSize(key, limit - size) + roughSize(item, limit - size);
      if (size > limit) break;
    }
    return size;
  }
  for (const key in value) {
    size += key.length + 3 + roughSize(value[key] as Value, limit - size);
    if (size > limit) break;
  }
  return size;
}

/**
 * The data itself when it is small enough, else a copy in which values were replaced: those above half of the limit,
 * then above 40 %, and so on until it fits.
 */
export function trimToSize(data: Dict, maxBytes: number): Dict {
  if (roughSize(data, maxBytes) <= maxBytes) return data;
  let trimmed = data;
  for (let percent = 50; percent >= 0; percent -= 10) {
    trimmed = withoutLarge(trimmed, (maxBytes * percent) / 100, 0);
    if (roughSize(trimmed, maxBytes) <= maxBytes) break;
  }
  return trimmed;
}

/** Maps are entered, all other values measured whole; below a sane depth everything is measured. */
function withoutLarge(data: Dict, largest: number, depth: number): Dict {
  const entries = dictEntries(data).map(([key, value]): [Value, Value] => {
    if (isDict(value) && depth < 64) return [key, withoutLarge(value, largest, depth + 1)];
    return [key, value !== mark && roughSize(value, largest) > largest ? mark : value];
  });
  return data instanceof Map ? new Map(entries) : newDict(entries as [string, Value][]);
}
