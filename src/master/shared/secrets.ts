// The secrets that members of a cluster share, in its registry: the AES key of the fleet, and what session keys are
// computed from. A copy on the own disk lets a member start while the engine is away.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import { isDict, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import type { Bucket, Cluster } from '../../engine/cluster/api.ts';
import { type AesGeneration, newGeneration } from '../sign-in/aes-keys.ts';
import {
  type AesRecord,
  aesValue,
  type BaseRecord,
  baseValue,
  readAesRecord,
  readBaseRecord,
  secretBytes,
} from './secret-records.ts';

export interface SharedSecretParts {
  readonly cluster: Pick<Cluster, 'name' | 'registry'>;
  /** `cachedir/cluster`, which exists. */
  readonly folder: string;
  readonly log: Pick<Logger, 'info' | 'warn' | 'limited'>;
  /** What this master used before there was a cluster: the first member keeps its minions signed in. */
  readonly before: { readonly session?: Uint8Array; readonly aesKey?: string };
}

export interface SharedStart {
  readonly aes: AesRecord;
  readonly base: BaseRecord;
}

export type RegBucket = Bucket<Value>;

/** What the registry has, is given by this member when it has nothing, or comes from the own disk while it is away. */
export async function loadSharedSecrets(parts: SharedSecretParts): Promise<SharedStart> {
  const copy = readCopy(parts.folder);
  const reg = parts.cluster.registry.bucket<Value>('reg');
  try {
    const base = await obtain(
      reg,
      'session',
      readBaseRecord,
      () => {
        const { session = randomBytes(secretBytes) } = parts.before;
        return copy?.base ?? { session, index: randomBytes(secretBytes) };
      },
      baseValue,
    );
    // The engine lost what it had: its order begins again, so a new key does too.
    const firstAes = (): AesRecord =>
      copy ? newGeneration(copy.aes.generation) : firstGeneration(parts.before.aesKey);
    const aes = await obtain(reg, 'aes', readAesRecord, firstAes, aesValue);
    keepCopy(parts.folder, { aes, base });
    return { aes, base };
  } catch (error) {
    if (!(error instanceof HaliteError && error.code === 'cluster.cut-off')) throw error;
    if (!copy) {
      throw new HaliteError(
        'cluster.cut-off',
        'This master cannot start: it has never had the secrets of its cluster',
        {
          hint: `Its engine does not answer (${error.message}). Look at cluster.servers in the master configuration.`,
          cause: error,
        },
      );
    }
    parts.log.warn('the engine of the cluster does not answer: this master starts with the secrets it had', {
      error: messageOf(error),
    });
    return copy;
  }
}

/** After the engine lost its data: true for the member whose record of the AES key is the one that counts now. */
export async function giveBackSecrets(reg: RegBucket, { aes, base }: SharedStart): Promise<boolean> {
  await obtain(reg, 'session', readBaseRecord, () => base, baseValue);
  return (await obtain(reg, 'aes', readAesRecord, () => aes, aesValue)) === aes;
}

const firstGeneration = (key: string | undefined): AesGeneration =>
  key === undefined ? newGeneration(0) : { generation: 1, key, since: Date.now() };

/** The record, made here if there is none; of two members that make it at once, one wins. */
async function obtain<T>(
  reg: RegBucket,
  key: string,
  read: (value: Value | undefined) => T | undefined,
  make: () => T,
  write: (record: T) => Value,
): Promise<T> {
  for (;;) {
    const entry = await reg.get(key);
    if (entry) {
      const record = read(entry.value);
      if (record) return record;
      throw new HaliteError('cluster.refused', `The cluster has a record ‘${key}’ that this version cannot read`, {
        hint: 'Use the version of Halite that the other masters have.',
      });
    }
    const made = make();
    try {
      await reg.create(key, write(made));
      return made;
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

export const isConflict = (error: unknown): boolean =>
  error instanceof HaliteError && error.code === 'cluster.conflict';

const copyFile = (folder: string): string => join(folder, 'secrets');

export function keepCopy(folder: string, { aes, base }: SharedStart): void {
  const value = newDict([
    ['aes', aesValue(aes)],
    ['base', baseValue(base)],
  ]);
  replaceFileNow(copyFile(folder), packValue(value));
}

function readCopy(folder: string): SharedStart | undefined {
  try {
    const value = unpackValue(readFileSync(copyFile(folder)));
    if (!isDict(value) || value instanceof Map) return undefined;
    const aes = readAesRecord(value['aes']);
    const base = readBaseRecord(value['base']);
    return aes && base ? { aes, base } : undefined;
  } catch {
    // It has never been a member, or the file is damaged: the registry tells.
    return undefined;
  }
}
