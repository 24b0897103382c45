// One WebSocket after its handshake: binary messages in and out, pings, an orderly end.
import type { Socket } from 'node:net';
import { messageOf } from '../../../base/errors/index.ts';
import { encodeFrame, opcodes, WsReader } from './codec.ts';

const nothing = Buffer.alloc(0);
// Peers answer pings from their event loop, which may be busy: patience costs little here.
const PING_MS = 30_000;
const MISSED_PINGS = 3;
const CLOSE_MS = 2000;

export interface WsEvents {
  onMessage(data: Buffer): void;
  /** Once, with `error` when the peer broke a rule. */
  onClosed(reason: string, error?: unknown): void;
}

export class WsConnection {
  private readonly socket: Socket;
  private readonly client: boolean;
  private readonly events: WsEvents;
  private readonly reader: WsReader;
  private pingTimer: NodeJS.Timeout | undefined;
  private unanswered = 0;
  private over = false;

  /** `head` are bytes that came right behind the handshake. Only servers ping: not every Salt server answers. */
  constructor(socket: Socket, head: Buffer, options: { client: boolean; maxBytes: number }, events: WsEvents) {
    this.socket = socket;
    this.client = options.client;
    this.events = events;
    this.reader = new WsReader(options.maxBytes, !options.client);
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('close', () => this.end('the connection was closed'));
    if (!options.client) {
      this.pingTimer = setInterval(() => this.ping(), PING_MS);
      this.pingTimer.unref();
    }
    if (head.length > 0) queueMicrotask(() => this.take(head));
  }

  get open(): boolean {
    return !this.over && !this.socket.destroyed;
  }

  /** Bytes written and not yet taken by the system. */
  get unsent(): number {
    return this.socket.writableLength;
  }

  /** Bytes of a message that is not complete. */
  get pending(): number {
    return this.reader.pending;
  }

  send(data: Uint8Array): void {
    this.write(encodeFrame(opcodes.binary, data, this.client));
  }

  /** For frames that were encoded once for many. */
  write(frame: Uint8Array): void {
    if (this.open) this.socket.write(frame);
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    if (this.open) this.socket.resume();
  }

  /** Says good-bye and goes, without waiting long for the answer. */
  close(reason = 'closed by its owner'): void {
    if (this.open) this.socket.end(encodeFrame(opcodes.close, nothing, this.client));
    this.end(reason);
    setTimeout(() => this.socket.destroy(), CLOSE_MS).unref();
  }

  destroy(): void {
    this.socket.destroy();
    this.end('closed by its owner');
  }

  private take(chunk: Buffer): void {
    if (this.over) return;
    try {
      for (const { opcode, data } of this.reader.feed(chunk)) {
        this.unanswered = 0;
        if (opcode === opcodes.binary) this.events.onMessage(data);
        else if (opcode === opcodes.ping) this.write(encodeFrame(opcodes.pong, data, this.client));
        // Salt: a text `close` asks for the end, too.
        else if (opcode === opcodes.close || (opcode === opcodes.text && data.toString() === 'close')) {
          this.close(`the peer closed it${opcode === opcodes.close ? closeReason(data) : ''}`);
          return;
        }
      }
    } catch (thrown) {
      this.socket.destroy();
      this.end(messageOf(thrown), thrown);
    }
  }

  private ping(): void {
    if (this.unanswered >= MISSED_PINGS) {
      this.socket.destroy();
      this.end('it answers no pings');
      return;
    }
    this.unanswered += 1;
    this.write(encodeFrame(opcodes.ping, nothing, this.client));
  }

  private end(reason: string, error?: unknown): void {
    if (this.over) return;
    this.over = true;
    clearInterval(this.pingTimer);
    this.events.onClosed(reason, error);
  }
}

/** ` (1009 too big)`: number and text of a close frame, as far as they are there. */
function closeReason(data: Buffer): string {
  if (data.length < 2) return '';
  const text = data.toString('utf8', 2).replace(/[^\x20-\x7e]/g, '?');
  return ` (${`${data.readUInt16BE()} ${text}`.trim()})`;
}
