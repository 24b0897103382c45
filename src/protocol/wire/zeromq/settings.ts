// Socket settings shared by the ZeroMQ sockets, with Salt's operational defaults.
import { context, type Readable, type Socket } from 'zeromq';
import { bindError } from '../link/bind-error.ts';
import { deferred } from '../link/deferred.ts';
import { bareHost, endpoint } from '../link/resolve.ts';
import type { KeepAlive, ListenOptions } from '../transport.ts';

const RELEASE_MS = 2000;
// The library's 1023 are too few for one process that plays many minions; must be set before the first socket.
context.maxSockets = 16_384;

/** A peer that answers no heartbeat for 30 s is gone; without this a vanished machine stays "connected" for hours. */
export function heartbeat(on: boolean | undefined): { heartbeatInterval?: number; heartbeatTimeout?: number } {
  return on === false ? {} : { heartbeatInterval: 10_000, heartbeatTimeout: 30_000 };
}

export function keepAlive(
  given: KeepAlive | false | undefined,
  standard: KeepAlive,
): { tcpKeepalive: number; tcpKeepaliveIdle?: number; tcpKeepaliveCount?: number; tcpKeepaliveInterval?: number } {
  if (given === false) return { tcpKeepalive: 0 };
  const { idleSeconds, count, intervalSeconds } = given ?? standard;
  return {
    tcpKeepalive: 1,
    tcpKeepaliveIdle: idleSeconds,
    tcpKeepaliveCount: count,
    tcpKeepaliveInterval: intervalSeconds,
  };
}

/** Keepalive of the request sockets; the publish side uses Salt's 300 s. */
export const requestKeepAlive: KeepAlive = { idleSeconds: 60, count: 3, intervalSeconds: 15 };
export const publishKeepAlive: KeepAlive = { idleSeconds: 300, count: -1, intervalSeconds: -1 };

/** Binds; the system chooses the port when 0 was asked for. */
export async function bind<S extends Socket & Readable>(socket: S, options: ListenOptions): Promise<Bound<S>> {
  const wanted = `tcp://${endpoint(bareHost(options.interface), options.port)}`;
  try {
    await socket.bind(wanted);
  } catch (thrown) {
    socket.close();
    throw bindError(wanted, thrown);
  }
  const bound = socket.lastEndpoint ?? wanted;
  return new Bound(socket, bound);
}

/** A bound socket with its read loop; `close` resolves when the port is free for a successor. */
export class Bound<S extends Socket & Readable> {
  readonly socket: S;
  readonly port: number;
  private readonly released = deferred<void>();

  constructor(socket: S, endpoint: string) {
    this.socket = socket;
    this.port = Number(endpoint.slice(endpoint.lastIndexOf(':') + 1));
    // Not `unbind`: it works in another thread, where it meets our pending read in a failed assertion of libzmq.
    const { events } = socket;
    events.on('close', () => this.released.resolve());
    events.on('end', () => this.released.resolve());
  }

  async close(): Promise<void> {
    if (!this.socket.closed) this.socket.close();
    const deadline = setTimeout(() => this.released.resolve(), RELEASE_MS);
    await this.released.promise;
    clearTimeout(deadline);
  }
}
