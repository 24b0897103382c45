// Msgpack writer: one growing buffer; uses the old raw family, as Salt does, unless `bin` is set.
import { HaliteError } from '../../errors/index.ts';
import { JsonText } from '../json/json-text.ts';
import { PyFloat, type Value } from '../value.ts';
import { formatDateTime } from './datetime.ts';
import { PackedValue } from './packed.ts';

export interface PackOptions {
  /** Bytes as `bin` and text with `str8`, as msgpack-python 1.x does. Never on the network: old peers cannot read it. */
  readonly bin?: boolean;
  /** How dates are encoded; `text` is for peers of 2015.5, which do not support extension types. */
  readonly dates?: 'ext' | 'text';
  /** Writes a JsonText as such, for a reader that asked for it; otherwise the value that it represents. */
  readonly jsonTexts?: boolean;
  /** Bytes left free before the value, for the header of a frame. */
  readonly room?: number;
}

/** The extension type of a JsonText: flags, the length of the outputter's name, the name, the text. */
export const jsonTextType = 74;

const maxDepth = 512;
const keepScratch = 1 << 16;
const high = 4294967296;

// One scratch buffer for all calls: packing is synchronous, so two calls never use it at the same time.
let out = Buffer.allocUnsafeSlow(keepScratch);
let at = 0;
let bin = false;
let datesAsText = false;
let jsonTexts = false;

/** The msgpack bytes of a value, in a buffer of its own. */
export function pack(value: Value, options: PackOptions = {}): Buffer {
  at = options.room ?? 0;
  jsonTexts = options.jsonTexts === true;
  bin = options.bin === true;
  datesAsText = options.dates === 'text';
  try {
    write(value, 0);
    const used = out.subarray(0, at);
    if (out.length <= keepScratch) return Buffer.from(used);
    return at > out.length >> 1 ? used : Buffer.from(used);
  } finally {
    // A large scratch buffer was returned to the caller (or would only hold memory): allocate a new one next time.
    if (out.length > keepScratch) out = Buffer.allocUnsafeSlow(keepScratch);
  }
}

function reserve(bytes: number): void {
  if (at + bytes <= out.length) return;
  const grown = Buffer.allocUnsafeSlow(Math.max(out.length * 2, at + bytes));
  out.copy(grown, 0, 0, at);
  out = grown;
}

function write(value: Value | undefined, depth: number): void {
  if (typeof value === 'string') writeText(value);
  else if (typeof value === 'number') writeNumber(value);
  else if (value === null || value === undefined) writeByte(0xc0);
  else if (typeof value === 'boolean') writeByte(value ? 0xc3 : 0xc2);
  else if (typeof value === 'bigint') writeBigInt(value);
  else if (typeof value === 'object') writeObject(value, depth);
  else throw new HaliteError('codec.malformed', `A ${typeof value} cannot be written as msgpack`);
}

function writeByte(byte: number): void {
  reserve(1);
  out[at++] = byte;
}

function writeObject(value: Exclude<Value, null | string | number | boolean | bigint>, depth: number): void {
  if (Array.isArray(value)) {
    checkDepth(depth);
    writeHeader(value.length, 0x90, 0xdc);
    for (let i = 0; i < value.length; i++) write(value[i], depth + 1);
  } else if (value instanceof PackedValue) writePacked(value);
  else if (value instanceof Uint8Array) writeBytes(value);
  else if (value instanceof PyFloat) writeFloat(value.value);
  else if (value instanceof Date) writeDate(value);
  else if (value instanceof Map) {
    checkDepth(depth);
    writeHeader(value.size, 0x80, 0xde);
    for (const [key, item] of value) {
      write(key, depth + 1);
      write(item, depth + 1);
    }
  } else if (value instanceof JsonText) writeJsonText(value, depth);
  else {
    checkDepth(depth);
    const keys = Object.keys(value);
    writeHeader(keys.length, 0x80, 0xde);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      writeText(key);
      write(value[key], depth + 1);
    }
  }
}

function writePacked(value: PackedValue): void {
  // Reserves some extra space for the following values, as below.
  reserve(1024 + value.length);
  out.set(value, at);
  at += value.length;
}

function writeJsonText(written: JsonText, depth: number): void {
  const name = Buffer.from(written.facts.outputter ?? '');
  if (!jsonTexts || name.length > 255) {
    write(written.value(), depth);
    return;
  }
  const length = 2 + name.length + written.length;
  // Reserves some extra space for the following values, so that a long text is not copied twice.
  reserve(1024 + length);
  out[at] = 0xc9;
  at = out.writeUInt32BE(length, at + 1);
  out[at++] = jsonTextType;
  out[at++] = written.facts.plain ? 1 : 0;
  out[at++] = name.length;
  for (const piece of [name, ...written.pieces]) {
    out.set(piece, at);
    at += piece.length;
  }
}

function checkDepth(depth: number): void {
  if (depth >= maxDepth) throw new HaliteError('codec.limit', `A value is nested deeper than ${maxDepth} levels`);
}

/** Array and map headers: short form, then 16 and 32 bit. */
function writeHeader(count: number, short: number, wide: number): void {
  reserve(5);
  if (count < 16) {
    out[at++] = short | count;
  } else if (count < 0x10000) {
    out[at] = wide;
    at = out.writeUInt16BE(count, at + 1);
  } else {
    out[at] = wide + 1;
    at = out.writeUInt32BE(count, at + 1);
  }
}

function writeTextHeader(length: number): void {
  reserve(5 + length);
  if (length < 32) {
    out[at++] = 0xa0 | length;
  } else if (length < 0x100 && bin) {
    out[at++] = 0xd9;
    out[at++] = length;
  } else if (length < 0x10000) {
    out[at] = 0xda;
    at = out.writeUInt16BE(length, at + 1);
  } else {
    out[at] = 0xdb;
    at = out.writeUInt32BE(length, at + 1);
  }
}

function writeText(text: string): void {
  const length = text.length;
  if (length < 32) {
    // Most texts are short ASCII: copying here is several times faster than a call into Node.
    reserve(length + 1);
    const start = at + 1;
    let i = 0;
    for (; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 127) break;
      out[start + i] = code;
    }
    if (i === length) {
      out[at] = 0xa0 | length;
      at = start + length;
      return;
    }
  }
  const bytes = Buffer.byteLength(text);
  writeTextHeader(bytes);
  at += out.write(text, at, bytes, 'utf8');
}

function writeBytes(bytes: Uint8Array): void {
  const length = bytes.length;
  if (!bin) {
    writeTextHeader(length);
  } else {
    reserve(5 + length);
    if (length < 0x100) {
      out[at++] = 0xc4;
      out[at++] = length;
    } else if (length < 0x10000) {
      out[at] = 0xc5;
      at = out.writeUInt16BE(length, at + 1);
    } else {
      out[at] = 0xc6;
      at = out.writeUInt32BE(length, at + 1);
    }
  }
  out.set(bytes, at);
  at += length;
}

function writeFloat(value: number): void {
  reserve(9);
  out[at] = 0xcb;
  at = out.writeDoubleBE(value, at + 1);
}

function writeNumber(value: number): void {
  reserve(9);
  if (!Number.isInteger(value)) {
    writeFloat(value);
  } else if (value >= 0) {
    if (value < 0x80) {
      out[at++] = value;
    } else if (value < 0x100) {
      out[at++] = 0xcc;
      out[at++] = value;
    } else if (value < 0x10000) {
      out[at] = 0xcd;
      at = out.writeUInt16BE(value, at + 1);
    } else if (value < high) {
      out[at] = 0xce;
      at = out.writeUInt32BE(value, at + 1);
    } else if (value <= Number.MAX_SAFE_INTEGER) {
      out[at] = 0xcf;
      at = out.writeUInt32BE(Math.floor(value / high), at + 1);
      at = out.writeUInt32BE(value % high, at);
    } else {
      writeHuge(value);
    }
  } else if (value >= -32) {
    out[at++] = value & 0xff;
  } else if (value >= -0x80) {
    out[at] = 0xd0;
    at = out.writeInt8(value, at + 1);
  } else if (value >= -0x8000) {
    out[at] = 0xd1;
    at = out.writeInt16BE(value, at + 1);
  } else if (value >= -0x80000000) {
    out[at] = 0xd2;
    at = out.writeInt32BE(value, at + 1);
  } else {
    writeHuge(value);
  }
}

/** Whole numbers outside the safe range: exact as integers while 64 bit hold them, floats beyond. */
function writeHuge(value: number): void {
  if (value >= 2 ** 64 || value < -(2 ** 63)) writeFloat(value);
  else writeBigInt(BigInt(value));
}

function writeBigInt(value: bigint): void {
  if (value >= -0x80000000n && value <= 9007199254740991n) {
    writeNumber(Number(value));
  } else if (value >= 1n << 64n || value < -(1n << 63n)) {
    // As in Salt: numbers that do not fit 64 bits are sent as decimal text.
    writeText(value.toString());
  } else {
    reserve(9);
    out[at] = value < 0n ? 0xd3 : 0xcf;
    at = value < 0n ? out.writeBigInt64BE(value, at + 1) : out.writeBigUInt64BE(value, at + 1);
  }
}

function writeDate(date: Date): void {
  const year = date.getUTCFullYear();
  if (Number.isNaN(year)) writeByte(0xc0);
  else if (datesAsText || year < 0 || year > 9999) writeText(date.toISOString());
  else {
    reserve(27);
    out[at++] = 0xc7;
    out[at++] = 24;
    out[at++] = 78;
    at += out.write(formatDateTime(date), at, 24, 'latin1');
  }
}
