// The token of a request: in the header, as a bearer token, or in the cookie that a login has set.
import type { IncomingHttpHeaders } from 'node:http';

const cookieName = 'session_id';

export interface GivenToken {
  readonly token: string;
  /** Browsers send the cookie by themselves, whichever page makes the request. */
  readonly byCookie: boolean;
}

/** Never from the URL: addresses are stored in logs and histories. */
export function givenToken(headers: IncomingHttpHeaders, sessions: boolean): GivenToken | undefined {
  // SaltGUI sends an empty header before it has a token.
  const header = headers['x-auth-token'];
  if (typeof header === 'string' && header !== '') return { token: header, byCookie: false };
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer) return { token: bearer, byCookie: false };
  const cookie = sessions ? cookieOf(headers.cookie ?? '') : undefined;
  return cookie ? { token: cookie, byCookie: true } : undefined;
}

function cookieOf(header: string): string | undefined {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (pair.slice(0, at).trim() === cookieName)
      return pair
        .slice(at + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1');
  }
  return undefined;
}

export interface CookieFacts {
  readonly path: string;
  readonly seconds: number;
  readonly secure: boolean;
  /** Pages of listed origins may use the cookie; browsers want TLS for that. */
  readonly foreign: boolean;
}

export function cookieHeader(token: string, { path, seconds, secure, foreign }: CookieFacts): string {
  const site = foreign && secure ? 'None' : 'Strict';
  const parts = [`${cookieName}=${token}`, `Path=${path || '/'}`, `Max-Age=${Math.max(0, Math.floor(seconds))}`];
  return [...parts, 'HttpOnly', `SameSite=${site}`, ...(secure ? ['Secure'] : [])].join('; ');
}
