// What the master remembers of minions, for the roster `cache`: from the running master, or from its store.
import { join } from 'node:path';
import { readValue } from '../base/codec/json/index.ts';
import { asDict, type Dict, dictEntries, newDict, type Value } from '../base/codec/value.ts';
import type { MasterOpts } from '../base/config/opts.ts';
import type { LocalClient } from '../engine/client/api.ts';
import { connectLocal } from '../engine/client/local.ts';
import type { KnownMinion, RosterTarget } from '../extend/sdk/index.ts';
import { matches, parseTarget } from '../protocol/target/index.ts';

type Known = ReadonlyMap<string, KnownMinion>;

export async function knownMinions(opts: MasterOpts, target: RosterTarget): Promise<Known> {
  const client = await connectLocal(opts).catch(() => undefined);
  if (!client) return fromStore(opts, target);
  try {
    return await fromMaster(client, target);
  } finally {
    client.close();
  }
}

async function ask(client: LocalClient, fun: string, { tgt, kind }: RosterTarget): Promise<ReadonlyMap<string, Dict>> {
  const target: Value = typeof tgt === 'string' ? tgt : [...tgt];
  const found = new Map<string, Dict>();
  for await (const item of client.runner(fun, [target], newDict([['tgt_type', kind]]))) {
    if (item.type !== 'result') continue;
    for (const [id, data] of dictEntries(asDict(readValue(item.ret)) ?? newDict()))
      found.set(String(id), asDict(data) ?? newDict());
  }
  return found;
}

async function fromMaster(client: LocalClient, target: RosterTarget): Promise<Known> {
  const grains = await ask(client, 'cache.grains', target);
  const [pillars, mines] = [await ask(client, 'cache.pillar', target), await ask(client, 'cache.mine', target)];
  return new Map(
    [...grains].map(([id, each]) => [
      id,
      { grains: each, pillar: pillars.get(id) ?? newDict(), mine: mines.get(id) ?? newDict() },
    ]),
  );
}

async function fromStore(opts: MasterOpts, { tgt, kind }: RosterTarget): Promise<Known> {
  const { SqliteJobStore } = await import('../store/sqlite/store.ts');
  const store = await SqliteJobStore.open(join(opts.cachedir, 'halite.db'), { news: () => undefined });
  try {
    const target = parseTarget(tgt, kind, { nodegroups: asDict(opts.raw['nodegroups']) });
    const mines = await store.loadMine();
    const known = new Map<string, KnownMinion>();
    for (const [id, { grains, pillar }] of await store.loadMinionData())
      if (matches(target, { id, grains, pillar }) === 'match')
        known.set(id, { grains, pillar, mine: mines.get(id) ?? newDict() });
    return known;
  } finally {
    await store.close();
  }
}
