// Keeps events below `max_event_size`: the largest values are replaced by a mark first, as in Salt.
import { type Dict, isDict, newDict, type Value } from '../../base/codec/value.ts';

const mark = 'VALUE_TRIMMED';

/** The approximate packed size in bytes; stops counting after `limit`. */
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
 * The data itself when it is small enough, else a copy in which values are replaced: those above half of the limit,
 * then above 40 %, and so on until it fits. Sizes are counted only up to the limit, and only the part that fits is
 * copied:
 * much larger data costs no more.
 */
export function trimToSize(data: Dict, maxBytes: number): Dict {
  if (roughSize(data, maxBytes) <= maxBytes) return data;
  for (let percent = 50; percent >= 0; percent -= 10) {
    const largest = (maxBytes * percent) / 100;
    if (trimmedSize(data, largest, maxBytes, 0) <= maxBytes) return withoutLarge(data, largest, 0);
  }
  // Too many small values: the first ones stay.
  const left = { bytes: maxBytes - 2 * markSize };
  return firstValues(data, left, 0);
}

const markSize = mark.length + 3;
/**
 * Maps are traversed, all other values are measured as a whole; below a certain depth everything is measured as a
 * whole.
 */
const isEntered = (value: Value, depth: number): value is Dict => isDict(value) && depth < 64;
const isTooLarge = (value: Value, largest: number): boolean => value !== mark && roughSize(value, largest) > largest;

/** The size after `withoutLarge`; stops counting after `limit`. */
function trimmedSize(data: Dict, largest: number, limit: number, depth: number): number {
  let size = 5;
  for (const [key, value] of entriesOf(data)) {
    size += roughSize(key, limit - size);
    if (isEntered(value, depth)) size += trimmedSize(value, largest, limit - size, depth + 1);
    else size += isTooLarge(value, largest) ? markSize : roughSize(value, limit - size);
    if (size > limit) break;
  }
  return size;
}

function withoutLarge(data: Dict, largest: number, depth: number): Dict {
  const trimmed = dictLike(data);
  for (const [key, value] of entriesOf(data)) {
    if (isEntered(value, depth)) put(trimmed, key, withoutLarge(value, largest, depth + 1));
    else put(trimmed, key, isTooLarge(value, largest) ? mark : value);
  }
  return trimmed;
}

/** Replaces values that exceed the remaining space by a mark, and ends with a mark when no space remains. */
function firstValues(data: Dict, left: { bytes: number }, depth: number): Dict {
  const first = dictLike(data);
  left.bytes -= 5;
  for (const [key, value] of entriesOf(data)) {
    left.bytes -= roughSize(key, Math.max(0, left.bytes));
    if (left.bytes < markSize) {
      put(first, mark, mark);
      break;
    }
    if (isEntered(value, depth)) {
      put(first, key, firstValues(value, left, depth + 1));
      continue;
    }
    const size = roughSize(value, left.bytes);
    const fits = size <= left.bytes;
    put(first, key, fits ? value : mark);
    left.bytes -= fits ? size : markSize;
  }
  return first;
}

const dictLike = (data: Dict): Dict => (data instanceof Map ? new Map() : newDict());

function put(dict: Dict, key: Value, value: Value): void {
  if (dict instanceof Map) dict.set(key, value);
  else if (typeof key === 'string') dict[key] = value;
}

/** Iterates, because a list of all entries may be longer than the part that is needed. */
function* entriesOf(data: Dict): Iterable<[Value, Value]> {
  if (data instanceof Map) yield* data;
  else for (const key in data) yield [key, data[key] as Value];
}
