// One accepted WebSocket: reads whole binary messages from its frames, sends pings, closes orderly.
import type { Protocol, ServerConnection } from '../link/server-connection.ts';
import { encodeFrame, opcodes, type WsMessage, WsReader } from './codec.ts';

const nothing = Buffer.alloc(0);
// Peers answer pings from their event loop, which may be busy, so the time limit is generous.
const pingMs = 30_000;
const silentMs = 120_000;
const closeMs = 2000;

export interface WsServerEvents {
  onMessage(data: Buffer): void;
  drained?(): void;
  closed(): void;
}

export class WsServerProtocol implements Protocol {
  readonly #connection: ServerConnection;
  readonly #events: WsServerEvents;
  readonly #reader: WsReader;
  #pingedAt = 0;
  #over = false;

  constructor(connection: ServerConnection, maxBytes: number, events: WsServerEvents) {
    this.#connection = connection;
    this.#events = events;
    this.#reader = new WsReader(maxBytes, true);
  }

  get pending(): number {
    return this.#reader.pending;
  }

  push(chunk: Buffer): void {
    this.#reader.push(chunk);
  }

  take(): void {
    while (!this.#over && !this.#connection.blocked) {
      const message = this.#reader.next(this.#expect);
      if (!message) return;
      this.#message(message);
    }
  }

  drained(): void {
    this.#events.drained?.();
  }

  closed(): void {
    this.#over = true;
    this.#events.closed();
  }

  /** A silent peer is pinged, and closed when it does not answer for long. */
  tick(now: number): void {
    const { heardAt, out } = this.#connection;
    if (now - heardAt > silentMs) this.#connection.cut('idle', 'answers no pings');
    else if (now - Math.max(heardAt, this.#pingedAt) > pingMs && out.unsent === 0) {
      this.#pingedAt = now;
      this.#connection.write(encodeFrame(opcodes.ping, nothing, false));
    }
  }

  readonly #expect = (total: number): void => {
    this.#connection.admit(total);
  };

  #message({ opcode, data }: WsMessage): void {
    if (opcode === opcodes.binary) this.#events.onMessage(data);
    else if (opcode === opcodes.ping) this.#connection.write(encodeFrame(opcodes.pong, data, false));
    // As in Salt: a text message `close` also requests the end.
    else if (opcode === opcodes.close || (opcode === opcodes.text && data.toString() === 'close')) this.#end();
  }

  #end(): void {
    this.#over = true;
    const { out, socket } = this.#connection;
    out.write(encodeFrame(opcodes.close, nothing, false));
    out.end();
    setTimeout(() => socket.destroy(), closeMs).unref();
  }
}
