// Reads and writes ZIP files without other programs.

import { kMaxLength } from 'node:buffer';
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { commandError, messageOf } from 'halite/sdk';
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'halite/sdk/fs';

export interface ZipEntry {
  readonly name: string;
  /** Unix mode; 0 when the archive was made elsewhere. */
  readonly mode: number;
  readonly encrypted: boolean;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
  /** Time field of the header, which is used to check passwords. */
  readonly time: number;
  readonly flags: number;
}

const table = Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});
const crcStep = (crc: number, byte: number): number => ((crc >>> 8) ^ (table[(crc ^ byte) & 0xff] as number)) >>> 0;

/** The old, weak cipher of ZIP files, which password-protected archives use. */
function decrypt(data: Buffer, password: string, check: number): Buffer {
  let [a, b, c] = [0x12345678, 0x23456789, 0x34567890];
  const mix = (byte: number): void => {
    a = crcStep(a, byte);
    b = (Math.imul((b + (a & 0xff)) >>> 0, 134775813) + 1) >>> 0;
    c = crcStep(c, b >>> 24);
  };
  for (const byte of Buffer.from(password)) mix(byte);
  const out = Buffer.alloc(data.length);
  for (let at = 0; at < data.length; at++) {
    const key = (c | 2) & 0xffff;
    out[at] = (data[at] as number) ^ ((Math.imul(key, key ^ 1) >>> 8) & 0xff);
    mix(out[at] as number);
  }
  if (out[11] !== check) throw commandError('Bad password for file');
  return out.subarray(12);
}

function bytesAt(file: number, offset: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  const got = readSync(file, buffer, 0, length, offset);
  return buffer.subarray(0, got);
}

/** Limited to the size that the archive declares. */
function inflated(data: Buffer, { name, size }: ZipEntry): Buffer {
  try {
    return inflateRawSync(data, { maxOutputLength: Math.min(Math.max(size, 1), kMaxLength) });
  } catch (error) {
    throw commandError(`The content of '${name}' is damaged: ${messageOf(error)}`);
  }
}

const maxComment = 65_557;

function directoryOf(file: number, size: number): { offset: number; count: number } {
  const tail = bytesAt(file, Math.max(0, size - maxComment), Math.min(size, maxComment));
  const at = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (at < 0 || at + 22 > tail.length) throw commandError('File is not a zip file');
  const [count, offset] = [tail.readUInt16LE(at + 10), tail.readUInt32LE(at + 16)];
  const large = tail.lastIndexOf(Buffer.from('PK\x06\x06', 'latin1'), at);
  if (offset !== 0xffffffff || large < 0) return { offset, count };
  return { offset: Number(tail.readBigUInt64LE(large + 48)), count: Number(tail.readBigUInt64LE(large + 32)) };
}

/** 64-bit sizes are in an extra field, in this order, for fields with the maximum value. */
function large(extra: Buffer, values: number[]): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    let place = at + 4;
    return values.map((value) => {
      if (value !== 0xffffffff) return value;
      place += 8;
      return Number(extra.readBigUInt64LE(place - 8));
    });
  }
  return values;
}

/** An open ZIP file. */
export class ZipFile {
  readonly #file: number;
  readonly entries: readonly ZipEntry[];

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    try {
      this.entries = this.#read();
    } catch (error) {
      this.close();
      throw error instanceof RangeError ? commandError('File is not a zip file') : error;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  #read(): ZipEntry[] {
    const size = fstatSync(this.#file).size;
    const { offset, count } = directoryOf(this.#file, size);
    const all = bytesAt(this.#file, offset, size - offset);
    const found: ZipEntry[] = [];
    for (let at = 0; found.length < count && all.readUInt32LE(at) === 0x02014b50; ) {
      const [nameLength, extraLength, commentLength] = [
        all.readUInt16LE(at + 28),
        all.readUInt16LE(at + 30),
        all.readUInt16LE(at + 32),
      ];
      const flags = all.readUInt16LE(at + 8);
      const rawName = all.subarray(at + 46, at + 46 + nameLength);
      const extra = all.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength);
      const sizes = large(extra, [all.readUInt32LE(at + 24), all.readUInt32LE(at + 20), all.readUInt32LE(at + 42)]);
      found.push({
        name: rawName.toString(flags & 0x800 ? 'utf8' : 'latin1'),
        mode: all.readUInt32LE(at + 38) >>> 16,
        encrypted: (flags & 1) !== 0,
        method: all.readUInt16LE(at + 10),
        crc: all.readUInt32LE(at + 16),
        size: sizes[0] as number,
        packed: sizes[1] as number,
        offset: sizes[2] as number,
        time: all.readUInt16LE(at + 12),
        flags,
      });
      at += 46 + nameLength + extraLength + commentLength;
    }
    // Entries that share their bytes would let a small file expand without limit.
    if (found.reduce((sum, { packed }) => sum + packed, 0) > size) throw commandError('Overlapped entries');
    return found;
  }

  /** The content of an entry, checked. */
  content(entry: ZipEntry, password?: string): Buffer {
    const head = bytesAt(this.#file, entry.offset, 30);
    if (head.length < 30 || head.readUInt32LE(0) !== 0x04034b50)
      throw commandError(`Bad magic number for file header: ${entry.name}`);
    const start = entry.offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28);
    if (entry.packed > fstatSync(this.#file).size - start) throw commandError(`Truncated file: ${entry.name}`);
    let data = bytesAt(this.#file, start, entry.packed);
    if (entry.encrypted) {
      if (password === undefined)
        throw commandError(`File '${entry.name}' is encrypted, password required for extraction`);
      data = decrypt(data, password, entry.flags & 8 ? entry.time >>> 8 : entry.crc >>> 24);
    }
    if (entry.method !== 0 && entry.method !== 8) throw commandError('That compression method is not supported');
    const made = entry.method === 8 ? inflated(data, entry) : data;
    if (crc32(made) !== entry.crc) throw commandError(`Bad CRC-32 for file '${entry.name}'`);
    return made;
  }
}

export interface NewEntry {
  readonly name: string;
  readonly mode: number;
  readonly content: Buffer;
}

function header(signature: number, entry: NewEntry, packed: Buffer, rest: Buffer): Buffer {
  const name = Buffer.from(entry.name);
  const fixed = Buffer.alloc(signature === 0x04034b50 ? 30 : 46);
  fixed.writeUInt32LE(signature, 0);
  const base = signature === 0x04034b50 ? 4 : 6;
  if (base === 6) fixed.writeUInt16LE(0x0314, 4);
  fixed.writeUInt16LE(20, base);
  fixed.writeUInt16LE(0x800, base + 2);
  fixed.writeUInt16LE(packed === entry.content ? 0 : 8, base + 4);
  fixed.writeUInt32LE(0x00210000, base + 6);
  fixed.writeUInt32LE(crc32(entry.content), base + 10);
  fixed.writeUInt32LE(packed.length, base + 14);
  fixed.writeUInt32LE(entry.content.length, base + 18);
  fixed.writeUInt16LE(name.length, base + 22);
  return Buffer.concat([fixed, name, rest]);
}

/** Writes an archive, one entry after the other. */
export function writeZip(path: string, entries: Iterable<NewEntry>): void {
  const file = openSync(path, 'w');
  const directory: Buffer[] = [];
  let offset = 0;
  try {
    for (const entry of entries) {
      const squeezed = deflateRawSync(entry.content);
      const packed = squeezed.length < entry.content.length ? squeezed : entry.content;
      const local = header(0x04034b50, entry, packed, packed);
      writeSync(file, local);
      const central = header(0x02014b50, entry, packed, Buffer.alloc(0));
      central.writeUInt32LE((entry.mode << 16) >>> 0, 38);
      central.writeUInt32LE(offset, 42);
      directory.push(central);
      offset += local.length;
    }
    const all = Buffer.concat(directory);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(directory.length, 8);
    end.writeUInt16LE(directory.length, 10);
    end.writeUInt32LE(all.length, 12);
    end.writeUInt32LE(offset, 16);
    writeSync(file, Buffer.concat([all, end]));
  } finally {
    closeSync(file);
  }
}
