// `/logout`: the token is dead at once.
import { newDict } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import { cookieHeader } from '../http/credentials.ts';
import type { Exchange } from '../http/exchange.ts';
import type { Caller } from '../master.ts';

export async function logout({ master, settings }: Api, exchange: Exchange, caller: Caller): Promise<void> {
  await exchange.body();
  await master.logout(caller.token, exchange.peer.address);
  const gone = { path: settings.rootPrefix, seconds: 0, secure: exchange.peer.secure, foreign: false };
  exchange.send({
    value: newDict([['return', 'Your token has been cleared']]),
    headers: settings.enableSessions ? { 'Set-Cookie': cookieHeader('', gone) } : {},
  });
}
