// Splits a byte stream into frames of ZMTP. The head of a frame can be checked before its content is read.
import { Gather } from '../../link/gather.ts';
import { malformed } from './commands.ts';
import { flags } from './frames.ts';
import type { Generation } from './greeting.ts';

export interface FrameHead {
  readonly length: number;
  readonly more: boolean;
  readonly command: boolean;
}

const empty = Buffer.alloc(0);

export class FrameReader {
  readonly #generation: Generation;
  /** Bytes that were pushed, and how many of them were taken. */
  #chunk: Buffer = empty;
  #at = 0;
  #head: FrameHead | undefined;
  readonly #gather = new Gather();
  #skipped = 0;

  constructor(generation: Generation) {
    this.#generation = generation;
  }

  push(chunk: Buffer): void {
    this.#chunk = this.#left === 0 ? chunk : Buffer.concat([this.#chunk.subarray(this.#at), chunk]);
    this.#at = 0;
  }

  get #left(): number {
    return this.#chunk.length - this.#at;
  }

  /** Bytes of an incomplete frame, or that were not taken yet. */
  get pending(): number {
    return this.#left + this.#gather.length + this.#skipped + (this.#head ? 1 : 0);
  }

  /** The head of the next frame; undefined when it is incomplete. */
  head(): FrameHead | undefined {
    this.#head ??= this.#generation === 1 ? this.#readHead1() : this.#readHead2();
    return this.#head;
  }

  /** The content of the frame whose head was read, when it is complete. Chunks are joined. */
  body(): Buffer | undefined {
    const { length } = this.#head as FrameHead;
    const held = this.#gather.length;
    if (held === 0 && this.#left >= length) {
      this.#head = undefined;
      return this.#cut(length);
    }
    this.#gather.add(this.#cut(Math.min(length - held, this.#left)), length);
    if (this.#gather.length < length) return undefined;
    this.#head = undefined;
    return this.#gather.take();
  }

  /** Skips the content of the frame whose head was read, without storing it; false when more bytes are needed. */
  skip(): boolean {
    const { length } = this.#head as FrameHead;
    const step = Math.min(length - this.#skipped, this.#left);
    this.#pass(step);
    this.#skipped += step;
    if (this.#skipped < length) return false;
    this.#skipped = 0;
    this.#head = undefined;
    return true;
  }

  #cut(count: number): Buffer {
    if (count === 0) return empty;
    const start = this.#at;
    const chunk = this.#chunk;
    this.#pass(count);
    return chunk.subarray(start, start + count);
  }

  #pass(count: number): void {
    this.#at += count;
    // Releases a chunk that is used up.
    if (this.#at < this.#chunk.length) return;
    this.#chunk = empty;
    this.#at = 0;
  }

  #readHead1(): FrameHead | undefined {
    const first = this.#chunk[this.#at];
    if (first === undefined) return undefined;
    const width = first === 0xff ? 9 : 1;
    if (this.#left < width + 1) return undefined;
    const length = width === 1 ? first : Number(this.#chunk.readBigUInt64BE(this.#at + 1));
    if (length === 0) throw malformed('a frame without flags');
    const flag = this.#chunk[this.#at + width] as number;
    this.#pass(width + 1);
    return { length: length - 1, more: (flag & flags.more) !== 0, command: false };
  }

  #readHead2(): FrameHead | undefined {
    const flag = this.#chunk[this.#at];
    if (flag === undefined) return undefined;
    if (flag > 7 || (flag & 5) === 5) throw malformed('a frame has unknown flags');
    if (this.#generation === 2 && (flag & flags.command) !== 0) throw malformed('a command in ZMTP 2.0');
    const width = (flag & flags.long) === 0 ? 1 : 8;
    if (this.#left < 1 + width) return undefined;
    const at = this.#at + 1;
    const length = width === 1 ? (this.#chunk[at] as number) : Number(this.#chunk.readBigUInt64BE(at));
    this.#pass(1 + width);
    return { length, more: (flag & flags.more) !== 0, command: (flag & flags.command) !== 0 };
  }
}
