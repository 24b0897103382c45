// The format of a spool on disk: numbered segment files of checksummed records, and the delivery position.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { replaceFileNow } from '../../base/util/replace-file.ts';

/** Header of each body: its length and its CRC-32, both 32 bits, little-endian. */
export const headerBytes = 8;
/** A longer body means damage: no record is larger than the largest message. */
const longestBody = 256 * 1024 * 1024;

export interface Segment {
  /** The number of its first record. */
  readonly first: number;
  readonly file: string;
}

const segmentName = /^(\d{16})\.log$/;

export const segmentFile = (folder: string, first: number): string =>
  join(folder, `${String(first).padStart(16, '0')}.log`);

/** Oldest first. */
export function listSegments(folder: string): Segment[] {
  return readdirSync(folder)
    .filter((name) => segmentName.test(name))
    .sort()
    .map((name) => ({ first: Number(name.slice(0, 16)), file: join(folder, name) }));
}

export function spoolBytes(folder: string): number {
  return listSegments(folder).reduce(
    (sum, { file }) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

export function encodeRecord(body: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(headerBytes + body.byteLength);
  record.writeUInt32LE(body.byteLength, 0);
  record.writeUInt32LE(crc32(body), 4);
  record.set(body, headerBytes);
  return record;
}

/** The body at an offset; 'short' when the bytes end before it does, 'damaged' when the checksum does not match. */
export function decodeRecord(bytes: Uint8Array, at: number): Uint8Array | 'short' | 'damaged' {
  if (bytes.byteLength - at < headerBytes) return 'short';
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(at, true);
  if (length === 0 || length > longestBody) return 'damaged';
  if (bytes.byteLength - at - headerBytes < length) return 'short';
  const body = bytes.subarray(at + headerBytes, at + headerBytes + length);
  return crc32(body) === view.getUint32(at + 4, true) ? body : 'damaged';
}

export interface SegmentScan {
  readonly records: number;
  /** The end of the last whole record. */
  readonly end: number;
  /** What follows it: truncated by a crash, or damaged. */
  readonly rest: Uint8Array;
  readonly damaged: boolean;
}

/** The number of whole records in a segment, and what else it contains. */
export function scanSegment(file: string): SegmentScan {
  const bytes = readFileSync(file);
  let [records, end] = [0, 0];
  for (;;) {
    const body = decodeRecord(bytes, end);
    if (typeof body === 'string') return { records, end, rest: bytes.subarray(end), damaged: body === 'damaged' };
    records++;
    end += headerBytes + body.byteLength;
  }
}

const positionFile = (folder: string): string => join(folder, 'delivered');

/** The number of the first undelivered record. */
export function readPosition(folder: string): number {
  try {
    const text = readFileSync(positionFile(folder), 'utf8').trim();
    return /^\d+$/.test(text) ? Number(text) : 0;
  } catch {
    return 0;
  }
}

export function writePosition(folder: string, next: number): void {
  const file = positionFile(folder);
  try {
    replaceFileNow(file, `${next}\n`);
  } catch {
    // On a full disk no new file can be created, but an existing one can be overwritten. The number only grows.
    writeFileSync(file, `${next}\n`, { flag: 'r+' });
  }
}
