// Who a request is from: its token, as the master knows it.
import type { Api } from './api.ts';
import { isOwnOrigin } from './http/cors.ts';
import { givenToken } from './http/credentials.ts';
import { ApiError, noPermission } from './http/errors.ts';
import type { Exchange } from './http/exchange.ts';
import { isHex } from './lowstate/chunk.ts';
import type { Caller } from './master.ts';

export async function callerOf(
  { master, settings }: Api,
  exchange: Exchange,
  missing: () => ApiError = noPermission,
): Promise<Caller> {
  const { request, peer, method } = exchange;
  const given = givenToken(request.headers, settings.enableSessions);
  if (!given || !isHex(given.token)) throw missing();
  const who = await master.whoIs(given.token, peer.address);
  if (!who) throw missing();
  exchange.user = who.name;
  const changes = method !== 'GET' && method !== 'HEAD';
  const origin = { headers: request.headers, secure: peer.secure, allowed: settings.corsOrigin };
  if (given.byCookie && changes && !isOwnOrigin(origin))
    throw new ApiError(403, 'This page may not use the cookie of another one', {
      hint: 'Send the token in the header X-Auth-Token, or list the origin of the page in cors_origin.',
    });
  return { ...who, token: given.token };
}
