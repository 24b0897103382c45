// Fetches over HTTP and HTTPS: redirects, basic authentication, entity tags, and Salt's messages on failure.
import type { IncomingMessage, RequestOptions } from 'node:http';
import { HaliteError } from '../../../base/errors/index.ts';
import { netReason } from '../../../base/util/net-errors.ts';
import { urlParts } from './url.ts';

export interface WebOptions {
  readonly verifySsl?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface WebAnswer {
  readonly status: number;
  readonly etag: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

const maxRedirects = 10;
const redirects = new Set([301, 302, 303, 307, 308]);

/** Opens a URL and follows redirects. Throws for every answer except success and, with an entity tag, 304. */
export async function openWeb(url: string, options: WebOptions): Promise<WebAnswer> {
  const shown = urlParts(url, false).path;
  let at = new URL(url);
  for (let left = maxRedirects; ; left--) {
    const answer = await ask(at, options).catch((error: unknown) => {
      throw failed(netReason(error), shown);
    });
    const status = answer.statusCode ?? 0;
    const location = answer.headers.location;
    if (redirects.has(status) && location !== undefined && left > 0) {
      answer.resume();
      const next = new URL(location, at);
      if (!isWeb(next)) throw failed('redirected to something that is no web address', shown);
      // User names and passwords are sent only to the server for which they were written.
      if (next.origin === at.origin) Object.assign(next, { username: at.username, password: at.password });
      at = next;
      continue;
    }
    if (status === 304 || (status >= 200 && status < 300)) {
      return { status, etag: answer.headers.etag, body: bodyOf(answer, shown) };
    }
    answer.resume();
    throw failed(`HTTP ${status}: ${answer.statusMessage || 'Unknown'}`, shown);
  }
}

const isWeb = (url: URL): boolean => url.protocol === 'http:' || url.protocol === 'https:';

function failed(why: string, path: string): HaliteError {
  return new HaliteError('call.failed', `Error: ${why} reading ${path}`);
}

async function ask(url: URL, options: WebOptions): Promise<IncomingMessage> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const { username, password } = url;
  const settings: RequestOptions & { rejectUnauthorized?: boolean } = {
    headers: { 'user-agent': 'Salt/halite', 'accept-encoding': 'identity', ...options.headers },
    signal: options.signal,
    ...(username ? { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` } : {}),
    ...(options.verifySsl === false ? { rejectUnauthorized: false } : {}),
  };
  return new Promise((resolve, reject) => {
    const started = request(url, settings, (answer) => {
      clearTimeout(connecting);
      resolve(answer);
    });
    const connecting = setTimeout(
      () => started.destroy(new Error('Timeout while connecting')),
      options.connectTimeoutMs,
    );
    started.setTimeout(options.requestTimeoutMs, () => started.destroy(new Error('Timeout during request')));
    started.on('socket', (socket) => socket.once('connect', () => clearTimeout(connecting)));
    started.on('error', (error) => {
      clearTimeout(connecting);
      reject(error);
    });
    started.end();
  });
}

/** The body; one that ends before its announced length is a failure, not a short file. */
async function* bodyOf(answer: IncomingMessage, shown: string): AsyncGenerator<Uint8Array> {
  const announced = Number(answer.headers['content-length'] ?? Number.NaN);
  let length = 0;
  try {
    for await (const chunk of answer) {
      length += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
  } catch (error) {
    throw failed(netReason(error), shown);
  }
  if (!answer.complete || (Number.isFinite(announced) && length !== announced))
    throw failed('the answer ended early', shown);
}
