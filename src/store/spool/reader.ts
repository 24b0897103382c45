// The reading end of a spool: returns records in order from the first undelivered one, and removes delivered ones.
import { closeSync, fstatSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs';
import { decodeRecord, headerBytes, listSegments, readPosition, type Segment, writePosition } from './segments.ts';

export interface SpoolEntry {
  readonly seq: number;
  readonly body: Uint8Array;
}

export interface ReadLimits {
  readonly records: number;
  readonly bytes: number;
  /** The number after the last record that is completely on disk. */
  readonly upTo: number;
}

interface Place {
  readonly segment: Segment;
  readonly handle: number;
  /** The offset of the record `seq`. */
  offset: number;
  seq: number;
}

const chunkBytes = 1024 * 1024;

export class SpoolReader {
  readonly #folder: string;
  #position: number;
  #place: Place | undefined;
  /** Number of records that could not be read because they are damaged. */
  damaged = 0;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#position = readPosition(folder);
  }

  /** The number of the first undelivered record. */
  get position(): number {
    return this.#position;
  }

  /** The next records, without removing them: the same are returned until `delivered` is called. */
  peek(limits: ReadLimits): SpoolEntry[] {
    const entries: SpoolEntry[] = [];
    let bytes = 0;
    let place = this.#seek(this.#position, limits.upTo);
    let [at, seq] = [place?.offset ?? 0, place?.seq ?? 0];
    while (place && seq < limits.upTo && entries.length < limits.records && bytes < limits.bytes) {
      const found = read(place.handle, at);
      for (const body of found.bodies) {
        if (seq >= limits.upTo || entries.length >= limits.records || bytes >= limits.bytes) return entries;
        entries.push({ seq, body });
        bytes += body.byteLength;
        at += headerBytes + body.byteLength;
        seq++;
      }
      if (found.more) continue;
      // One segment at a time: the next call continues with the following one.
      if (entries.length > 0) return entries;
      place = this.#skip(place, seq, limits.upTo);
      [at, seq] = [place?.offset ?? 0, place?.seq ?? 0];
    }
    return entries;
  }

  /** Everything before this number is delivered; fully delivered segments are removed. True when some were. */
  delivered(next: number): boolean {
    this.#position = Math.max(this.#position, next);
    const segments = listSegments(this.#folder);
    // The last segment is still being written.
    const done = segments.filter((_segment, at) => (segments[at + 1]?.first ?? Number.POSITIVE_INFINITY) <= next);
    // Frees space first: delivered records must not keep a full disk full.
    for (const { file } of done) rmSync(file, { force: true });
    this.#note();
    return done.length > 0;
  }

  /**
   * A failure here loses nothing: after a crash, records delivered since the last saved position are delivered again.
   */
  #note(): void {
    try {
      writePosition(this.#folder, this.#position);
    } catch {
      // The disk is full or missing; the next delivery tries again.
    }
  }

  close(): void {
    if (this.#place) closeSync(this.#place.handle);
    this.#place = undefined;
  }

  /** Opens the segment that contains a record and finds its offset. */
  #seek(seq: number, upTo: number): Place | undefined {
    if (seq >= upTo) return undefined;
    const segments = listSegments(this.#folder);
    const segment = segments.filter(({ first }) => first <= seq).at(-1) ?? segments[0];
    if (!segment) return undefined;
    if (this.#place?.segment.first !== segment.first) {
      this.close();
      this.#place = { segment, handle: openSync(segment.file, 'r'), offset: 0, seq: segment.first };
    }
    const place = this.#place;
    if (!place) return undefined;
    if (place.seq > seq) Object.assign(place, { offset: 0, seq: segment.first });
    while (place.seq < seq) {
      const found = read(place.handle, place.offset);
      for (const body of found.bodies) {
        if (place.seq >= seq) return place;
        place.offset += headerBytes + body.byteLength;
        place.seq++;
      }
      if (!found.more && place.seq < seq) return this.#skip(place, place.seq, upTo);
    }
    return place;
  }

  /** A segment ends before its last record: the rest is lost, the next segment begins with a known number. */
  #skip(place: Place, seq: number, upTo: number): Place | undefined {
    const following = listSegments(this.#folder).find(({ first }) => first > place.segment.first);
    const resume = following?.first ?? upTo;
    this.damaged += Math.max(0, resume - seq);
    if (resume > this.#position) {
      this.#position = resume;
      this.#note();
    }
    return this.#seek(resume, upTo);
  }
}

/** Whole records from an offset on, about a megabyte; `more` is false at the end of the file or at damage. */
function read(handle: number, offset: number): { bodies: Uint8Array[]; more: boolean } {
  const left = fstatSync(handle).size - offset;
  for (let size = Math.min(chunkBytes, left); size > 0; size = Math.min(size * 4, left)) {
    const bytes = Buffer.allocUnsafe(size);
    const got = bytes.subarray(0, readSync(handle, bytes, 0, size, offset));
    const bodies: Uint8Array[] = [];
    for (let at = 0; ; ) {
      const body = decodeRecord(got, at);
      if (typeof body !== 'string') {
        bodies.push(body);
        at += headerBytes + body.byteLength;
      } else if (body === 'damaged') return { bodies, more: false };
      else if (bodies.length > 0) return { bodies, more: offset + at < offset + left };
      else break;
    }
    if (size === left) return { bodies: [], more: false };
  }
  return { bodies: [], more: false };
}
