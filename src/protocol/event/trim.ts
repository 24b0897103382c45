// Keeps events below `max_event_size`: the largest values go first and leave a mark, as in Salt.
import { type Dict, isDict, newDict, type Value } from '../../base/codec/value.ts';

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
 * then above 40 %, and so on until it fits. Sizes are counted up to the limit only, and the copy is made once, of
 * what fits: much larger data costs no more.
 */
export function trimToSize(data: Dict, maxBytes: number): Dict {
  if (roughSize(data, maxBytes) <= maxBytes) return data;
  for (let percent = 50; percent >= 0; percent -= 10) {
    const largest = (maxBytes * percent) / 100;
    if (trimmedSize(data, largest, maxBytes, 0) <= maxBytes) return withoutLarge(data, largest, 0);
  }
  // Too many small values: those that come first stay.
  const left = { bytes: maxBytes - 2 * markSize };
  return firstValues(data, left, 0);
}

const markSize = mark.length + 3;
/** Maps are entered, all other values measured whole; below a sane depth everything is measured. */
const isEntered = (value: Value, depth: number): value is Dict => isDict(value) && depth < 64;
const isTooLarge = (value: Value, largest: number): boolean => value !== mark && roughSize(value, largest) > largest;

/** What `withoutLarge` would leave; stops counting once past `limit`. */
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

/** Marks what is too large for the room left, and ends with a mark where there is no more room at all. */
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

/** One after the other: a list of all entries may be longer than what is wanted of them. */
function* entriesOf(data: Dict): Iterable<[Value, Value]> {
  if (data instanceof Map) yield* data;
  else for (const key in data) yield [key, data[key] as Value];
}
