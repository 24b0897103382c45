// One outgoing ZeroMQ connection: a socket is used for a single connection and closed with it.
import type { Socket } from 'zeromq';
import { HaliteError } from '../../../base/errors/index.ts';
import { deferred } from '../link/deferred.ts';
import { bareHost, endpoint, resolveAddress } from '../link/resolve.ts';

// ZeroMQ would reconnect by itself, but to an address it resolves in its I/O thread, and without an event: we dial
// again instead.
// Not -1 ("never"): libzmq 4.3.5 then ends the endpoint itself, which can race with our own close and fail an
// assertion.
const neverMs = 2 ** 31 - 1;
export const singleUse = { reconnectInterval: neverMs, linger: 0, connectTimeout: 10_000 } as const;
const handshakeMs = 15_000;

export interface Target {
  readonly host: string;
  readonly port: number;
  readonly ipv6?: boolean;
  readonly sourceAddress?: string;
}

export interface Connected<S> {
  readonly socket: S;
  readonly address: string;
  /** Resolves with the reason when the connection ends, also after `socket.close()`. */
  readonly gone: Promise<string>;
}

/** Resolves, connects and waits for the handshake; closes the socket and throws when that fails. */
export async function connect<S extends Socket>(
  target: Target,
  attempt: number,
  make: (family: 4 | 6) => S,
  signal?: AbortSignal,
): Promise<Connected<S>> {
  const { address, family } = await resolveAddress(target, attempt);
  if (signal?.aborted) throw new HaliteError('wire.closed', 'closed by its owner');
  const remote = endpoint(address, target.port);
  const socket = make(family);
  const ready = deferred<void>();
  const gone = deferred<string>();
  const lose = (reason: string) => {
    ready.reject(new HaliteError('wire.closed', `${remote}: ${reason}`));
    gone.resolve(`${remote}: ${reason}`);
  };
  observe(socket, () => ready.resolve(), lose);
  const timer = setTimeout(() => lose('no ZeroMQ handshake'), handshakeMs);
  const onAbort = () => lose('closed by its owner');
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    socket.connect(`tcp://${source(target)}${remote}`);
    await ready.promise;
    return { socket, address: remote, gone: gone.promise };
  } catch (thrown) {
    if (!socket.closed) socket.close();
    throw thrown;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function source(target: Target): string {
  return target.sourceAddress ? `${endpoint(bareHost(target.sourceAddress), 0)};` : '';
}

function observe(socket: Socket, onReady: () => void, lose: (reason: string) => void): void {
  const { events } = socket;
  events.on('handshake', onReady);
  events.on('disconnect', () => lose('the connection was lost'));
  events.on('close', () => lose('the connection was refused or timed out'));
  events.on('handshake:error:protocol', () => lose('the peer does not speak ZeroMQ'));
  events.on('handshake:error:auth', () => lose('the peer refused the ZeroMQ handshake'));
  events.on('handshake:error:other', () => lose('the ZeroMQ handshake failed'));
  events.on('end', () => lose('closed'));
}
