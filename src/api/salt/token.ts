// `/token`: tokens for names and passwords, as a bare list.
import { textField } from '../../base/codec/fields.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import { certificateModule } from '../client-certificates.ts';
import { ApiError, noPermission } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { logIn } from '../log-in.ts';
import { numberOf } from '../lowstate/chunk.ts';
import { lowstateOf } from './root.ts';

const mostLogins = 16;

export async function token(api: Api, exchange: Exchange): Promise<void> {
  const chunks = await lowstateOf(exchange);
  if (chunks.length > mostLogins) throw new ApiError(400, `A request has at most ${mostLogins} logins`);
  const made: Value[] = [];
  for (const { seconds, ...login } of chunks.map(loginOf))
    made.push(withoutPerms(await logIn(api, exchange, { login, seconds, refused: noPermission })));
  exchange.send({ value: made, headers: { 'Cache-Control': 'no-store' } });
}

function loginOf(chunk: PlainDict) {
  const eauth = textField(chunk, 'eauth');
  const usual = eauth === certificateModule ? '' : undefined;
  const [username = usual, password = usual] = ['username', 'password'].map((name) => textField(chunk, name));
  if (eauth === undefined || username === undefined || password === undefined)
    throw new ApiError(400, 'Require "username", "password", and "eauth" params');
  return { eauth, username, password, seconds: numberOf(chunk['token_expire']) };
}

const withoutPerms = (made: PlainDict): PlainDict => newDict(Object.entries(made).filter(([name]) => name !== 'perms'));
