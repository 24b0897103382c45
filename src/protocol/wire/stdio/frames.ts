// Messages over the standard input and output of a session: text lines first, of whoever talks before the program does
// (banners, profiles, our own script), then a line that starts the frames, then lengths and msgpack values.
import { pack, unpack, unpackValue } from '../../../base/codec/msgpack/index.ts';
import { asPlainDict, type PlainDict } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { ByteQueue } from '../link/byte-queue.ts';

/** The line after which only frames follow; each side sends its own. */
export const framesLine = '@halite-frames-1@';

/** More text than that in front of the frames is no banner. */
const mostText = 256 * 1024;
const mostLine = 16 * 1024;
const newLine = 10;

/** For a side that is not trusted. */
export interface FrameLimits {
  readonly bytes: number;
  readonly items: number;
}

export function encodeFrame(message: PlainDict): Buffer {
  const frame = pack(message, { bin: true, room: 4 });
  frame.writeUInt32BE(frame.length - 4);
  return frame;
}

export interface FrameTaker {
  line(text: string): void;
  message(message: PlainDict): void;
}

/** Cuts a byte stream into lines and messages. Throws HaliteError when the stream is unusable. */
export class FrameReader {
  readonly #take: FrameTaker;
  readonly #limits: FrameLimits | undefined;
  readonly #bytes = new ByteQueue();
  #line: Buffer[] = [];
  #lineBytes = 0;
  #text = 0;
  #framed = false;
  #wanted = -1;

  /** Without limits the sender is trusted. */
  constructor(take: FrameTaker, limits?: FrameLimits) {
    this.#take = take;
    this.#limits = limits;
  }

  get framed(): boolean {
    return this.#framed;
  }

  feed(chunk: Buffer): void {
    let rest: Buffer = chunk;
    while (!this.#framed && rest.length > 0) rest = this.#feedText(rest);
    if (rest.length > 0) this.#feedFrames(rest);
  }

  /** Reads up to the end of one line; returns what follows. */
  #feedText(chunk: Buffer): Buffer {
    const end = chunk.indexOf(newLine);
    const part = end < 0 ? chunk : chunk.subarray(0, end);
    this.#text += part.length + 1;
    if (this.#text > mostText) throw tooMuch('text before its first message', mostText);
    if (this.#lineBytes < mostLine) this.#line.push(part);
    this.#lineBytes += part.length;
    if (end < 0) return Buffer.alloc(0);
    const text = Buffer.concat(this.#line).toString('utf8').replace(/\r$/, '');
    this.#line = [];
    this.#lineBytes = 0;
    // A prompt without an end of line may stand in front of it.
    if (text.endsWith(framesLine)) this.#framed = true;
    else this.#take.line(text.slice(0, mostLine));
    return chunk.subarray(end + 1);
  }

  #feedFrames(chunk: Buffer): void {
    this.#bytes.push(chunk);
    for (;;) {
      if (this.#wanted < 0) {
        if (this.#bytes.length < 4) return;
        this.#wanted = this.#bytes.take(4).readUInt32BE();
        if (this.#limits && this.#wanted > this.#limits.bytes) throw tooMuch('a message', this.#limits.bytes);
      }
      if (this.#bytes.length < this.#wanted) return;
      const body = this.#bytes.take(this.#wanted);
      this.#wanted = -1;
      this.#take.message(this.#parse(body));
    }
  }

  #parse(body: Buffer): PlainDict {
    const limits = this.#limits;
    const value = limits
      ? unpack(body, { maxBytes: limits.bytes, maxItems: limits.items, maxDepth: 200 })
      : unpackValue(body);
    const message = asPlainDict(value);
    if (!message) throw new HaliteError('codec.malformed', 'A message of the session has the wrong form');
    return message;
  }
}

const tooMuch = (what: string, most: number): HaliteError =>
  new HaliteError('codec.limit', `The other side sent ${what} of more than ${most} bytes`);
