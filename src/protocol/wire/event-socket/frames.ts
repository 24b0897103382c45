// Frames of the event sockets that programs with Salt's Python library use: a map `{head, body}`, the body being the tag,
// two line ends and the data. Which releases put a length before the map is in `docs/guide/python-programs.md`.
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { asDict, type Dict } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { ByteQueue } from '../link/byte-queue.ts';
import { splitFrame } from '../tcp/frame.ts';
import { FrameReader } from '../tcp/frame-reader.ts';
import { readHead } from '../tcp/skip.ts';

/** `length`: four bytes before each map. `stream`: the maps follow each other. */
export type EventFraming = 'length' | 'stream';

export interface SocketEvent {
  readonly tag: string;
  readonly data: Dict;
}

const tagEnd = Buffer.from('\n\n');
const start = Buffer.from([0x82, 0xa4, ...Buffer.from('head'), 0x80, 0xa4, ...Buffer.from('body')]);
const longestTag = 4096;
/** Values in one event: a map of one byte takes hundreds in memory. */
const mostItems = 1_000_000;

/** The frame of one event, with room for the length in front of it. */
export function encodeEvent(tag: string, data: Dict, framing: EventFraming): Buffer {
  const body = Buffer.concat([Buffer.from(tag), tagEnd, pack(data, { bin: true })]);
  const head = Buffer.alloc(5, 0xc6);
  head.writeUInt32BE(body.length, 1);
  const length = Buffer.alloc(framing === 'length' ? 4 : 0);
  if (framing === 'length') length.writeUInt32BE(start.length + head.length + body.length);
  return Buffer.concat([length, start, head, body]);
}

/** Cuts what a program sends into events: its first byte tells which of the framings it uses. */
export class EventReader {
  readonly #maxBytes: number;
  #maps: FrameReader | undefined;
  #lengths: ByteQueue | undefined;
  #wanted = -1;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether the beginning of a frame waits for the rest of it. */
  get partial(): boolean {
    return this.#wanted >= 0 || (this.#lengths?.length ?? 0) > 0 || (this.#maps?.pending ?? 0) > 0;
  }

  /** Throws when the bytes are no frames, or a frame is too large: the connection is then of no use. */
  feed(chunk: Buffer, take: (event: SocketEvent) => void): void {
    if (!this.#maps && !this.#lengths) {
      // A length below the limit begins with a small byte, a map never does.
      if ((chunk[0] ?? 0) < 0x80) this.#lengths = new ByteQueue();
      else this.#maps = new FrameReader(this.#maxBytes);
    }
    if (this.#maps) {
      for (const frame of this.#maps.feed(chunk)) take(readEvent(frame));
      return;
    }
    const bytes = this.#lengths;
    bytes?.push(chunk);
    for (let frame = this.#next(); frame; frame = this.#next()) take(readEvent(frame));
  }

  #next(): Buffer | undefined {
    const bytes = this.#lengths as ByteQueue;
    if (this.#wanted < 0) {
      if (bytes.length < 4) return undefined;
      this.#wanted = bytes.take(4).readUInt32BE();
      if (this.#wanted === 0 || this.#wanted > this.#maxBytes)
        throw new HaliteError('codec.limit', `An event is larger than ${this.#maxBytes} bytes`);
    }
    if (bytes.length < this.#wanted) return undefined;
    const frame = bytes.take(this.#wanted);
    this.#wanted = -1;
    return frame;
  }
}

function readEvent(frame: Buffer): SocketEvent {
  const body = splitFrame(frame)?.body;
  const head = body && readHead(body, 0);
  if (!body || !head || head.inside > 0 || head.size + head.content !== body.length)
    throw new HaliteError('codec.malformed', 'An event without body');
  const content = body.subarray(head.size);
  const end = content.subarray(0, longestTag + tagEnd.length).indexOf(tagEnd);
  if (end <= 0) throw new HaliteError('codec.malformed', 'An event without tag');
  const data = asDict(unpack(content.subarray(end + tagEnd.length), { maxItems: mostItems }));
  const tag = content.toString('utf8', 0, end);
  if (!data || /\p{Cc}/u.test(tag)) throw new HaliteError('codec.malformed', 'An event with a bad tag or without data');
  return { tag, data };
}
