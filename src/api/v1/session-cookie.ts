// The cookie of a session, as browsers get it from our own API.
import type { Api } from '../api.ts';
import { cookieHeader } from '../http/credentials.ts';
import type { Exchange } from '../http/exchange.ts';

/** An empty token ends it. */
export function sessionCookie({ settings }: Api, exchange: Exchange, token: string, seconds: number): string {
  const foreign = token !== '' && settings.corsOrigin.some((origin) => origin !== '*');
  return cookieHeader(token, { path: settings.rootPrefix, seconds, secure: exchange.peer.secure, foreign });
}
