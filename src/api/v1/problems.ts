// Errors of our own API: RFC 9457. They tell nothing about what the caller may not see.
import { randomBytes } from 'node:crypto';
import { dumpJson } from '../../base/codec/json/index.ts';
import { newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { ApiError, tooMany } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';

const titles: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'No valid token',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Wrong method',
  406: 'Not acceptable',
  408: 'Too slow',
  409: 'Conflict',
  413: 'Too large',
  415: 'Wrong type of content',
  422: 'It cannot be done',
  429: 'Too many requests',
  500: 'Unexpected error',
  503: 'Not available now',
  504: 'No answer in time',
};

const statuses: Readonly<Record<string, number>> = {
  'auth.failed': 401,
  'auth.denied': 403,
  'call.unknown': 404,
  'call.arguments': 400,
  'cli.usage': 400,
  'target.syntax': 400,
  'target.cost': 400,
  'target.empty': 422,
  'codec.limit': 400,
  'codec.malformed': 400,
  'path.refused': 400,
  'call.failed': 422,
  'render.failed': 422,
  'cluster.conflict': 409,
  'cluster.cut-off': 503,
  'cluster.refused': 422,
  'store.unavailable': 503,
  'daemon.unreachable': 503,
  'wire.closed': 503,
  'wire.timeout': 504,
};

/** An error as an answer; undefined for what nobody foresaw. */
export function problemOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (!(error instanceof HaliteError)) return undefined;
  const { code, message, hint } = error;
  const status = statuses[code];
  if (status === undefined) return undefined;
  if (status === 503 && code !== 'store.unavailable' && code !== 'cluster.cut-off')
    return new ApiError(503, 'The master is not available.', { code, headers: { 'Retry-After': '2' } });
  if (message.startsWith('The daemon accepts no more')) return tooMany(message);
  const wait = code === 'auth.failed' ? /(\d+) seconds/.exec(hint ?? '')?.[1] : undefined;
  if (wait !== undefined) return new ApiError(429, message, { code, hint, headers: { 'Retry-After': wait } });
  return new ApiError(status, message, { code, hint });
}

export const problemType = 'application/problem+json';

/** Names one request in the answer, the log and the audit. */
export const newRequestId = (): string => randomBytes(8).toString('hex');

export function sendProblem(exchange: Exchange, { status, message, extras }: ApiError, request: string): void {
  // What has begun cannot become an error any more: the client sees that it was cut.
  if (exchange.response.headersSent) {
    if (!exchange.response.writableEnded) exchange.response.destroy();
    return;
  }
  const code = extras.code ?? `http.${status}`;
  const fields: [string, Value][] = [
    ['type', `urn:halite:error:${code}`],
    ['title', titles[status] ?? 'Error'],
    ['status', status],
    ['detail', message],
    ['code', code],
    ...(extras.hint ? [['hint', extras.hint] as [string, Value]] : []),
    ['request', request],
  ];
  exchange.sendRaw({
    status,
    bytes: Buffer.from(dumpJson(newDict(fields), { ensureAscii: false })),
    headers: {
      'Content-Type': problemType,
      'Cache-Control': 'no-store',
      ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
      ...extras.headers,
    },
  });
}

export const notThere = (): ApiError => new ApiError(404, 'There is no such thing.');
