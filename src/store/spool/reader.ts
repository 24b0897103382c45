// The reading end of a spool: gives records in order from the first that was not delivered, and removes what was.
import { closeSync, fstatSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs';
import { decodeRecord, headerBytes, listSegments, readPosition, type Segment, writePosition } from './segments.ts';

export interface SpoolEntry {
  readonly seq: number;
  readonly body: Uint8Array;
}

export interface ReadLimits {
  readonly records: number;
  readonly bytes: number;
  /** The number after the last record that is whole on disk. */
  readonly upTo: number;
}

interface Place {
  readonly segment: Segment;
  readonly handle: number;
  /** Where the record `seq` begins. */
  offset: number;
  seq: number;
}

const chunkBytes = 1024 * 1024;

export class SpoolReader {
  readonly #folder: string;
  #position: number;
  #place: Place | undefined;
  /** Records that could not be read back, because the disk changed them. */
  damaged = 0;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#position = readPosition(folder);
  }

  /** The number of the first record that was not delivered. */
  get position(): number {
    return this.#position;
  }

  /** The next records, without taking them: the same come again until `delivered` is called. */
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
      // One segment at a time: the next call goes on with the following one.
      if (entries.length > 0) return entries;
      place = this.#skip(place, seq, limits.upTo);
      [at, seq] = [place?.offset ?? 0, place?.seq ?? 0];
    }
    return entries;
  }

  /** Everything before this number is done; segments that are done are removed. True when some were. */
  delivered(next: number): boolean {
    this.#position = Math.max(this.#position, next);
    const segments = listSegments(this.#folder);
    // The last one is still written to.
    const done = segments.filter((_segment, at) => (segments[at + 1]?.first ?? Number.POSITIVE_INFINITY) <= next);
    // First the space: what is delivered must not keep a full disk full.
    for (const { file } of done) rmSync(file, { force: true });
    this.#note();
    return done.length > 0;
  }

  /** Not noted is not lost: after a crash what was delivered since the last note is delivered again. */
  #note(): void {
    try {
      writePosition(this.#folder, this.#position);
    } catch {
      // The disk is full or gone; the next delivery tries again.
    }
  }

  close(): void {
    if (this.#place) closeSync(this.#place.handle);
    this.#place = undefined;
  }

  /** Opens the segment that holds a record and finds where it begins. */
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

  /** A segment ends before its records do: the rest of it is lost, the next one begins with a known number. */
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

/** Whole records from an offset on, about a megabyte of them; `more` is false at the end of the file or at damage. */
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
