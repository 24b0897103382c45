// One HTTP request of an extension: time limit, certificates, and errors that name the server and never a secret.

import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { HaliteError, messageOf } from 'halite/sdk';
import { readFile } from 'halite/sdk/fs';

export interface HttpTls {
  /** false accepts every certificate. */
  readonly verify?: boolean;
  /** Files. */
  readonly ca?: string | null;
  readonly cert?: string | null;
  readonly key?: string | null;
}

export interface HttpCall {
  /** The name of the service in messages: `elasticsearch`. */
  readonly service: string;
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Sent as a form instead of `body`. */
  readonly form?: Readonly<Record<string, string>>;
  /** Text sent as JSON instead of `body`. */
  readonly json?: string;
  readonly timeoutMs?: number;
  readonly tls?: HttpTls;
  /** Additional statuses that are not errors. */
  readonly accept?: readonly number[];
  /** The maximum number of redirects for a request without a body; default: none. */
  readonly redirects?: number;
  /** The maximum size of an answer in bytes. */
  readonly maxBytes?: number;
  /** Never shown in a message. */
  readonly secrets?: readonly (string | null | undefined)[];
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const defaultMaxBytes = 64 * 1024 * 1024;
const defaultTimeoutMs = 30_000;

/** Sends a request; throws store.unavailable when a retry may help and call.failed when the server refused it. */
export async function httpCall(call: HttpCall): Promise<HttpAnswer> {
  const url = addressOf(call);
  const answer = await attempt(call, url).catch((error: unknown) => {
    throw notReached(call, url, error);
  });
  const elsewhere = redirectOf(call, url, answer);
  if (elsewhere) return httpCall(elsewhere);
  if ((answer.status >= 200 && answer.status < 300) || call.accept?.includes(answer.status)) return answer;
  throw refused(call, url, answer);
}

function addressOf(call: HttpCall): URL {
  const url = URL.canParse(call.url) ? new URL(call.url) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  // The address may contain a password or token, so the message does not repeat it.
  throw new HaliteError('config.value', `The address of ${call.service} is not an http or https address`);
}

const redirectStatuses = [301, 302, 303, 307, 308];

/** The request for the address of a redirect. Credentials are not sent to another server. */
function redirectOf(call: HttpCall, url: URL, { status, headers }: HttpAnswer): HttpCall | undefined {
  const { location } = headers;
  const left = call.redirects ?? 0;
  if (left === 0 || !redirectStatuses.includes(status) || typeof location !== 'string') return undefined;
  if (bodyOf(call) !== undefined || !URL.canParse(location, url.href)) return undefined;
  const target = new URL(location, url);
  const isSameServer = target.origin === url.origin;
  if (isSameServer && target.username === '') [target.username, target.password] = [url.username, url.password];
  const kept = Object.entries(call.headers ?? {}).filter(
    ([name]) => isSameServer || !['authorization', 'cookie'].includes(name.toLowerCase()),
  );
  return { ...call, url: target.href, headers: Object.fromEntries(kept), redirects: left - 1 };
}

/** A server may close an idle connection just when it is reused: the request is then sent again. */
async function attempt(call: HttpCall, url: URL): Promise<HttpAnswer> {
  const first: { request?: ClientRequest } = {};
  try {
    return await exchange(call, url, first);
  } catch (error) {
    if (first.request?.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET') {
      return exchange(call, url, {});
    }
    throw error;
  }
}

async function exchange(call: HttpCall, url: URL, started: { request?: ClientRequest }): Promise<HttpAnswer> {
  const body = bodyOf(call);
  // Without AbortSignal.any: derived signals would accumulate at a signal that lives as long as the daemon.
  const limit = new AbortController();
  const stop = (): void => limit.abort();
  const timer = setTimeout(stop, call.timeoutMs ?? defaultTimeoutMs);
  call.signal?.addEventListener('abort', stop, { once: true });
  if (call.signal?.aborted) stop();
  const options: RequestOptions = {
    method: call.method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...headersOf(call, url), ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
    signal: limit.signal,
  };
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  try {
    const request = await startRequest(bare, options, call.tls ?? {});
    started.request = request;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', reject);
      request.end(body);
    });
    return {
      status: answer.statusCode ?? 0,
      headers: answer.headers,
      text: await textOf(answer, call.maxBytes ?? defaultMaxBytes),
    };
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', stop);
  }
}

async function startRequest(url: URL, options: RequestOptions, tls: HttpTls): Promise<ClientRequest> {
  if (url.protocol === 'http:') return (await import('node:http')).request(url, options);
  const { request } = await import('node:https');
  const files = await Promise.all([tls.ca, tls.cert, tls.key].map((file) => (file ? readFile(file) : undefined)));
  const [ca, cert, key] = files;
  const secrets = { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
  return request(url, { ...options, ...secrets, rejectUnauthorized: tls.verify ?? true });
}

function bodyOf(call: HttpCall): string | Uint8Array | undefined {
  if (call.form) return new URLSearchParams(call.form).toString();
  return call.json ?? call.body;
}

function headersOf(call: HttpCall, url: URL): Record<string, string> {
  const headers: Record<string, string> = { accept: '*/*' };
  if (call.form) headers['content-type'] = 'application/x-www-form-urlencoded';
  if (call.json !== undefined) headers['content-type'] = 'application/json';
  if (url.username !== '' || url.password !== '') {
    headers['authorization'] = basicAuth(decoded(url.username), decoded(url.password));
  }
  for (const [name, value] of Object.entries(call.headers ?? {})) headers[name.toLowerCase()] = value;
  return headers;
}

/** A text with a plain percent sign, which is not an escape, is returned unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const basicAuth = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

async function textOf(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > maxBytes) {
      answer.destroy();
      throw new Error(`the answer is larger than ${maxBytes} bytes`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Removes secrets from a text for the log. */
function clean(text: string, call: HttpCall, url: URL): string {
  const hidden = [...(call.secrets ?? []), url.password, decoded(url.password)];
  return hidden.reduce<string>((left, secret) => (secret ? left.replaceAll(secret, '***') : left), text);
}

function notReached(call: HttpCall, url: URL, error: unknown): HaliteError {
  if (error instanceof HaliteError) return error;
  const late = error instanceof Error && error.name === 'AbortError';
  const seconds = (call.timeoutMs ?? defaultTimeoutMs) / 1000;
  const stopped = late && call.signal?.aborted === true;
  const why = stopped ? 'the job ended' : late ? `no answer within ${seconds} seconds` : innermost(error);
  return new HaliteError(
    'store.unavailable',
    `${call.service} at ${url.host} cannot be reached: ${clean(why, call, url)}`,
  );
}

/** When several addresses of a name fail, the combined error has no message. */
function innermost(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return messageOf(error);
}

function refused(call: HttpCall, url: URL, answer: HttpAnswer): HaliteError {
  const said = clean(answer.text.replace(/\s+/g, ' ').trim(), call, url).slice(0, 300);
  const text = `${call.service} at ${url.host} answered ${answer.status}${said === '' ? '' : `: ${said}`}`;
  const again = answer.status >= 500 || answer.status === 429 || answer.status === 408;
  return new HaliteError(again ? 'store.unavailable' : 'call.failed', text, { details: { status: answer.status } });
}

/** `base` and further parts with exactly one slash between. */
export const joinUrl = (base: string, ...parts: readonly string[]): string =>
  [base.replace(/\/+$/, ''), ...parts.map((part) => part.replace(/^\/+/, ''))].join('/');

/** `host:port` for addresses, also of IPv6 hosts. */
export const hostPort = (host: string, port: number): string =>
  `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
