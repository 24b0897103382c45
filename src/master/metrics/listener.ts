// The port of metrics and health: HTTP for machines, without credentials, so it says no more than numbers. Everything
// a peer can use up is bounded.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { metricsType } from '../../base/metrics/index.ts';
import type { Health } from './health.ts';
import type { MetricsSettings } from './settings.ts';

export interface Answers {
  text(): Promise<string>;
  health(): Promise<Health>;
}

const mostConnections = 64;
const mostHeaderBytes = 8 * 1024;
const mostHeaders = 64;
const requestMs = 5_000;
const idleMs = 10_000;
/** From the first byte of a request until its answer was read: also for a peer that reads a byte now and then. */
const answerMs = 30_000;
/** A port that is taken is tried again. */
const retryMs = 15_000;

const json = 'application/json';

export class MetricsListener {
  readonly #settings: MetricsSettings;
  readonly #answers: Answers;
  readonly #log: Pick<Logger, 'info' | 'error' | 'limited'>;
  readonly #server: Server;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: MetricsSettings, answers: Answers, log: Pick<Logger, 'info' | 'error' | 'limited'>) {
    this.#settings = settings;
    this.#answers = answers;
    this.#log = log;
    this.#server = createServer(
      {
        maxHeaderSize: mostHeaderBytes,
        headersTimeout: requestMs,
        requestTimeout: requestMs,
        keepAliveTimeout: idleMs,
        connectionsCheckingInterval: 1_000,
      },
      (request, response) => this.#take(request, response),
    );
    this.#server.maxConnections = mostConnections;
    this.#server.maxHeadersCount = mostHeaders;
    this.#server.maxRequestsPerSocket = 1_000;
    this.#server.timeout = idleMs;
    // A master that fails to start ends although this one listens.
    this.#server.unref();
  }

  /** Resolves when it listens, or when it is clear that it cannot now: the master works without it. */
  async start(): Promise<void> {
    const { host, port } = this.#settings;
    try {
      await this.#listen();
      this.#log.info('metrics and health are served', { host, port });
    } catch (error) {
      this.#log.error('metrics and health cannot be served: the master goes on and tries again', {
        ...{ host, port, error: messageOf(error), hint: 'Free the port, or set metrics.prometheus.port.' },
      });
      this.#later();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  #listen(): Promise<void> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      const failed = (error: Error): void => reject(error);
      server.once('error', failed);
      server.listen({ ...this.#settings, backlog: mostConnections }, () => {
        server.off('error', failed);
        // Failures to accept (no file descriptors left) must not end the daemon.
        server.on('error', (error) =>
          this.#log.limited('metrics', 'error', 'a connection for metrics failed', { error: messageOf(error) }),
        );
        resolve();
      });
    });
  }

  #later(): void {
    if (this.#closed) return;
    this.#retry = setTimeout(() => {
      this.#listen().then(
        () => this.#log.info('metrics and health are served', { ...this.#settings }),
        () => this.#later(),
      );
    }, retryMs);
    this.#retry.unref();
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const late = setTimeout(() => request.socket.destroy(), answerMs);
    late.unref();
    response.on('close', () => clearTimeout(late));
    // Bodies have no meaning here: they are not read.
    if (request.headers['content-length'] || request.headers['transfer-encoding']) response.shouldKeepAlive = false;
    this.#answer(request, response).catch((error: unknown) => {
      this.#log.limited('metrics', 'error', 'metrics could not be collected', { error: messageOf(error) });
      if (response.headersSent) response.destroy();
      else
        send(request, response, 500, 'text/plain', 'The metrics could not be collected: see the log of the master.\n');
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const page = pages[(request.url ?? '').split('?', 1)[0] ?? ''];
    if (!page) return send(request, response, 404, 'text/plain', `There are ${Object.keys(pages).join(', ')}.\n`);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return send(request, response, 405, 'text/plain', 'Only GET and HEAD.\n');
    }
    const { status, type, text } = await page(this.#answers);
    send(request, response, status, type, text);
  }
}

type Page = (answers: Answers) => Promise<{ status: number; type: string; text: string }>;

const pages: Readonly<Record<string, Page>> = Object.assign(Object.create(null) as Record<string, Page>, {
  '/metrics': async (answers: Answers) => ({ status: 200, type: metricsType, text: await answers.text() }),
  '/health/live': async () => ({ status: 200, type: json, text: '{"status":"ok"}\n' }),
  '/health/ready': async (answers: Answers) => {
    const { ready, why } = await answers.health();
    const body = ready ? { status: 'ready' } : { status: 'not ready', why };
    return { status: ready ? 200 : 503, type: json, text: `${JSON.stringify(body)}\n` };
  },
});

function send(request: IncomingMessage, response: ServerResponse, status: number, type: string, text: string): void {
  const body = Buffer.from(text);
  response.writeHead(status, {
    'content-type': type,
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
