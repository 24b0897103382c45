// A listening port all of whose connections have one guard; TCP, or TLS when the option is set.
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { serverTls } from '../tcp/tls.ts';
import type { ListenOptions } from '../transport.ts';
import { defaultMaxMessageBytes } from './answers.ts';
import { bindError } from './bind-error.ts';
import { type GuardOptions, PortGuard } from './port-guard.ts';
import { bareHost, endpoint } from './resolve.ts';
import { type Protocol, ServerConnection } from './server-connection.ts';

export interface GuardedServer {
  readonly port: number;
  readonly connections: number;
  readonly guard: PortGuard;
  close(): Promise<void>;
}

export function guardOf(options: ListenOptions, port: GuardOptions['port'], handshakeMs?: number): PortGuard {
  const { maxMessageBytes = defaultMaxMessageBytes, onProblem } = options;
  return new PortGuard({ port, maxMessageBytes, onProblem, ...(handshakeMs ? { handshakeMs } : {}) });
}

/** Every connection gets the protocol that `accept` creates for it, after the TLS handshake if there is one. */
export async function listenGuarded(
  options: ListenOptions,
  port: GuardOptions['port'],
  accept: (connection: ServerConnection) => Protocol,
  handshakeMs?: number,
): Promise<GuardedServer> {
  const guard = guardOf(options, port, handshakeMs);
  const onSocket = (socket: Socket) => {
    socket.setNoDelay(true);
    const connection = new ServerConnection(socket, peerOf(socket), guard);
    if (guard.add(connection)) connection.start(accept(connection));
  };
  const { tls } = options;
  const server = tls
    ? createTlsServer({ ...(await serverTls(tls)), ...keepAliveOf(options) }, onSocket)
    : createServer(keepAliveOf(options), onSocket);
  if (tls) {
    server.on('connection', (socket: Socket) => guard.handshakes.begin(socket));
    server.prependListener('secureConnection', (socket: Socket) => guard.handshakes.done(socket));
    server.on('tlsClientError', (error: Error, socket: Socket) => {
      guard.problem({ kind: 'malformed', peer: peerOf(socket), detail: `TLS: ${error.message}` });
      socket.destroy();
    });
  }
  return bindGuarded(server, options, guard);
}

export function keepAliveOf(options: ListenOptions): { keepAlive: boolean; keepAliveInitialDelay: number } {
  const keep = options.keepAlive;
  return { keepAlive: keep !== false, keepAliveInitialDelay: (keep ? keep.idleSeconds : 60) * 1000 };
}

export async function bindGuarded(server: Server, options: ListenOptions, guard: PortGuard): Promise<GuardedServer> {
  try {
    await bind(server, options, guard);
  } catch (thrown) {
    await guard.close();
    throw thrown;
  }
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    guard,
    get connections() {
      return guard.connections.size;
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await guard.close();
      await closed;
    },
  };
}

function bind(server: Server, options: ListenOptions, guard: PortGuard): Promise<void> {
  const host = bareHost(options.interface);
  return new Promise((resolve, reject) => {
    server.once('error', (thrown) => reject(bindError(`tcp://${endpoint(host, options.port)}`, thrown)));
    server.listen({ host, port: options.port, backlog: options.backlog ?? 1000, ipv6Only: false }, () => {
      server.removeAllListeners('error');
      // Failures to accept (no file descriptors left) must not end the daemon; it accepts again when it can.
      server.on('error', (thrown) => guard.problem({ kind: 'overload', peer: '', detail: thrown.message }));
      resolve();
    });
  });
}

export function peerOf(socket: Socket): string {
  return socket.remoteAddress ? `tcp://${endpoint(socket.remoteAddress, socket.remotePort ?? 0)}` : 'tcp';
}
