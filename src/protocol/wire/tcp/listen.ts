// A listening TCP or TLS port that knows its connections.
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { bindError } from '../link/bind-error.ts';
import { bareHost, endpoint } from '../link/resolve.ts';
import type { ListenOptions } from '../transport.ts';
import { serverTls } from './tls.ts';

export interface StreamServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Calls `accept` for every connection, after the TLS handshake where there is one. */
export async function listenStream(
  options: ListenOptions,
  accept: (socket: Socket, peer: string) => void,
): Promise<StreamServer> {
  const open = new Set<Socket>();
  const keep = options.keepAlive;
  const plain = {
    noDelay: true,
    keepAlive: keep !== false,
    keepAliveInitialDelay: (keep ? keep.idleSeconds : 60) * 1000,
  };
  const onSocket = (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // Without a listener an error would end the process; `close` follows it.
    socket.on('error', () => undefined);
    accept(socket, peerOf(socket));
  };
  const server = options.tls
    ? createTlsServer({ ...(await serverTls(options.tls)), ...plain }, onSocket)
    : createServer(plain, onSocket);
  server.on('tlsClientError', (error: Error, socket: Socket) => {
    options.onProblem?.({ kind: 'malformed', peer: peerOf(socket), detail: `TLS: ${error.message}` });
    socket.destroy();
  });
  await bindServer(server, options);
  return boundServer(server, options, open);
}

/** The running server: its port, and how it ends with all of its connections. */
export function boundServer(server: Server, options: ListenOptions, open: ReadonlySet<Socket>): StreamServer {
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

export function bindServer(server: Server, options: ListenOptions): Promise<void> {
  const host = bareHost(options.interface);
  return new Promise((resolve, reject) => {
    server.once('error', (thrown) => reject(bindError(`tcp://${endpoint(host, options.port)}`, thrown)));
    server.listen({ host, port: options.port, backlog: options.backlog ?? 1000, ipv6Only: false }, () => {
      server.removeAllListeners('error');
      // Failures to accept (no file descriptors left) must not end the daemon; it accepts again when it can.
      server.on('error', (thrown) => {
        options.onProblem?.({ kind: 'overload', peer: '', detail: thrown.message });
      });
      resolve();
    });
  });
}

export function peerOf(socket: Socket): string {
  return socket.remoteAddress ? `tcp://${endpoint(socket.remoteAddress, socket.remotePort ?? 0)}` : 'tcp';
}
