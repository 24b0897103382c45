// WebSocket frames (RFC 6455) without extensions: written as a whole, read from arbitrary chunks.
import { randomBytes } from 'node:crypto';
import { HaliteError } from '../../../base/errors/index.ts';
import { ByteQueue } from '../link/byte-queue.ts';
import { Gather } from '../link/gather.ts';

export const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface WsMessage {
  readonly opcode: number;
  readonly data: Buffer;
}

/**
 * One whole frame. Clients must mask their frames; the mask only protects against confused proxies and hides nothing.
 */
export function encodeFrame(opcode: number, data: Uint8Array, masked: boolean): Buffer {
  const lengthBytes = data.length < 126 ? 0 : data.length < 0x10000 ? 2 : 8;
  const head = 2 + lengthBytes + (masked ? 4 : 0);
  const frame = Buffer.allocUnsafe(head + data.length);
  frame[0] = 0x80 | opcode;
  frame[1] = (masked ? 0x80 : 0) | (lengthBytes === 0 ? data.length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) frame.writeUInt16BE(data.length, 2);
  if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(data.length), 2);
  frame.set(data, head);
  if (masked) {
    const key = randomBytes(4);
    frame.set(key, head - 4);
    applyMask(frame.subarray(head), key);
  }
  return frame;
}

/** `from`: number of bytes of the frame before these. */
function applyMask(bytes: Buffer, key: Buffer, from = 0): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] as number) ^ (key[(from + i) & 3] as number);
}

interface Head {
  readonly opcode: number;
  readonly fin: boolean;
  readonly length: number;
  readonly key: Buffer | undefined;
  /** Number of its content bytes that were already taken. */
  got: number;
}

const maxFragments = 65_536;

/** Assembles messages from chunks; throws when the peer violates the protocol or a limit. */
export class WsReader {
  readonly #bytes = new ByteQueue();
  readonly #maxBytes: number;
  /** True on a server, where every frame must be masked; on a client none may be. */
  readonly #masked: boolean;
  #head: Head | undefined;
  readonly #gather = new Gather();
  #fragments = 0;
  #started = -1;

  constructor(maxBytes: number, masked: boolean) {
    this.#maxBytes = maxBytes;
    this.#masked = masked;
  }

  /** Stored bytes that belong to an incomplete message. */
  get pending(): number {
    return this.#bytes.length + this.#gather.length + (this.#head || this.#started >= 0 ? 1 : 0);
  }

  push(chunk: Buffer): void {
    this.#bytes.push(chunk);
  }

  feed(chunk: Buffer): WsMessage[] {
    this.push(chunk);
    const messages: WsMessage[] = [];
    for (let message = this.next(); message; message = this.next()) messages.push(message);
    return messages;
  }

  /** The next message; undefined when more bytes are needed, after calling `expect` with its minimum size. */
  next(expect?: (total: number) => void): WsMessage | undefined {
    for (;;) {
      this.#head ??= this.#readHead();
      const head = this.#head;
      if (!head) return undefined;
      if (head.opcode >= 8) return this.#control(head);
      const piece = this.#piece(head, Math.min(head.length - head.got, this.#bytes.length));
      if (head.got < head.length) {
        const total = this.#gather.length + piece.length + head.length - head.got;
        this.#gather.add(piece, total);
        expect?.(total);
        return undefined;
      }
      this.#head = undefined;
      const message = this.#join(head, piece);
      if (message) return message;
    }
  }

  #control(head: Head): WsMessage | undefined {
    if (this.#bytes.length < head.length) return undefined;
    this.#head = undefined;
    return { opcode: head.opcode, data: this.#piece(head, head.length) };
  }

  /** The next bytes of the frame, unmasked. */
  #piece(head: Head, count: number): Buffer {
    const data = this.#bytes.take(count);
    if (head.key) applyMask(data, head.key, head.got);
    head.got += count;
    return data;
  }

  /** Called when the frame is complete with these bytes; returns the message when that is complete too. */
  #join({ opcode, fin }: Head, last: Buffer): WsMessage | undefined {
    if (fin && opcode !== 0 && this.#gather.length === 0) return { opcode, data: last };
    if (opcode !== 0) this.#started = opcode;
    this.#gather.add(last, this.#gather.length + last.length);
    this.#fragments += 1;
    if (this.#fragments > maxFragments) throw new HaliteError('codec.limit', 'A message has too many fragments');
    if (!fin) return undefined;
    const message = { opcode: this.#started, data: this.#gather.take() };
    this.#fragments = 0;
    this.#started = -1;
    return message;
  }

  #readHead(): Head | undefined {
    if (this.#bytes.length < 2) return undefined;
    const start = this.#bytes.take(2);
    const first = start[0] as number;
    const second = start[1] as number;
    const short = second & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (this.#bytes.length < lengthBytes + (this.#masked ? 4 : 0)) {
      this.#bytes.unread(start);
      return undefined;
    }
    const opcode = first & 15;
    const fin = (first & 0x80) !== 0;
    const wide = lengthBytes > 0 ? this.#bytes.take(lengthBytes) : undefined;
    const length = !wide ? short : lengthBytes === 2 ? wide.readUInt16BE() : Number(wide.readBigUInt64BE());
    this.#check(first, opcode, fin, length, (second & 0x80) !== 0);
    return { opcode, fin, length, key: this.#masked ? this.#bytes.take(4) : undefined, got: 0 };
  }

  #check(first: number, opcode: number, fin: boolean, length: number, masked: boolean): void {
    if ((first & 0x70) !== 0) throw wrong('reserved bits are set');
    if (masked !== this.#masked) throw wrong(masked ? 'a server must not mask' : 'a client must mask');
    if (opcode > 2 && (opcode < 8 || opcode > 10)) throw wrong(`no such opcode ${opcode}`);
    if (opcode >= 8 && (!fin || length > 125)) throw wrong('a control frame is cut or too long');
    if (opcode === 0 ? this.#started < 0 : opcode < 8 && this.#started >= 0) throw wrong('fragments are out of order');
    if (opcode < 8 && this.#gather.length + length > this.#maxBytes) {
      throw new HaliteError('codec.limit', `A message is larger than ${this.#maxBytes} bytes`);
    }
  }
}

function wrong(what: string): HaliteError {
  return new HaliteError('codec.malformed', `Not a valid WebSocket frame: ${what}`);
}
