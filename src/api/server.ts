// Listens for HTTP: TLS, and limits for connections that are slow, silent or too many.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { HaliteError } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { Renewal, readCertificate, type TlsFiles } from './certificate.ts';
import type { ClientCertificates } from './client-certificates.ts';
import type { ApiSettings } from './settings.ts';

const limits = {
  maxHeaderSize: 16 * 1024,
  /** Time for the head of a request, and for the whole of it. */
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
};
const mostHeaders = 100;
const mostConnections = 2_000;
/** One address cannot take all connections. */
const mostByAddress = 500;

export interface Listener {
  readonly addresses: readonly string[];
  /** Reads the certificate again; a wrong one is not taken. */
  renew(): void;
  close(): Promise<void>;
}

export interface Handlers {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void;
  readonly certificates: ClientCertificates | undefined;
}

export async function listen(settings: ApiSettings, log: Logger, handlers: Handlers): Promise<Listener> {
  const servers: Server[] = [];
  const connections = new Set<Socket>();
  try {
    for (const host of settings.hosts) servers.push(await listenOn(host, settings, log, handlers, connections));
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  const files = tlsFiles(settings);
  const renewal = files && new Renewal(files, servers, log, () => handlers.certificates?.renewed());
  return {
    renew: () => renewal?.run(),
    addresses: servers.map((server) => {
      const found = server.address();
      return typeof found === 'string' || !found ? String(found) : `${found.address}:${found.port}`;
    }),
    close: async () => {
      renewal?.close();
      const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
      for (const socket of connections) socket.destroy();
      await Promise.all(closed);
    },
  };
}

const tlsFiles = ({ tls, clientAuthorities: clients }: ApiSettings): TlsFiles | undefined => tls && { ...tls, clients };

function listenOn(
  host: string,
  settings: ApiSettings,
  log: Logger,
  handlers: Handlers,
  connections: Set<Socket>,
): Promise<Server> {
  const files = tlsFiles(settings);
  // Who shows no certificate, or a wrong one, may still log in with a password.
  const asked = files?.clients ? { requestCert: true, rejectUnauthorized: false } : {};
  const server: Server = files
    ? createTlsServer({ ...limits, ...readCertificate(files), ...asked, handshakeTimeout: 15_000 })
    : createServer(limits);
  if (server instanceof TlsServer) handlers.certificates?.follow(server);
  server.maxHeadersCount = mostHeaders;
  server.maxConnections = mostConnections;
  const byAddress = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const from = socket.remoteAddress ?? '';
    const own = byAddress.get(from) ?? 0;
    if (own >= mostByAddress) {
      log.limited(`connections:${from}`, 'warn', 'too many connections from one address', { from });
      socket.destroy();
      return;
    }
    byAddress.set(from, own + 1);
    connections.add(socket);
    socket.once('close', () => {
      connections.delete(socket);
      const left = (byAddress.get(from) ?? 1) - 1;
      if (left > 0) byAddress.set(from, left);
      else byAddress.delete(from);
    });
  });
  server.on('request', handlers.request);
  server.on('upgrade', (request, socket, head) => handlers.upgrade(request, socket as Socket, head));
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
    const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : status;
    socket.end(`HTTP/1.1 ${late}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
  const where = host.startsWith('unix:') ? { path: host.slice(5) } : { host, port: settings.port };
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new HaliteError(
          'config.value',
          `The API cannot listen on ${host}:${settings.port}: ${error.code ?? error.message}`,
          {
            hint: 'Another process may use the port, or the user of the API may not open it (below 1024 only root may).',
          },
        ),
      ),
    );
    server.listen(where, () => resolve(server));
  });
}
