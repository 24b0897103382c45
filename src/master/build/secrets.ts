// Builds the secrets of this master: its own, or those that the members of a cluster share.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MasterOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { onLostData } from '../shared/lost-data.ts';
import { checkMasterKey } from '../shared/master-key.ts';
import { Renewals } from '../shared/renewals.ts';
import { Rotation } from '../shared/rotation.ts';
import { giveBackSecrets, keepCopy, loadSharedSecrets, type SharedStart } from '../shared/secrets.ts';
import { SharedSessionSecret } from '../shared/session-secret.ts';
import { type AesChange, ownAesChange, sharedAesChange } from '../sign-in/aes-change.ts';
import { storedAesKey } from '../sign-in/aes-keys.ts';
import type { MasterKeyPair } from '../sign-in/master-keys.ts';
import { indexOf, ownSecret, storedSecret } from '../sign-in/own-secret.ts';
import { Secrets } from '../sign-in/secrets.ts';

export interface SecretBuildParts {
  readonly opts: Pick<MasterOpts, 'cachedir' | 'publish_session' | 'rotate_aes_key'>;
  readonly log: Logger;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly cluster: Cluster;
  readonly pair: MasterKeyPair;
}

export interface BuiltSecrets {
  readonly secrets: Secrets;
  readonly aesChange: AesChange;
  readonly renewals: Renewals;
  /** Before a minion gets keys: while members change the AES key, it waits for the new one. */
  settled(): Promise<void>;
  /** Names minions in what members share. */
  readonly index: Uint8Array;
  /** Only with other masters. */
  readonly rotation?: Rotation;
  close(): void;
}

export async function buildSecrets(parts: SecretBuildParts): Promise<BuiltSecrets> {
  return parts.cluster.name === undefined ? ownSecrets(parts) : sharedSecrets(parts);
}

function ownSecrets({ opts, log, bus, cluster, pair }: SecretBuildParts): BuiltSecrets {
  const secret = ownSecret(opts.cachedir);
  const current = [secret] as const;
  const index = indexOf(secret);
  const renewals = new Renewals(cluster, index);
  const secrets = new Secrets(pair, {
    ...common(opts, log),
    sessionSecrets: { current: () => current, renewals: (id) => renewals.count(id) },
  });
  const aesChange = ownAesChange({ secrets, bus });
  return { secrets, renewals, index, aesChange, settled: async () => {}, close: () => renewals.close() };
}

async function sharedSecrets({ opts, log, bus, cluster, pair }: SecretBuildParts): Promise<BuiltSecrets> {
  const folder = join(opts.cachedir, 'cluster');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  await checkMasterKey(cluster, pair);
  const session = storedSecret(opts.cachedir);
  const aesKey = storedAesKey(opts.cachedir);
  const before = { ...(session ? { session } : {}), ...(aesKey === undefined ? {} : { aesKey }) };
  let known: SharedStart = await loadSharedSecrets({ cluster, folder, log, before });
  const keep = (change: Partial<SharedStart>): void => {
    known = { ...known, ...change };
    try {
      keepCopy(folder, known);
    } catch (error) {
      log.limited('secrets', 'error', 'the secrets of the cluster could not be stored', { error: messageOf(error) });
    }
  };
  const { index } = known.base;
  const renewals = new Renewals(cluster, index);
  const shared = new SharedSessionSecret(cluster, known.base, (base) => keep({ base }));
  const { generation, key, since } = known.aes;
  const secrets = new Secrets(pair, {
    ...common(opts, log),
    sessionSecrets: { current: () => shared.current(), renewals: (id) => renewals.count(id) },
    aes: { generation, key, since },
    now: () => Date.now() - cluster.self.skewMs,
  });
  const parts = { secrets, bus, log };
  const rotation = new Rotation({
    ...{ cluster, log, aes: secrets.aes },
    keep: (aes) => keep({ aes }),
    rotated: () => bus.fire('key', { rotate_aes_key: true }),
  });
  const endRestoring = onLostData({
    ...{ cluster, log },
    restore: async () => {
      await checkMasterKey(cluster, secrets.ring.current);
      // The order of publications begins again: a new key, so that minions do not take them for old ones.
      if (await giveBackSecrets(cluster.registry.bucket('reg'), known)) await rotation.rotate();
    },
  });
  const close = (): void => {
    endRestoring();
    rotation.close();
    shared.close();
    renewals.close();
  };
  return {
    ...{ secrets, renewals, index, rotation, close },
    settled: () => rotation.settled(),
    aesChange: sharedAesChange(parts, rotation, opts.rotate_aes_key === 'now'),
  };
}

const common = (opts: SecretBuildParts['opts'], log: Logger) => ({
  cachedir: opts.cachedir,
  publishSession: opts.publish_session,
  failed: (error: unknown): void =>
    log.limited('aes', 'error', 'the AES key could not be stored', { error: messageOf(error) }),
});
