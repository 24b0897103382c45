// One request over HTTP or HTTPS: redirects, a proxy, certificates, limits of time and size.
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';

export interface WebProxy {
  readonly host: string;
  readonly port: number;
  /** `name:password`. */
  readonly auth: string | undefined;
}

export interface WebRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `name:password` for basic authentication. */
  readonly auth: string | undefined;
  readonly body: string | Uint8Array | undefined;
  readonly tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>;
  readonly proxy: WebProxy | undefined;
  readonly connectMs: number;
  readonly totalMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface WebResponse {
  readonly status: number;
  readonly reason: string;
  /** Names as `Content-Type`; several of one name joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly url: string;
}

const maxRedirects = 5;

/** `content-type` → `Content-Type`. */
const titled = (name: string): string =>
  name.replace(/[^-]+/g, (part) => part.charAt(0).toUpperCase() + part.slice(1).toLowerCase());

function headersOf(raw: readonly string[]): Record<string, string> {
  const found: Record<string, string> = Object.create(null) as Record<string, string>;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = titled(raw[i] ?? '');
    found[name] = found[name] === undefined ? (raw[i + 1] ?? '') : `${found[name]},${raw[i + 1]}`;
  }
  return found;
}

/** A tunnel through a proxy to a TLS server. */
async function tunnel(url: URL, proxy: WebProxy, request: WebRequest): Promise<Socket> {
  const { request: ask } = await import('node:http');
  return new Promise((resolve, reject) => {
    const target = `${url.hostname}:${url.port || 443}`;
    const started = ask({
      host: proxy.host,
      port: proxy.port,
      method: 'CONNECT',
      path: target,
      signal: request.signal,
      timeout: request.connectMs,
      headers: { host: target, ...(proxy.auth ? { 'proxy-authorization': basic(proxy.auth) } : {}) },
    });
    started.on('connect', (answer, socket) => {
      if (answer.statusCode === 200) resolve(socket);
      else {
        socket.destroy();
        reject(new Error(`HTTP ${answer.statusCode}: ${answer.statusMessage}`));
      }
    });
    started.on('timeout', () => started.destroy(new Error('HTTP 599: Timeout while connecting')));
    started.on('error', reject);
    started.end();
  });
}

const basic = (auth: string): string => `Basic ${Buffer.from(auth).toString('base64')}`;

async function start(url: URL, request: WebRequest, settings: RequestOptions): Promise<ClientRequest> {
  const { proxy } = request;
  if (url.protocol === 'https:') {
    const { request: ask } = await import('node:https');
    if (!proxy) return ask(url, { ...settings, ...request.tls });
    const { connect } = await import('node:tls');
    const socket = await tunnel(url, proxy, request);
    const secure = connect({ ...request.tls, socket, servername: url.hostname });
    return ask(url, { ...settings, createConnection: () => secure });
  }
  const { request: ask } = await import('node:http');
  if (!proxy) return ask(url, settings);
  const headers = { ...settings.headers, ...(proxy.auth ? { 'proxy-authorization': basic(proxy.auth) } : {}) };
  return ask({
    ...settings,
    host: proxy.host,
    port: proxy.port,
    path: url.href,
    headers: { host: url.host, ...headers },
  });
}

async function once(url: URL, request: WebRequest): Promise<WebResponse> {
  const settings: RequestOptions = {
    method: request.method,
    headers: request.headers,
    signal: request.signal,
    ...(request.auth === undefined ? {} : { auth: request.auth }),
  };
  const started = await start(url, request, settings);
  let connecting: NodeJS.Timeout | undefined;
  let total: NodeJS.Timeout | undefined;
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const end = (text: string) => () => started.destroy(new Error(text));
      connecting = setTimeout(end('HTTP 599: Timeout while connecting'), request.connectMs);
      total = setTimeout(end('HTTP 599: Timeout during request'), Math.min(request.totalMs, 2 ** 31 - 1));
      started.on('socket', (socket) => {
        // A reused socket is already connected.
        if (socket.connecting) socket.once('connect', () => clearTimeout(connecting));
        else clearTimeout(connecting);
      });
      started.on('response', resolve);
      started.on('error', reject);
      started.end(request.body);
    });
    return await received(answer, url, request.maxBytes);
  } finally {
    clearTimeout(connecting);
    clearTimeout(total);
  }
}

async function received(answer: IncomingMessage, url: URL, maxBytes: number): Promise<WebResponse> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > maxBytes) {
      answer.destroy();
      throw new Error('HTTP 599: Content-Length too long');
    }
    pieces.push(piece);
  }
  return {
    status: answer.statusCode ?? 0,
    reason: answer.statusMessage || 'Unknown',
    headers: headersOf(answer.rawHeaders),
    body: Buffer.concat(pieces),
    url: url.href,
  };
}

/** Sends the request and follows redirects. Credentials are only sent to the server they were given for. */
export async function ask(request: WebRequest): Promise<WebResponse> {
  let current = request;
  let url = new URL(request.url);
  for (let left = maxRedirects; ; left--) {
    const answer = await once(url, current);
    const location = answer.headers['Location'];
    if (![301, 302, 303, 307, 308].includes(answer.status) || location === undefined || left === 0) return answer;
    const next = new URL(location, url);
    if (next.protocol !== 'http:' && next.protocol !== 'https:') return answer;
    const asGet = answer.status === 303 || (answer.status === 302 && current.method === 'POST');
    const headers = Object.fromEntries(
      Object.entries(current.headers).filter(([name]) => !/^(?:authorization|cookie)$/i.test(name)),
    );
    current = {
      ...current,
      ...(asGet ? { method: 'GET', body: undefined } : {}),
      ...(next.origin === url.origin ? {} : { auth: undefined, headers }),
    };
    url = next;
  }
}
