// Frames of the local protocol: a 32-bit length and one msgpack value. Bytes that are valid UTF-8 arrive as text.
import { pack, type UnpackOptions, unpack } from '../../../base/codec/msgpack/index.ts';
import type { Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { ByteQueue } from '../link/byte-queue.ts';

/**
 * Client to server: `[id, 'call', verb, args]`, `[id, 'more', count]`, `[id, 'cancel']`.
 * Server to client: `[id, 'item', value]`, `[id, 'end']`, `[id, 'fail', {code, message, hint, details}]`.
 */
export type Message = readonly [id: number, kind: string, ...rest: Value[]];

/** Items a call may send before the reader has taken any: a slow reader stops the sender, not the connection. */
export const windowItems = 256;

/** Largest frame either side accepts. */
export const maxFrameBytes = 512 * 1024 * 1024;

export function encode(message: Message): Buffer {
  const frame = pack(message as unknown as Value[], { bin: true, jsonTexts: true, room: 4 });
  frame.writeUInt32BE(frame.length - 4);
  return frame;
}

/** Cuts a byte stream into messages. */
export class MessageReader {
  private readonly bytes = new ByteQueue();
  private wanted = -1;
  private readonly limits: UnpackOptions;

  constructor(options: { readonly jsonTexts?: boolean } = {}) {
    this.limits = { maxBytes: maxFrameBytes, maxItems: Number.POSITIVE_INFINITY, ...options };
  }

  /** Throws when the stream is no stream of messages: the connection is then useless. */
  feed(chunk: Buffer): Message[] {
    this.bytes.push(chunk);
    const messages: Message[] = [];
    for (;;) {
      if (this.wanted < 0) {
        if (this.bytes.length < 4) return messages;
        this.wanted = this.bytes.take(4).readUInt32BE();
        if (this.wanted > maxFrameBytes) throw new HaliteError('codec.limit', 'A local message is too large');
      }
      if (this.bytes.length < this.wanted) return messages;
      const body = this.bytes.take(this.wanted);
      this.wanted = -1;
      messages.push(asMessage(unpack(body, this.limits)));
    }
  }
}

function asMessage(value: Value): Message {
  if (Array.isArray(value) && typeof value[0] === 'number' && typeof value[1] === 'string') {
    return value as unknown as Message;
  }
  throw new HaliteError('codec.malformed', 'A local message has the wrong form');
}
