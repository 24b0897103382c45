// Splits a byte stream into frames: msgpack maps that follow each other without length prefix.
import { HaliteError } from '../../../base/errors/index.ts';
import { Gather } from '../link/gather.ts';
import { readHead } from './skip.ts';

const empty = Buffer.alloc(0);

/** Accepts chunks, returns whole frames. Each byte is examined once, for any size of the frame. */
export class FrameReader {
  readonly #maxBytes: number;
  /** Bytes that were pushed and not examined. */
  #rest: Buffer = empty;
  /** The incomplete frame. */
  readonly #gather = new Gather();
  /** Values still missing in it, and content bytes still to be skipped. */
  #missing = 1;
  #content = 0;
  /** A value head that was split between chunks. */
  #cut: Buffer = empty;
  #started = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Stored bytes that belong to an incomplete frame, or are not examined yet. */
  get pending(): number {
    return this.#gather.length + this.#rest.length;
  }

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
  }

  /**
   * The next whole frame; undefined when more bytes are needed, after calling `expect` with the minimum size of the
   * frame.
   * Throws when the stream does not consist of frames, or a frame is too large: the connection is then unusable.
   */
  next(expect?: (total: number) => void): Buffer | undefined {
    const rest = this.#rest;
    if (rest.length === 0) return undefined;
    const end = this.#scan(rest);
    if (end < 0) {
      const total = this.#gather.length + rest.length + this.#content + this.#missing;
      this.#hold(rest, total);
      this.#rest = empty;
      expect?.(total);
      return undefined;
    }
    this.#rest = rest.subarray(end);
    const frame = this.#gather.length === 0 ? rest.subarray(0, end) : this.#join(rest.subarray(0, end));
    if (frame.length > this.#maxBytes) this.#tooLarge();
    this.#missing = 1;
    this.#content = 0;
    this.#started = false;
    return frame;
  }

  /** All frames that are complete with this chunk. */
  feed(chunk: Buffer): Buffer[] {
    this.push(chunk);
    const frames: Buffer[] = [];
    for (let frame = this.next(); frame; frame = this.next()) frames.push(frame);
    return frames;
  }

  #hold(bytes: Buffer, total: number): void {
    this.#gather.add(bytes, Math.min(total, this.#maxBytes));
    if (this.#gather.length > this.#maxBytes) this.#tooLarge();
  }

  #join(last: Buffer): Buffer {
    this.#gather.add(last, this.#gather.length + last.length);
    return this.#gather.take();
  }

  #tooLarge(): never {
    throw new HaliteError('codec.limit', `A frame is larger than ${this.#maxBytes} bytes`);
  }

  /** Advances over the chunk; returns the offset where the frame ends, or -1. */
  #scan(chunk: Buffer): number {
    let position = 0;
    while (this.#missing > 0 || this.#content > 0) {
      if (this.#content > 0) {
        const step = Math.min(this.#content, chunk.length - position);
        this.#content -= step;
        position += step;
        if (this.#content > 0) return -1;
        continue;
      }
      const next = this.#head(chunk, position);
      if (next < 0) return -1;
      position = next;
    }
    return position;
  }

  /** Reads one value head, which may have begun in an earlier chunk; returns the offset after it, or -1. */
  #head(chunk: Buffer, position: number): number {
    const before = this.#cut.length;
    const buf = before > 0 ? Buffer.concat([this.#cut, chunk.subarray(position, position + 9)]) : chunk;
    const at = before > 0 ? 0 : position;
    const head = readHead(buf, at);
    if (!head) {
      this.#cut = before > 0 ? buf : Buffer.from(chunk.subarray(position));
      return -1;
    }
    this.#cut = empty;
    if (!this.#started) {
      this.#started = true;
      const code = buf[at] as number;
      // Only a map can be a frame; anything else is another protocol, which is detected at its first byte.
      if (!(code >= 0x80 && code < 0x90) && code !== 0xde && code !== 0xdf) {
        throw new HaliteError('codec.malformed', 'The stream does not consist of message frames');
      }
    }
    this.#missing += head.inside - 1;
    this.#content = head.content;
    if (this.#gather.length + head.content + this.#missing > this.#maxBytes) this.#tooLarge();
    return position + head.size - before;
  }
}
