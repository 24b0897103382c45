// Connections whose TLS or HTTP handshake is not complete: bounded in number and in time.
import type { Socket } from 'node:net';
import { handshakeMs } from './limits.ts';
import type { PortGuard } from './port-guard.ts';

const most = 1024;

export class Handshakes {
  readonly #guard: PortGuard;
  /** By the address of the peer: a TLS socket is another object than the one it came over. In the order they came. */
  readonly #open = new Map<string, { socket: Socket; timer: NodeJS.Timeout }>();

  constructor(guard: PortGuard) {
    this.#guard = guard;
  }

  begin(socket: Socket): void {
    const key = keyOf(socket);
    // A listener, or an error would end the process.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#forget(key));
    const timer = setTimeout(() => this.#cut(key, 'idle', 'no handshake'), handshakeMs);
    timer.unref();
    this.#open.set(key, { socket, timer });
    if (this.#open.size <= most) return;
    const [oldest] = this.#open.keys();
    if (oldest !== undefined) this.#cut(oldest, 'overload', 'too many handshakes at once');
  }

  done(socket: Socket): void {
    this.#forget(keyOf(socket));
  }

  /** For the end of the server. */
  destroyAll(): void {
    for (const { socket } of this.#open.values()) socket.destroy();
  }

  #cut(key: string, kind: 'idle' | 'overload', detail: string): void {
    const entry = this.#open.get(key);
    this.#forget(key);
    entry?.socket.destroy();
    this.#guard.problem({ kind, peer: `tcp://${key}`, detail });
  }

  #forget(key: string): void {
    clearTimeout(this.#open.get(key)?.timer);
    this.#open.delete(key);
  }
}

const keyOf = (socket: Socket): string => `${socket.remoteAddress}:${socket.remotePort}`;
