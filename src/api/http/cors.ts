// Which web pages of other origins may read the answers, and which requests come from such pages.
import type { IncomingHttpHeaders } from 'node:http';

export interface OriginFacts {
  readonly headers: IncomingHttpHeaders;
  readonly secure: boolean;
  /** `cors_origin`. */
  readonly allowed: readonly string[];
}

/** Whether the page that sent the request is one of this server, or of a listed origin. */
export function isOwnOrigin({ headers, secure, allowed }: OriginFacts): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return headers['sec-fetch-site'] !== 'cross-site';
  if (allowed.includes(origin)) return true;
  if (headers['sec-fetch-site'] === 'cross-site') return false;
  return host !== undefined && origin === `${secure ? 'https' : 'http'}://${host}`;
}

/** Without a list every page may read answers, but never with the cookie of the user. */
export function corsHeaders({ headers, allowed }: OriginFacts): Record<string, string> {
  const { origin } = headers;
  const open = allowed.length === 0 || allowed.includes('*');
  const exposed = { 'Access-Control-Expose-Headers': 'X-Auth-Token' };
  if (origin !== undefined && allowed.includes(origin))
    return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Credentials': 'true', ...exposed };
  if (!open) return {};
  return { 'Access-Control-Allow-Origin': origin ?? '*', ...exposed };
}

const given = 'Content-Type, X-Auth-Token, X-Requested-With, Authorization';

/** For our own API, which has more methods and headers than Salt's. */
export const ownPreflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, POST, DELETE',
  'Access-Control-Allow-Headers': `${given}, Idempotency-Key, If-None-Match, Last-Event-ID`,
  'Access-Control-Max-Age': '1400',
};

export const preflightHeaders: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': given,
  'Access-Control-Max-Age': '1400',
};
