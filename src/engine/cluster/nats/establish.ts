// What must be there before a member can work: the streams, the name key, the epoch of the data, a slot, the right level.
import { randomBytes } from 'node:crypto';
import { intField } from '../../../base/codec/fields.ts';
import { packValue, unpackValue } from '../../../base/codec/msgpack/index.ts';
import { asPlainDict, asText, dictEntries, isDict, newDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { ownLevel } from '../alone.ts';
import type { ClusterOptions } from '../options.ts';
import type { LocalTable } from '../ports.ts';
import type { JetStream } from './jetstream.ts';
import { type BucketStore, indexName } from './store.ts';
import { ensureStream, type FoundStream, isThere, type StreamPlan, streamPlans } from './streams.ts';

/** The key of the record of what the engine has. */
export const epochName = 'streams';

/** Places in the table of this member. */
const space = 'own';

export interface Own {
  /** Names this machine's place on disk: another master with the same id has another one. */
  readonly identity: string;
  readonly slot: number | undefined;
  readonly epoch: number;
  readonly indexKey: Uint8Array | undefined;
}

export function readOwn(table: LocalTable): Own {
  const value = (key: string): Value | undefined => {
    const packed = table.get(space, key);
    return packed && unpackValue(packed);
  };
  let identity = asText(value('identity'));
  if (identity === undefined) {
    identity = randomBytes(16).toString('hex');
    keepOwn(table, 'identity', identity);
  }
  const [slot, epoch, index] = [value('slot'), value('epoch'), asText(value('index'))];
  return {
    identity,
    slot: typeof slot === 'number' ? slot : undefined,
    epoch: typeof epoch === 'number' ? epoch : 0,
    indexKey: index === undefined ? undefined : Buffer.from(index, 'hex'),
  };
}

export function keepOwn(table: LocalTable, key: 'identity' | 'slot' | 'epoch' | 'index', value: Value): void {
  table.set(space, key, packValue(value));
}

/**
 * A server tells readers of a stream that it is removed before it has removed its files: what is made meanwhile under the
 * same name loses its files too, and stores nothing any more (2.9), or the server ends.
 */
const removalMs = 2000;

/** `known`: streams that were there before; one of them that is missing was removed a moment ago. */
export async function ensureStreams(
  js: JetStream,
  options: ClusterOptions,
  keepSeconds: number,
  known: ReadonlyMap<string, string>,
): Promise<FoundStream[]> {
  const plans = streamPlans(options, keepSeconds);
  const removed = new Set<string>();
  /** Before one is made: once for all that are missing now, again for one that is removed meanwhile. */
  const settle = async (plan: StreamPlan): Promise<void> => {
    if (plan.storage !== 'file' || !known.has(plan.stream) || removed.has(plan.stream)) return;
    for (const { stream, storage } of plans) {
      if (storage === 'file' && !removed.has(stream) && !(await isThere(js, stream))) removed.add(stream);
    }
    await new Promise((resolve) => setTimeout(resolve, removalMs));
  };
  const found: FoundStream[] = [];
  for (const plan of plans) found.push(await ensureStream(js, plan, options.replicas, settle));
  return found;
}

/** The key that makes the names of keys and ids: made by the first member, the same ever after. */
export async function indexKey(plain: BucketStore, known: Uint8Array | undefined): Promise<Uint8Array> {
  for (;;) {
    const { stored, revision } = await plain.head(indexName);
    const text = asText(stored?.value);
    if (text !== undefined) return Buffer.from(text, 'hex');
    if (revision > 0 && known === undefined) {
      throw new HaliteError(
        'cluster.refused',
        'The keys of this master do not open what is stored on the nats-servers',
        {
          hint: 'Another cluster has the same name there, or cluster_bus.key is not the one of this cluster.',
        },
      );
    }
    await plain.write(indexName, Buffer.from(known ?? randomBytes(32)).toString('hex'), revision);
  }
}

/** A member that does not understand what the others tell each other is no member. */
export async function refuseLevel(reg: BucketStore): Promise<void> {
  const level = (await reg.head('level')).stored?.value;
  if (typeof level !== 'number' || level <= ownLevel) return;
  throw new HaliteError(
    'cluster.refused',
    `The cluster works at level ${level}, this version of Halite at ${ownLevel} at most`,
    { hint: 'Upgrade this master to the version of the others.' },
  );
}

/** The epoch of what the engine has now: a new one when a stream is not the one that was there before. */
export async function agreeOnEpoch(reg: BucketStore, found: readonly FoundStream[], known: number): Promise<number> {
  const made = new Map(
    found.filter(({ plan }) => plan.storage === 'file').map(({ plan, birth }) => [plan.stream, birth]),
  );
  for (;;) {
    const { stored, revision } = await reg.head(epochName);
    const record = asPlainDict(stored?.value);
    const epoch = (record && intField(record, 'epoch')) ?? 0;
    const before = new Map(record && isDict(record['made']) ? dictEntries(record['made']) : []);
    const isSame = epoch >= known && [...made].every(([stream, birth]) => before.get(stream) === birth);
    if (epoch > 0 && isSame) return epoch;
    const next = Math.max(epoch, known) + 1;
    const value = newDict([
      ['epoch', next],
      ['made', newDict([...made])],
    ]);
    if ((await reg.write(epochName, value, revision)) !== undefined) return next;
  }
}
