// A local HTTP server that keeps every request it gets and answers as told: for services that cannot be had here.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Recorded {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Recorder {
  readonly url: string;
  readonly port: number;
  readonly requests: Recorded[];
  /** What was recorded since the last time it was asked. */
  take(): Recorded[];
  /** How requests are answered from now on: status and text, or nothing for 200 and ''. */
  answer(reply: (request: Recorded) => readonly [status: number, text?: string] | undefined): void;
  stop(): Promise<void>;
}

export async function startRecorder(tls?: { cert: string; key: string }): Promise<Recorder> {
  const requests: Recorded[] = [];
  let reply: Parameters<Recorder['answer']>[0] = () => undefined;
  const listener: RequestListener = (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const recorded = { method, path, headers, body: Buffer.concat(pieces).toString('utf8') };
      requests.push(recorded);
      const [status, text = ''] = reply(recorded) ?? [200];
      response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    });
  };
  const server: Server = tls
    ? createSecure({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, listener)
    : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests,
    take: () => requests.splice(0),
    answer: (next) => {
      reply = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
