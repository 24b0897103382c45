// `/`: the list of clients, and calls with the token of the request. `/run`: calls with credentials in each of them.
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import { bodyValue } from '../http/body.ts';
import { ApiError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { chunksOf, credentialsIn } from '../lowstate/chunk.ts';
import { clientNames } from '../lowstate/clients.ts';
import { runChunks } from '../lowstate/run.ts';
import type { Caller } from '../master.ts';

export async function welcome(_api: Api, exchange: Exchange): Promise<void> {
  exchange.send({
    value: newDict([
      ['return', 'Welcome'],
      ['clients', [...clientNames]],
    ]),
  });
}

export async function lowstateOf(exchange: Exchange): Promise<PlainDict[]> {
  const body = await exchange.body();
  if (!body) throw new ApiError(400, 'Lowstates must be a list');
  return chunksOf(bodyValue(body));
}

export async function root(api: Api, exchange: Exchange, caller: Caller): Promise<void> {
  const chunks = await lowstateOf(exchange);
  const { master, settings, limits } = api;
  const parts = { master, settings, from: exchange.peer.address, signal: exchange.signal };
  const items = await limits.run(nameOf(caller), () => runChunks(parts, chunks, () => ({ token: caller.token })));
  exchange.sendItems(items);
}

export const nameOf = ({ eauth, name }: Caller): string => `${eauth}:${name}`;

export async function runLowstate(api: Api, exchange: Exchange): Promise<void> {
  const chunks = await lowstateOf(exchange);
  const { master, settings, limits } = api;
  const parts = { master, settings, from: exchange.peer.address, signal: exchange.signal };
  // Who the callers are is known only to the master: this address shares the places.
  const items = await limits.run(`address ${exchange.peer.address}`, () => runChunks(parts, chunks, credentialsIn));
  exchange.sendItems(items);
}
