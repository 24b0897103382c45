// One outgoing WebSocket after its handshake: binary messages in both directions, answers to pings, orderly close.
import type { Socket } from 'node:net';
import { messageOf } from '../../../base/errors/index.ts';
import { encodeFrame, opcodes, WsReader } from './codec.ts';

const nothing = Buffer.alloc(0);
const closeMs = 2000;

export interface WsEvents {
  onMessage(data: Buffer): void;
  /** Called once, with `error` when the peer violated the protocol. */
  onClosed(reason: string, error?: unknown): void;
}

export class WsConnection {
  readonly #socket: Socket;
  readonly #events: WsEvents;
  readonly #reader: WsReader;
  #over = false;

  /** `head` are bytes that followed the handshake directly. Only servers ping: not every Salt server answers. */
  constructor(socket: Socket, head: Buffer, maxBytes: number, events: WsEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#reader = new WsReader(maxBytes, false);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('close', () => this.#end('the connection was closed'));
    if (head.length > 0) queueMicrotask(() => this.#take(head));
  }

  get open(): boolean {
    return !this.#over && !this.#socket.destroyed;
  }

  send(data: Uint8Array): void {
    this.#write(encodeFrame(opcodes.binary, data, true));
  }

  #write(frame: Uint8Array): void {
    if (this.open) this.#socket.write(frame);
  }

  resume(): void {
    if (this.open) this.#socket.resume();
  }

  /** Sends a close frame and closes, without waiting long for the answer. */
  close(reason = 'closed by its owner'): void {
    if (this.open) this.#socket.end(encodeFrame(opcodes.close, nothing, true));
    this.#end(reason);
    setTimeout(() => this.#socket.destroy(), closeMs).unref();
  }

  destroy(): void {
    this.#socket.destroy();
    this.#end('closed by its owner');
  }

  #take(chunk: Buffer): void {
    if (this.#over) return;
    try {
      for (const { opcode, data } of this.#reader.feed(chunk)) {
        if (opcode === opcodes.binary) this.#events.onMessage(data);
        else if (opcode === opcodes.ping) this.#write(encodeFrame(opcodes.pong, data, true));
        // As in Salt: a text message `close` also requests the end.
        else if (opcode === opcodes.close || (opcode === opcodes.text && data.toString() === 'close')) {
          this.close(`the peer closed it${opcode === opcodes.close ? closeReason(data) : ''}`);
          return;
        }
      }
    } catch (thrown) {
      this.#socket.destroy();
      this.#end(messageOf(thrown), thrown);
    }
  }

  #end(reason: string, error?: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#events.onClosed(reason, error);
  }
}

/** ` (1009 too big)`: number and text of a close frame, as far as they are there. */
function closeReason(data: Buffer): string {
  if (data.length < 2) return '';
  const text = data.toString('utf8', 2).replace(/[^\x20-\x7e]/g, '?');
  return ` (${`${data.readUInt16BE()} ${text}`.trim()})`;
}
