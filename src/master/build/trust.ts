// Builds what decides whom this master trusts, and how it proves itself: keys and secrets, its own or those of a cluster.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import type { Crypticle } from '../../base/crypto/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { Identity } from '../../engine/cluster/identity.ts';
import type { ClusterServices } from '../../extend/sdk/index.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { KeyStore } from '../../store/keys.ts';
import { Rollover, type RolloverStep, recoverKeys } from '../rollover/rollover.ts';
import { newBackup } from '../shared/backup.ts';
import { SharedKeyStore } from '../shared/key-store.ts';
import { SharedKeys } from '../shared/keys.ts';
import { catchUp, SharedRollover } from '../shared/rollover.ts';
import { clusterServices } from '../shared/services.ts';
import { SharedSignatures } from '../shared/signatures.ts';
import { KeySignatures } from '../sign-in/key-signatures.ts';
import { KeyRing, loadMasterKeys, type MasterKeyPair } from '../sign-in/master-keys.ts';
import { type BuiltSecrets, buildSecrets } from './secrets.ts';

export interface Trust extends BuiltSecrets {
  readonly keys: KeyStore;
  readonly signatures: KeySignatures;
  readonly rollover: Rollover;
  /** Only with other masters. */
  readonly sharedKeys?: SharedKeys;
  readonly sharedRollover?: SharedRollover;
  readonly sharedSignatures?: SharedSignatures;
  readonly services: ClusterServices;
  /** The keys that a minion may use in its session; none for one without an accepted key. */
  sessionKeys(id: string): Iterable<Crypticle>;
}

export interface TrustParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly cluster: Cluster;
  readonly identity: Identity | undefined;
}

export async function buildTrust({ opts, log, bus, cluster, identity }: TrustParts): Promise<Trust> {
  const permissive = { permissive: opts.permissive_pki_access };
  const store = cluster.name === undefined ? undefined : new SharedKeyStore(opts.pki_dir, permissive);
  const keys = store ?? new KeyStore(opts.pki_dir, permissive);
  keys.prepare();
  const { current: pair, former } = await ownKeys({ opts, log, cluster, identity });
  const signatures = new KeySignatures(opts, log);
  await signatures.prepare(pair);
  const built = await buildSecrets({ opts, log, bus, cluster, pair });
  const { secrets, aesChange } = built;
  secrets.ring.use(pair, former);
  let sharedRollover: SharedRollover | undefined;
  const rollover = new Rollover({
    ...{ opts, log, ring: secrets.ring },
    changed: async () => void (await aesChange.now()),
    ...(store ? { share: async (step: RolloverStep) => sharedRollover?.share(step) } : {}),
  });
  const trust = {
    ...{ ...built, keys, signatures, rollover },
    sessionKeys: (id: string): Iterable<Crypticle> => {
      const key = keys.accepted(id);
      return key ? secrets.sessions.accepted({ id, fingerprint: key.fingerprint }) : [];
    },
  };
  const member = cluster.self.id;
  if (!store) return { ...trust, services: clusterServices({ ...built, member }) };
  const folder = join(opts.cachedir, 'cluster');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const sharedKeys = new SharedKeys({
    ...{ cluster, log, folder, index: built.index },
    files: new KeyStore(opts.pki_dir, permissive),
    backup: () => newBackup(opts.cachedir),
  });
  await sharedKeys.start();
  store.share(sharedKeys, member);
  sharedRollover = new SharedRollover({
    ...{ cluster, identity, ring: secrets.ring, rollover, log },
    pkiDir: opts.pki_dir,
  });
  const sharedSignatures = new SharedSignatures({ cluster, identity, signatures, opts, log });
  const ending = sharedRollover;
  const close = (): void => {
    ending.close();
    sharedSignatures.close();
    sharedKeys.close();
    built.close();
  };
  return {
    ...trust,
    sharedKeys,
    sharedRollover,
    sharedSignatures,
    services: clusterServices({ ...built, member, sharedKeys }),
    close,
  };
}

/** What a killed master left half-done is completed, and what other members did while this one was away is done. */
async function ownKeys({ opts, log, cluster, identity }: Omit<TrustParts, 'bus'>): Promise<{
  current: MasterKeyPair;
  former?: MasterKeyPair | undefined;
}> {
  const own = recoverKeys(opts, await loadMasterKeys(opts));
  if (cluster.name === undefined) return own;
  const ring = new KeyRing(own.current);
  ring.use(own.current, own.former);
  // Nobody signs in yet: nothing follows from a changed key.
  const rollover = new Rollover({ opts, log, ring, changed: async () => {} });
  await catchUp({ cluster, identity, ring, rollover, log });
  return { current: ring.current, former: ring.former };
}
