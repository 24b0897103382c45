// Grains, pillar and mine data of minions through the registry: every member can target by them and answer for them.
import { asDict, type Dict, dictGet, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { MinionData } from '../../store/jobs.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Mine } from '../fleet/mine.ts';
import { SharedRecords } from './records.ts';

export interface MinionDataParts {
  readonly cluster: Pick<Cluster, 'name' | 'registry' | 'onChange'>;
  readonly opts: { readonly raw: PlainDict };
  readonly log: Pick<Logger, 'debug' | 'limited'>;
  readonly keys: Pick<KeyStore, 'has'>;
  readonly fleet: Pick<Fleet, 'allData' | 'data' | 'adoptData' | 'shareData'>;
  readonly mine: Pick<Mine, 'all' | 'adopt' | 'share'>;
}

/** The returned function ends it. */
export function shareMinionData(parts: MinionDataParts): () => void {
  const { fleet, mine, keys } = parts;
  const withPillar = parts.opts.raw['pillar_cache_shared'] !== false;
  const shown = ({ grains, pillar }: MinionData): Value => (withPillar ? { grains, pillar } : { grains });
  const common = { cluster: parts.cluster, log: parts.log, isKnown: (id: string) => keys.has('accepted', id) };
  const data = SharedRecords.open({
    ...common,
    bucket: 'data',
    own: () => [...fleet.allData()].map(([id, each]) => [id, shown(each)] as const),
    changed: (id, value) => fleet.adoptData(id, value === undefined ? undefined : readData(value, fleet.data(id))),
  });
  const values = SharedRecords.open({
    ...common,
    bucket: 'mine',
    own: () => mine.all(),
    changed: (id, value) => mine.adopt(id, asDict(value ?? null) ?? newDict()),
  });
  if (!data || !values) return () => undefined;
  fleet.shareData((id, each) => (each ? data.put(id, shown(each)) : data.remove(id)));
  mine.share((id, each) => (each ? values.put(id, each) : values.remove(id)));
  return () => {
    data.close();
    values.close();
  };
}

/** A member that keeps its pillars to itself tells the grains only. */
function readData(value: Value, before: MinionData | undefined): MinionData {
  const dict = asDict(value) ?? newDict();
  const field = (name: string): Dict | undefined => asDict(dictGet(dict, name));
  return { grains: field('grains') ?? newDict(), pillar: field('pillar') ?? before?.pillar ?? newDict() };
}
