// Frames of the local protocol: a 32-bit length and one msgpack value. Bytes that are valid UTF-8 arrive as text.
import { pack, type UnpackOptions, unpack } from '../../../base/codec/msgpack/index.ts';
import type { Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { ByteQueue } from '../link/byte-queue.ts';
import { type FrameLimits, openLimits } from './admission.ts';

/**
 * Client to server: `[id, 'call', verb, args]`, `[id, 'more', count]`, `[id, 'cancel']`.
 * Server to client: `[id, 'item', value]`, `[id, 'end']`, `[id, 'fail', {code, message, hint, details}]`.
 * A failure of call 0 concerns the whole connection, which then ends.
 */
export type Message = readonly [id: number, kind: string, ...rest: Value[]];

export const wholeConnection = 0;

/** Items that a call may send before the reader takes any: a slow reader pauses the sender, not the connection. */
export const windowItems = 256;

export function encode(message: Message): Buffer {
  const frame = pack(message as unknown as Value[], { bin: true, jsonTexts: true, room: 4 });
  frame.writeUInt32BE(frame.length - 4);
  return frame;
}

/** Cuts a byte stream into messages. */
export class MessageReader {
  /** May change between two messages. */
  limits: FrameLimits = openLimits.unauthenticated;
  readonly #bytes = new ByteQueue();
  #wanted = -1;
  readonly #options: UnpackOptions;

  constructor(options: { readonly jsonTexts?: boolean } = {}) {
    this.#options = options;
  }

  /** Whether a message has begun to arrive and is incomplete. */
  get partial(): boolean {
    return this.#wanted >= 0 || this.#bytes.length > 0;
  }

  /** Passes each message on before the next is parsed. Throws when the connection is unusable. */
  feed(chunk: Buffer, take: (message: Message) => void): void {
    this.#bytes.push(chunk);
    for (;;) {
      if (this.#wanted < 0) {
        if (this.#bytes.length < 4) return;
        this.#wanted = this.#bytes.take(4).readUInt32BE();
        if (this.#wanted > this.limits.bytes) throw tooLarge(this.limits.bytes);
      }
      if (this.#bytes.length < this.#wanted) return;
      const body = this.#bytes.take(this.#wanted);
      this.#wanted = -1;
      const { bytes: maxBytes, items: maxItems } = this.limits;
      take(asMessage(unpack(body, { ...this.#options, maxBytes, maxItems })));
    }
  }
}

const tooLarge = (most: number): HaliteError =>
  new HaliteError('codec.limit', `A message on the local socket is larger than the ${most} bytes this caller may send`);

function asMessage(value: Value): Message {
  if (Array.isArray(value) && typeof value[0] === 'number' && typeof value[1] === 'string') {
    return value as unknown as Message;
  }
  throw new HaliteError('codec.malformed', 'A local message has the wrong form');
}
