// WebSocket frames (RFC 6455) without extensions: written whole, read in any pieces.
import { randomBytes } from 'node:crypto';
import { HaliteError } from '../../../base/errors/index.ts';
import { ByteQueue } from '../link/byte-queue.ts';

export const opcodes = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface WsMessage {
  readonly opcode: number;
  readonly data: Buffer;
}

/** One whole frame. Clients must mask what they send; the key only defeats confused proxies, it hides nothing. */
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

function applyMask(bytes: Buffer, key: Buffer): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = (bytes[i] as number) ^ (key[i & 3] as number);
}

interface Head {
  readonly opcode: number;
  readonly fin: boolean;
  readonly length: number;
}

/** Puts messages together from chunks; throws when the peer breaks the protocol or a bound. */
export class WsReader {
  private readonly bytes = new ByteQueue();
  private readonly maxBytes: number;
  /** True on a server, where every frame must be masked; on a client none may be. */
  private readonly masked: boolean;
  private head: Head | undefined;
  private fragments: Buffer[] = [];
  private fragmentBytes = 0;
  private started = -1;

  constructor(maxBytes: number, masked: boolean) {
    this.maxBytes = maxBytes;
    this.masked = masked;
  }

  /** Bytes held that belong to a message not yet complete. */
  get pending(): number {
    return this.bytes.length + this.fragmentBytes;
  }

  feed(chunk: Buffer): WsMessage[] {
    this.bytes.push(chunk);
    const messages: WsMessage[] = [];
    for (;;) {
      this.head ??= this.readHead();
      if (!this.head) return messages;
      const size = this.head.length + (this.masked ? 4 : 0);
      if (this.bytes.length < size) return messages;
      const { opcode, fin, length } = this.head;
      this.head = undefined;
      const message = this.join(opcode, fin, this.payload(length));
      if (message) messages.push(message);
    }
  }

  private payload(length: number): Buffer {
    if (!this.masked) return this.bytes.take(length);
    const key = this.bytes.take(4);
    const data = this.bytes.take(length);
    applyMask(data, key);
    return data;
  }

  private readHead(): Head | undefined {
    if (this.bytes.length < 2) return undefined;
    const start = this.bytes.take(2);
    const first = start[0] as number;
    const second = start[1] as number;
    const short = second & 0x7f;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (this.bytes.length < lengthBytes) {
      this.bytes.unread(start);
      return undefined;
    }
    const opcode = first & 15;
    const fin = (first & 0x80) !== 0;
    const wide = lengthBytes > 0 ? this.bytes.take(lengthBytes) : undefined;
    const length = !wide ? short : lengthBytes === 2 ? wide.readUInt16BE() : Number(wide.readBigUInt64BE());
    this.check(first, opcode, fin, length, (second & 0x80) !== 0);
    return { opcode, fin, length };
  }

  private check(first: number, opcode: number, fin: boolean, length: number, masked: boolean): void {
    if ((first & 0x70) !== 0) throw wrong('reserved bits are set');
    if (masked !== this.masked) throw wrong(masked ? 'a server must not mask' : 'a client must mask');
    if (opcode > 2 && (opcode < 8 || opcode > 10)) throw wrong(`no such opcode ${opcode}`);
    if (opcode >= 8 && (!fin || length > 125)) throw wrong('a control frame is cut or too long');
    if (opcode === 0 ? this.started < 0 : opcode < 8 && this.started >= 0) throw wrong('fragments are out of order');
    if (opcode < 8 && this.fragmentBytes + length > this.maxBytes) {
      throw new HaliteError('codec.limit', `A message is larger than ${this.maxBytes} bytes`);
    }
  }

  private join(opcode: number, fin: boolean, data: Buffer): WsMessage | undefined {
    if (opcode >= 8) return { opcode, data };
    if (fin && opcode !== 0) return { opcode, data };
    if (opcode !== 0) this.started = opcode;
    this.fragments.push(data);
    this.fragmentBytes += data.length;
    if (this.fragments.length > 65_536) throw new HaliteError('codec.limit', 'A message has too many fragments');
    if (!fin) return undefined;
    const message = { opcode: this.started, data: Buffer.concat(this.fragments, this.fragmentBytes) };
    this.fragments = [];
    this.fragmentBytes = 0;
    this.started = -1;
    return message;
  }
}

function wrong(what: string): HaliteError {
  return new HaliteError('codec.malformed', `Not a valid WebSocket frame: ${what}`);
}
