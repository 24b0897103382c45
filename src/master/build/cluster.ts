// Builds the cluster of this master: its own places on disk, the keys of the bus, and what the option `cluster` says.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import { giveTo, placeNew } from '../../base/crypto/key-files.ts';
import type { Logger } from '../../base/log/index.ts';
import { keepSeconds } from '../../base/util/keep-jobs.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import { busKeyFile, fileBusKeys } from '../../engine/cluster/bus-keys.ts';
import { type Identity, identityFile, newIdentityPem, readIdentity } from '../../engine/cluster/identity.ts';
import type { ManagedServer } from '../../engine/cluster/nats-server/managed.ts';
import { openCluster } from '../../engine/cluster/open.ts';
import { type ClusterOptions, readClusterOptions } from '../../engine/cluster/options.ts';
import { openHeldSpool } from '../../store/spool/held.ts';
import { openSmallTable } from '../../store/sqlite/local-table.ts';

export interface OpenedCluster {
  readonly cluster: Cluster;
  /** Absent: a master without others. */
  readonly options: ClusterOptions | undefined;
  /** Of this member: what others seal for it. */
  readonly identity: Identity | undefined;
  close(): Promise<void>;
}

export async function buildCluster(opts: MasterOpts, log: Logger): Promise<OpenedCluster> {
  const wanted = readClusterOptions(opts.cluster);
  const id = String(opts.id).replace(/_master$/, '');
  const folder = join(opts.cachedir, 'cluster');
  const table = await openSmallTable(join(folder, 'own.db'));
  let closeHeld = async (): Promise<void> => undefined;
  let server: ManagedServer | undefined;
  try {
    if (wanted?.managed) {
      const { startManagedServer } = await import('../../engine/cluster/nats-server/managed.ts');
      server = await startManagedServer({ id, options: wanted, cachedir: opts.cachedir, log });
    }
    const identity = wanted && (await ownIdentity(opts));
    const options = server && wanted ? { ...wanted, login: server.login } : wanted;
    const cluster = await openCluster({
      ...{ options, table, log: log.child('cluster') },
      id,
      addresses: [`${opts.interface}:${opts.ret_port}`],
      keepSeconds: keepSeconds(opts.raw),
      busKeys: () => fileBusKeys(join(opts.pki_dir, busKeyFile)),
      identity: () => identity,
      held: async () => {
        const { spool, close } = await openHeldSpool(join(folder, 'held'), log);
        closeHeld = close;
        return spool;
      },
    });
    const close = async (): Promise<void> => {
      await cluster.close();
      await closeHeld();
      await server?.stop();
      table.close();
    };
    return { cluster, options, identity, close };
  } catch (error) {
    await closeHeld();
    await server?.stop();
    table.close();
    throw error;
  }
}

/** Made for a member that got its keys by hand. */
async function ownIdentity(opts: MasterOpts): Promise<Identity> {
  const file = join(opts.pki_dir, identityFile);
  if (existsSync(opts.pki_dir) && (await placeNew(file, newIdentityPem(), 0o400))) await giveTo(opts.user, [file]);
  return readIdentity(file);
}
