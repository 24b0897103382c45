// Streaming msgpack for TCP frames: values follow each other without length prefix.
import { HaliteError } from '../../errors/index.ts';
import type { Value } from '../value.ts';
import { defaultLimits, Reader, type UnpackOptions } from './decode.ts';
import { head, readHead } from './head.ts';

/** Feed chunks, get the values they complete. After an error the stream is unusable: close the connection. */
export class Unpacker {
  readonly #options: UnpackOptions;
  readonly #maxBytes: number;
  #buf: Buffer = Buffer.alloc(0);
  /** End of the bytes received in `buf`. */
  #filled = 0;
  /** Start of the value not yet complete. */
  #start = 0;
  /** How far the end of that value was searched, and how many objects are still missing. */
  #scanned = 0;
  #missing = 1;
  #items = 0;
  #broken = false;

  constructor(options: UnpackOptions = {}) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? defaultLimits.maxBytes;
  }

  /** Bytes held that belong to a value not yet complete. */
  get pending(): number {
    return this.#filled - this.#start;
  }

  /** Takes the chunk and yields every value now complete. Bytes are taken even if the iterator is not run. */
  feed(chunk: Uint8Array): IterableIterator<Value> {
    this.#append(chunk);
    return this.#drain();
  }

  #append(chunk: Uint8Array): void {
    if (this.#broken) throw new HaliteError('codec.malformed', 'The stream is already broken');
    const pending = this.pending;
    if (pending === 0) {
      this.#buf = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      this.#filled = chunk.length;
      this.#scanned = this.#start = 0;
      return;
    }
    if (this.#start > 0 || this.#filled + chunk.length > this.#buf.length) {
      // Values handed out may be views into the old buffer, so it is left alone and the rest moves.
      const grown = Buffer.allocUnsafeSlow(Math.max(pending + chunk.length, Math.min(pending * 2, this.#maxBytes)));
      this.#buf.copy(grown, 0, this.#start, this.#filled);
      this.#scanned -= this.#start;
      this.#buf = grown;
      this.#filled = pending;
      this.#start = 0;
    }
    this.#buf.set(chunk, this.#filled);
    this.#filled += chunk.length;
  }

  *#drain(): IterableIterator<Value> {
    try {
      while (this.#start < this.#filled && this.#complete()) {
        const reader = new Reader(this.#buf.subarray(this.#start, this.#scanned), this.#options);
        const value = reader.read(0);
        this.#start = this.#scanned;
        this.#missing = 1;
        this.#items = 0;
        yield value;
      }
    } catch (thrown) {
      this.#broken = true;
      this.#buf = Buffer.alloc(0);
      this.#start = this.#filled = 0;
      throw thrown;
    }
  }

  /** Moves `scanned` over whole objects; true when it stands at the end of the value. */
  #complete(): boolean {
    while (this.#missing > 0) {
      const next = this.#skip(this.#scanned);
      if (next < 0) return false;
      this.#scanned = next;
    }
    return true;
  }

  /** The position after the head (and content, for scalars) at `at`, or -1 while bytes are missing. */
  #skip(at: number): number {
    if (at < this.#filled && this.#buf[at] === 0xc1)
      throw new HaliteError('codec.malformed', 'Not valid msgpack: no such type 0xc1');
    const whole = readHead(this.#buf, at, this.#filled);
    this.#checkSizes(head.end, head.inside);
    if (!whole) return -1;
    this.#missing += head.inside - 1;
    return head.end;
  }

  /** Refuses announced sizes at once instead of waiting for bytes that may never be allowed. */
  #checkSizes(end: number, inside: number): void {
    if (end - this.#start + inside > this.#maxBytes) {
      throw new HaliteError('codec.limit', `A message is larger than ${this.#maxBytes} bytes`);
    }
    this.#items += inside;
    if (this.#items > 2 * (this.#options.maxItems ?? defaultLimits.maxItems)) {
      throw new HaliteError('codec.limit', 'A message has too many items');
    }
  }
}
