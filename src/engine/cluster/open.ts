// Opens the cluster that the configuration describes: alone, or with NATS, which is loaded only then.
import type { Logger } from '../../base/log/index.ts';
import { type AloneParts, aloneCluster } from './alone.ts';
import type { Cluster } from './api.ts';
import type { Identity } from './identity.ts';
import type { ClusterOptions } from './options.ts';
import type { BusKeys, HeldSpool } from './ports.ts';

export interface ClusterParts extends AloneParts {
  /** Absent: a master without others. */
  readonly options: ClusterOptions | undefined;
  readonly log: Logger;
  /** How long the history is kept, in seconds; 0 keeps it as long as there is space. */
  readonly keepSeconds: number;
  /** Used by a cluster of several only. */
  readonly busKeys: () => BusKeys;
  /** For what is sealed for this member alone; undefined for one that has none yet. */
  readonly identity: () => Identity | undefined;
  readonly held: () => Promise<HeldSpool>;
}

export async function openCluster(parts: ClusterParts): Promise<Cluster> {
  const { options } = parts;
  if (!options) return aloneCluster(parts);
  const { openNatsCluster } = await import('./nats/open.ts');
  return openNatsCluster({ ...parts, options });
}
