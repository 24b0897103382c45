// Both sides of the HTTP upgrade.
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { HaliteError } from '../../../base/errors/index.ts';
import { ByteQueue } from '../link/byte-queue.ts';
import { bindGuarded, type GuardedServer, guardOf, keepAliveOf, peerOf } from '../link/listen.ts';
import { endpoint } from '../link/resolve.ts';
import { type Protocol, ServerConnection } from '../link/server-connection.ts';
import { connectStream, type StreamTarget } from '../tcp/connect.ts';
import { serverTls } from '../tcp/tls.ts';
import type { ListenOptions } from '../transport.ts';

const handshakeMs = 15_000;
const maxHeadBytes = 16 * 1024;

/** The value that proves that the server understood the handshake (RFC 6455, 4.2.2). */
export function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/** Listens and calls `accept` for every WebSocket, on any path as Salt does. */
export async function listenWs(
  options: ListenOptions,
  port: 'request' | 'publish',
  accept: (connection: ServerConnection, headers: IncomingMessage['headers']) => Protocol,
): Promise<GuardedServer> {
  const limits = { maxHeaderSize: maxHeadBytes, ...keepAliveOf(options), noDelay: true };
  const server = options.tls ? createTlsServer({ ...limits, ...(await serverTls(options.tls)) }) : createServer(limits);
  const guard = guardOf(options, port);
  server.on('connection', (socket: Socket) => guard.handshakes.begin(socket));
  server.on('request', (_request, response) => {
    response.writeHead(426, { Upgrade: 'websocket', Connection: 'close' }).end('WebSocket expected\n');
  });
  server.on('clientError', (error, socket) => {
    guard.problem({ kind: 'malformed', peer: peerOf(socket as Socket), detail: error.message });
    socket.destroy();
  });
  server.on('upgrade', (request, stream, head) => {
    const socket = stream as Socket;
    const key = request.headers['sec-websocket-key'];
    const version = request.headers['sec-websocket-version'];
    if (!isUpgrade(request) || !key || key.length > 64 || version !== '13') {
      socket.end('HTTP/1.1 400 Bad Request\r\nSec-WebSocket-Version: 13\r\nConnection: close\r\n\r\n');
      return;
    }
    guard.handshakes.done(socket);
    const connection = new ServerConnection(socket, peerOf(socket), guard);
    if (!guard.add(connection)) return;
    connection.out.write(
      Buffer.from(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${acceptKey(key)}\r\n\r\n`,
      ),
    );
    connection.setReady();
    if (head.length > 0) socket.unshift(head);
    connection.start(accept(connection, request.headers));
  });
  return bindGuarded(server, options, guard);
}

function isUpgrade(request: IncomingMessage): boolean {
  return request.method === 'GET' && request.headers.upgrade?.toLowerCase() === 'websocket';
}

/** Connects and upgrades; `head` are bytes that followed the answer directly. */
export async function connectWs(
  target: StreamTarget & { path: string; headers?: Readonly<Record<string, string>> },
  attempt: number,
  signal?: AbortSignal,
): Promise<{ socket: Socket; head: Buffer; address: string }> {
  const { socket, address } = await connectStream(target, attempt, signal);
  const key = randomBytes(16).toString('base64');
  const lines = [
    `GET ${target.path} HTTP/1.1`,
    `Host: ${endpoint(target.host, target.port)}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Version: 13',
    ...Object.entries(target.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  try {
    const { text, rest } = await readAnswer(socket, signal);
    const accepted = /^sec-websocket-accept:[ \t]*(\S+)/im.exec(text)?.[1];
    if (!/^HTTP\/1\.1 101[ \r]/.test(text) || accepted !== acceptKey(key)) {
      throw new HaliteError('wire.closed', `${address}: the peer does not speak WebSocket`);
    }
    return { socket, head: rest, address };
  } catch (thrown) {
    socket.destroy();
    throw thrown;
  }
}

function readAnswer(socket: Socket, signal: AbortSignal | undefined): Promise<{ text: string; rest: Buffer }> {
  const bytes = new ByteQueue();
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => done(() => reject(new HaliteError('wire.closed', reason)));
    const onClose = () => fail('the connection was closed during the WebSocket handshake');
    const onAbort = () => fail('closed by its owner');
    const timer = setTimeout(() => fail('no WebSocket handshake'), handshakeMs);
    const onData = (chunk: Buffer) => {
      bytes.push(chunk);
      const all = bytes.take(bytes.length);
      const end = all.indexOf('\r\n\r\n');
      if (end >= 0) {
        done(() => resolve({ text: all.toString('latin1', 0, end + 2), rest: all.subarray(end + 4) }));
      } else if (all.length > maxHeadBytes) fail('the WebSocket handshake is too long');
      else bytes.unread(all);
    };
    const done = (settle: () => void) => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose).pause();
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    socket.on('data', onData).on('close', onClose);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
