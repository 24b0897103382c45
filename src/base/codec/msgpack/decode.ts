// Msgpack reader: accepts raw, str and bin families; bytes that are valid UTF-8 become text, as in Salt.
import { isUtf8 } from 'node:buffer';
import { HaliteError } from '../../errors/index.ts';
import { JsonText } from '../json/json-text.ts';
import { type Dict, isReorderedKey, newDict, PyFloat, type Value } from '../value.ts';
import { Budget, cost, malformed, tooMuch } from './budget.ts';
import { parseDateTime } from './datetime.ts';
import { jsonTextType } from './encode.ts';
import { textWidth } from './head.ts';
import { endOf, PackedValue } from './packed.ts';
import { type TextCache, textCache } from './text-cache.ts';

export interface UnpackOptions {
  /** All strings stay bytes; only map keys become text, when they are valid UTF-8. */
  readonly raw?: boolean;
  /** Whole floats become PyFloat (default); false turns them into plain numbers. */
  readonly keepFloats?: boolean;
  readonly maxDepth?: number;
  readonly maxBytes?: number;
  /** Maximum number of array items and map entries in all containers together. */
  readonly maxItems?: number;
  /** Maximum estimated heap of all values together (see budget.ts); default: only the number of items is bounded. */
  readonly maxCost?: number;
  /** Leaves one long field of the outermost map packed; that field has its own limits. */
  readonly packed?: { readonly field: string; readonly from: number; readonly maxCost: number };
  /** Keeps a JsonText as such: only for trusted peers and for readers that handle it. */
  readonly jsonTexts?: boolean;
}

const defaultLimits = { maxDepth: 256, maxBytes: 100 * 1024 * 1024, maxItems: 8_000_000 } as const;

// Short byte strings are copied so that a small signature does not keep a large frame alive.
const copyBelow = 4096;
// Longer byte strings are validated before they are decoded: tokens and other bytes are no text, and decoding them as
// one takes far longer than the check.
const checkFrom = 128;
const highWord = 4294967296;
const keyCache = textCache(2048);
const valueCache = textCache(1024);

/** Decodes exactly one value. Long byte strings in it are views into the buffer: do not reuse the buffer. */
export function unpack(bytes: Uint8Array, options: UnpackOptions = {}): Value {
  const maxBytes = options.maxBytes ?? defaultLimits.maxBytes;
  if (bytes.length > maxBytes) throw tooMuch(`is larger than ${maxBytes} bytes`);
  const reader = new Reader(bytes, options);
  const value = options.packed ? reader.readOutermost(options.packed) : reader.read(0);
  if (reader.at !== bytes.length) throw malformed('bytes follow the value', reader.at);
  return value;
}

/** The value itself; a value that was left packed is decoded. */
export function unpacked(value: Value): Value {
  return value instanceof PackedValue ? unpack(value) : value;
}

/** Reads values one after the other from a buffer. */
export class Reader {
  at = 0;
  readonly #buf: Buffer;
  readonly #raw: boolean;
  readonly #keepFloats: boolean;
  readonly #maxDepth: number;
  readonly #jsonTexts: boolean;
  readonly #maxItems: number;
  readonly #budget: Budget;

  constructor(bytes: Uint8Array, options: UnpackOptions, budget?: Budget) {
    this.#buf = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#raw = options.raw === true;
    this.#keepFloats = options.keepFloats !== false;
    this.#maxDepth = options.maxDepth ?? defaultLimits.maxDepth;
    this.#maxItems = options.maxItems ?? defaultLimits.maxItems;
    this.#budget = budget ?? new Budget(this.#maxItems, options.maxCost ?? Number.POSITIVE_INFINITY);
    this.#jsonTexts = options.jsonTexts === true;
  }

  /** The outermost value; when it is a map, one field of it may stay packed. */
  readOutermost(packed: NonNullable<UnpackOptions['packed']>): Value {
    const code = this.#buf[this.at] as number;
    const wide = code === 0xde ? 2 : code === 0xdf ? 4 : 0;
    if (!wide && !(code >= 0x80 && code < 0x90)) return this.read(0);
    this.at++;
    return this.#map(wide ? this.#uint(wide) : code & 15, 0, packed);
  }

  #packedOrRead({ from, maxCost }: NonNullable<UnpackOptions['packed']>): Value {
    const start = this.at;
    // The remaining bytes are fewer than the length for which the field would stay packed.
    if (this.#buf.length - start < from) return this.read(1);
    const end = endOf(this.#buf, start, { maxDepth: this.#maxDepth - 1, maxItems: this.#maxItems, maxCost });
    if (end - start < from) return this.read(1);
    this.at = end;
    return new PackedValue(this.#buf.buffer, this.#buf.byteOffset + start, end - start);
  }

  read(depth: number): Value {
    const buf = this.#buf;
    if (this.at >= buf.length) throw malformed('the data ends early', this.at);
    const code = buf[this.at++] as number;
    if (code < 0x80) return code;
    if (code >= 0xe0) return code - 256;
    if (code >= 0xa0 && code < 0xc0) return this.#text(code & 31, valueCache);
    if (code < 0x90) return this.#map(code & 15, depth);
    if (code < 0xa0) return this.#array(code & 15, depth);
    return this.#wide(code, depth);
  }

  #wide(code: number, depth: number): Value {
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extension(this.#uint(1 << (code - 0xc7)), depth);
      case 0xca:
        this.#need(4);
        this.at += 4;
        return this.#float(this.#buf.readFloatBE(this.at - 4));
      case 0xcb:
        this.#need(8);
        this.at += 8;
        return this.#float(this.#buf.readDoubleBE(this.at - 8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#uint(1 << (code - 0xcc));
      case 0xcf:
        return this.#uint64();
      case 0xd0:
      case 0xd1:
      case 0xd2:
        return this.#int(1 << (code - 0xd0));
      case 0xd3:
        return this.#int64();
      case 0xdc:
      case 0xdd:
        return this.#array(this.#uint(code === 0xdc ? 2 : 4), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#uint(code === 0xde ? 2 : 4), depth);
      default: {
        if (code >= 0xd4 && code <= 0xd8) return this.#extension(1 << (code - 0xd4), depth);
        const width = textWidth(code);
        if (width === 0) throw malformed(`no such type 0x${code.toString(16)}`, this.at - 1);
        return this.#text(this.#uint(width), valueCache);
      }
    }
  }

  #need(bytes: number): void {
    if (this.at + bytes > this.#buf.length) throw malformed('the data ends early', this.at);
  }

  #uint(width: number): number {
    this.#need(width);
    const at = this.at;
    this.at += width;
    if (width === 1) return this.#buf[at] as number;
    return width === 2 ? this.#buf.readUInt16BE(at) : this.#buf.readUInt32BE(at);
  }

  #int(width: number): number {
    this.#need(width);
    const at = this.at;
    this.at += width;
    if (width === 1) return this.#buf.readInt8(at);
    return width === 2 ? this.#buf.readInt16BE(at) : this.#buf.readInt32BE(at);
  }

  #uint64(): number | bigint {
    const high = this.#uint(4);
    const low = this.#uint(4);
    return high < 0x200000 ? high * highWord + low : this.#buf.readBigUInt64BE(this.at - 8);
  }

  #int64(): number | bigint {
    this.#need(8);
    const value = this.#buf.readBigInt64BE(this.at);
    this.at += 8;
    return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
  }

  #float(value: number): Value {
    this.#budget.charge(cost.boxed);
    return this.#keepFloats && Number.isInteger(value) ? new PyFloat(value) : value;
  }

  #bytes(length: number): Buffer {
    this.#need(length);
    this.#budget.charge(cost.bytes + length);
    const view = this.#buf.subarray(this.at, this.at + length);
    this.at += length;
    return length < copyBelow ? Buffer.from(view) : view;
  }

  #text(length: number, cache: TextCache): Value {
    if (this.#raw && cache === valueCache) return this.#bytes(length);
    this.#need(length);
    const start = this.at;
    const end = start + length;
    const cached = length < 32 ? cache(this.#buf, start, end) : undefined;
    if (cached !== undefined) {
      this.at = end;
      return cached;
    }
    if (length >= checkFrom && !isUtf8(this.#buf.subarray(start, end))) return this.#bytes(length);
    this.#budget.charge(cost.text + length);
    const text = this.#buf.toString('utf8', start, end);
    // A replacement character is either in the text or the sign of invalid UTF-8. Only then is the exact check worth
    // its cost.
    if (text.includes('\ufffd') && !isUtf8(this.#buf.subarray(start, end))) return this.#bytes(length);
    this.at = end;
    return text;
  }

  #key(depth: number): Value {
    const code = this.at < this.#buf.length ? (this.#buf[this.at] as number) : 0;
    if (code >= 0xa0 && code < 0xc0) {
      this.at++;
      return this.#text(code & 31, keyCache);
    }
    const width = textWidth(code);
    if (width === 0) return this.read(depth);
    this.at++;
    return this.#text(this.#uint(width), keyCache);
  }

  #open(count: number, minimum: number, heap: number, depth: number): void {
    if (depth >= this.#maxDepth) throw tooMuch(`is nested deeper than ${this.#maxDepth}`);
    // Never allocates for more items than the remaining bytes can hold.
    if (count * minimum > this.#buf.length - this.at) throw malformed('the data ends early', this.at);
    this.#budget.container(count, heap);
  }

  #array(count: number, depth: number): Value[] {
    this.#open(count, 1, cost.array + count * cost.item, depth);
    const items: Value[] = new Array(count);
    for (let i = 0; i < count; i++) items[i] = this.read(depth + 1);
    return items;
  }

  #map(count: number, depth: number, packed?: UnpackOptions['packed']): Dict {
    this.#open(count, 2, cost.map + count * cost.entry, depth);
    const dict = newDict();
    for (let i = 0; i < count; i++) {
      const key = this.#key(depth + 1);
      if (typeof key !== 'string' || isReorderedKey(key)) return this.#mapRest(dict, key, count - i, depth);
      dict[key] = packed?.field === key ? this.#packedOrRead(packed) : this.read(depth + 1);
    }
    return dict;
  }

  /** Reads the rest of a map that needs a Map (not an object), starting with the value of `key`. */
  #mapRest(start: { [key: string]: Value }, key: Value, left: number, depth: number): Map<Value, Value> {
    const map = new Map<Value, Value>(Object.entries(start));
    map.set(key, this.read(depth + 1));
    for (let i = 1; i < left; i++) {
      const next = this.#key(depth + 1);
      map.set(next, this.read(depth + 1));
    }
    return map;
  }

  #extension(length: number, depth: number): Value {
    this.#need(length + 1);
    const type = this.#buf.readInt8(this.at++);
    const start = this.at;
    if (type === 78) {
      this.at += length;
      const text = this.#buf.toString('latin1', start, this.at);
      return parseDateTime(text) ?? text;
    }
    if (type === 79) return this.#constant(start, start + length, depth);
    if (type === jsonTextType && this.#jsonTexts && length >= 2) return this.#jsonText(start, start + length);
    return this.#text(length, valueCache);
  }

  #jsonText(start: number, end: number): Value {
    this.at = end;
    const data = start + 2 + (this.#buf[start + 1] as number);
    if (data > end) throw malformed('the data ends early', start);
    const outputter = this.#buf.toString('utf8', start + 2, data);
    const facts = { plain: this.#buf[start] === 1, ...(outputter ? { outputter } : {}) };
    // Not one of the values that a message may contain: readers that enabled it expect it only in certain fields.
    return new JsonText([this.#buf.subarray(data, end)], facts) as unknown as Value;
  }

  /** Salt's internal constants, `[name, value]`: only the value is meaningful outside Python. */
  #constant(start: number, end: number, depth: number): Value {
    try {
      const raw = this.#raw;
      const maxDepth = this.#maxDepth;
      const keepFloats = this.#keepFloats;
      const inner = new Reader(this.#buf.subarray(start, end), { raw, maxDepth, keepFloats }, this.#budget);
      const pair = inner.read(depth + 1);
      return Array.isArray(pair) && pair.length === 2 ? (pair[1] as Value) : null;
    } catch (thrown) {
      if (thrown instanceof HaliteError && thrown.code === 'codec.limit') throw thrown;
      return null;
    } finally {
      this.at = end;
    }
  }
}
