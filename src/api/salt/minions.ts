// `/minions`: the grains of minions, and jobs for them that are not waited for.
import { readValue } from '../../base/codec/json/index.ts';
import { fieldOf, newDict } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import type { Exchange } from '../http/exchange.ts';
import { chunksOf } from '../lowstate/chunk.ts';
import { runChunks } from '../lowstate/run.ts';
import type { Caller } from '../master.ts';
import { lowstateOf, nameOf } from './root.ts';

export async function minions(api: Api, exchange: Exchange, caller: Caller, id: string): Promise<void> {
  const chunk = newDict(Object.entries({ client: 'local', tgt: id || '*', fun: 'grains.items' }));
  exchange.sendItems(await runFor(api, exchange, caller, chunksOf(chunk)));
}

export async function startOnMinions(api: Api, exchange: Exchange, caller: Caller): Promise<void> {
  const chunks = (await lowstateOf(exchange)).map((chunk) =>
    newDict([...Object.entries(chunk), ['client', 'local_async']]),
  );
  const items = (await runFor(api, exchange, caller, chunks)).map(readValue);
  const jids = items.map((item) => fieldOf(item, 'jid')).filter((jid) => typeof jid === 'string');
  const jobs = jids.map((jid) => newDict([['href', `/jobs/${jid}`]]));
  exchange.send({
    status: 202,
    value: newDict([
      ['return', items],
      ['_links', newDict([['jobs', jobs]])],
    ]),
  });
}

export function runFor(
  { master, settings, limits }: Api,
  { peer, signal }: Exchange,
  caller: Caller,
  chunks: Parameters<typeof runChunks>[1],
) {
  const parts = { master, settings, from: peer.address, signal };
  return limits.run(nameOf(caller), () => runChunks(parts, chunks, () => ({ token: caller.token })));
}
