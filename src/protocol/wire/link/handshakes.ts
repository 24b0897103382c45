// Connections whose TLS or HTTP handshake is not complete: bounded in number and in time.
import type { Socket } from 'node:net';
import type { WireProblem } from '../transport.ts';
import { handshakeMs } from './limits.ts';

const most = 1024;

export class Handshakes {
  readonly #problem: (problem: WireProblem) => void;
  /**
   * By the address of the peer, because a TLS socket is another object than the TCP socket below it. In order of
   * arrival.
   */
  readonly #open = new Map<string, { readonly socket: Socket; readonly since: number }>();

  constructor(problem: (problem: WireProblem) => void) {
    this.#problem = problem;
  }

  begin(socket: Socket): void {
    const key = keyOf(socket);
    // Without a listener an error would end the process.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#open.delete(key));
    this.#open.set(key, { socket, since: performance.now() });
    const [oldest] = this.#open.keys();
    if (this.#open.size > most && oldest !== undefined) this.#cut(oldest, 'overload', 'too many handshakes at once');
  }

  done(socket: Socket): void {
    this.#open.delete(keyOf(socket));
  }

  /** Closes those that take too long. */
  check(now: number): void {
    for (const [key, { since }] of this.#open) {
      if (now - since <= handshakeMs) return;
      this.#cut(key, 'idle', 'no handshake');
    }
  }

  /** Called when the server closes. */
  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #cut(key: string, kind: 'idle' | 'overload', detail: string): void {
    const entry = this.#open.get(key);
    this.#open.delete(key);
    entry?.socket.destroy();
    this.#problem({ kind, peer: `tcp://${key}`, detail });
  }
}

const keyOf = (socket: Socket): string => `${socket.remoteAddress}:${socket.remotePort}`;
