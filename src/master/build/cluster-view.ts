// Builds what operators see of the cluster: its state, and how its members differ.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import { fingerprint } from '../../base/crypto/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { keepSeconds } from '../../base/util/keep-jobs.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { ClusterReport } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { Drift } from '../shared/drift.ts';
import type { SharedHistory } from '../shared/history.ts';
import type { SharedKeys } from '../shared/keys.ts';
import type { Drain } from '../shared/leaving/drain.ts';
import type { SharedPresence } from '../shared/presence.ts';
import { Repair } from '../shared/repair.ts';
import { ClusterStatus } from '../shared/status.ts';
import { RootSync } from '../shared/sync/sync.ts';
import { type Listed, Trees } from '../shared/trees.ts';
import type { Records } from './records.ts';

export interface ClusterViewParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly cluster: Cluster;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly fleet: Pick<Fleet, 'ownConnections'>;
  readonly presence: Pick<SharedPresence, 'unknown'>;
  readonly records: Pick<Records, 'store' | 'compared'>;
  readonly history: SharedHistory;
  /** Only with other masters. */
  readonly keys: Pick<SharedKeys, 'overruled'> | undefined;
  readonly drain: Pick<Drain, 'since'>;
  readonly rekey: () => ClusterReport['rekey'];
}

export interface BuiltClusterView {
  readonly view: ClusterStatus;
  stop(): Promise<void>;
}

export function buildClusterView(parts: ClusterViewParts): BuiltClusterView {
  const { opts, log, cluster, bus, fleet, presence, records, history, keys, drain: draining, rekey } = parts;
  const [served, pillars] = [new Trees(), new Trees()];
  const listed = async (trees: Trees, roots: Readonly<Record<string, readonly string[]>>) => {
    const found = new Map<string, readonly Listed[]>();
    for (const [env, folders] of Object.entries(roots)) found.set(env, await trees.list(folders));
    return found;
  };
  const drift = Drift.open({
    ...{ opts, log, cluster, bus },
    files: () => listed(served, opts.file_roots as Readonly<Record<string, readonly string[]>>),
    keys: () => publicKeys(opts.pki_dir),
    pillars: () => listed(pillars, opts.pillar_roots as Readonly<Record<string, readonly string[]>>),
  });
  const { store, compared } = records;
  const repair =
    compared && new Repair({ cluster, log, store: compared, keepSeconds: keepSeconds(opts.raw), listener: history });
  const view = new ClusterStatus({
    overruled: () => keys?.overruled,
    ...{ rekey, drainedSince: (id: string) => draining.since(id) },
    ...{ cluster, drift, repair, store, sync: new RootSync({ cluster, log, raw: opts.raw }) },
    minions: () => new Set([...fleet.ownConnections()].map(([id]) => id)).size,
    unknown: () => presence.unknown(),
  });
  const stop = async (): Promise<void> => {
    drift?.close();
    await repair?.stop();
  };
  return { view, stop };
}

/** The keys by which minions know their masters. */
function publicKeys(folder: string): Map<string, string> {
  const prints = new Map<string, string>();
  for (const [name, file] of [
    ['key of the master', 'master.pub'],
    ['key that signs keys', 'master_sign.pub'],
  ] as const) {
    const path = join(folder, file);
    if (existsSync(path)) prints.set(name, fingerprint(readFileSync(path, 'utf8')));
  }
  return prints;
}
