// Jobs that wait for minions, known to all members: each is delivered by one of them at a time, whichever the minion
// joins.
import { intField, textField } from '../../base/codec/fields.ts';
import { asDict, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isJid } from '../../base/util/jid.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { Bucket, Cluster, Entry, Removed, Revision } from '../../engine/cluster/api.ts';
import type { PendingDelivery } from '../../store/jobs.ts';
import type { DurableShare, EndCode, SharedDelivery } from '../tracking/durable.ts';

export interface SharedPendingParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'registry' | 'leads' | 'onChange'>;
  readonly log: Pick<Logger, 'debug' | 'limited'>;
}

interface Known {
  readonly revision: Revision;
  readonly delivery: SharedDelivery;
}

/** A minion that dials several members at once gets a job from the first of them. */
const deliveringMs = 10_000;
/** Something that ended is told to all by a last value, which the leader removes. */
const endedMs = 10_000;
const mostLeft = 10_000;

const keyOf = (jid: string, id: string): string => `${jid}.${id}`;

export class SharedPending implements DurableShare {
  readonly #parts: SharedPendingParts;
  readonly #bucket: Bucket<Value>;
  readonly #known = new Map<string, Known>();
  /** Ended while the engine was away: to be removed when it is back. */
  readonly #left = new Map<string, EndCode | undefined>();
  /** What only this disk has. */
  readonly #unshared = new Map<string, SharedDelivery>();
  readonly #end = new AbortController();
  readonly #stop: () => void;
  #adopt: (delivery: SharedDelivery) => void = () => undefined;
  #shared: (delivery: PendingDelivery) => void = () => undefined;

  static open(parts: SharedPendingParts): SharedPending | undefined {
    return parts.cluster.name === undefined ? undefined : new SharedPending(parts);
  }

  private constructor(parts: SharedPendingParts) {
    this.#parts = parts;
    this.#bucket = parts.cluster.registry.bucket('pending');
    this.#stop = parts.cluster.onChange((change) => {
      if (change.kind === 'state' && change.state.kind === 'joined') void this.#catchUp();
    });
  }

  mayExpire(): boolean {
    return this.#parts.cluster.leads();
  }

  /** `shared`: a delivery that only this disk had is known to all now. */
  listen(adopt: (delivery: SharedDelivery) => void, shared: (delivery: PendingDelivery) => void): void {
    this.#adopt = adopt;
    this.#shared = shared;
    this.#bucket.watch({
      on: (entry) => this.#heard(entry),
      synced: () => void this.#catchUp(),
      signal: this.#end.signal,
    });
  }

  close(): void {
    this.#end.abort();
    this.#stop();
  }

  keep(delivery: PendingDelivery): Promise<boolean> {
    return this.#keep({ ...delivery, deliveredAt: 0 });
  }

  async #keep(delivery: SharedDelivery): Promise<boolean> {
    const key = keyOf(delivery.jid, delivery.id);
    try {
      const revision = await this.#bucket.create(key, entryValue(delivery));
      this.#learn(key, { revision, delivery });
      this.#unshared.delete(key);
      return true;
    } catch (error) {
      // It is there: another member kept it, or this one did before it ended.
      if (isConflict(error)) return true;
      this.#parts.log.debug('a durable job is kept here only', { jid: delivery.jid, why: messageOf(error) });
      this.#unshared.set(key, delivery);
      return false;
    }
  }

  /** From the disk of this master: kept while the engine was away, or before there was a cluster. */
  own(deliveries: readonly PendingDelivery[]): void {
    for (const delivery of deliveries)
      this.#unshared.set(keyOf(delivery.jid, delivery.id), { ...delivery, deliveredAt: 0 });
  }

  async take(jid: string, id: string): Promise<boolean> {
    const key = keyOf(jid, id);
    const unshared = this.#unshared.get(key);
    if (unshared && !(await this.#keep(unshared))) {
      // Nobody else knows it while it cannot be told; later all are told that it was delivered.
      this.#unshared.set(key, { ...unshared, by: this.#parts.cluster.self.id, deliveredAt: Date.now() });
      return true;
    }
    const known = this.#known.get(key);
    if (!known) return false;
    const { delivery, revision } = known;
    const { self } = this.#parts.cluster;
    if (delivery.by !== undefined && delivery.by !== self.id && Date.now() - delivery.deliveredAt < deliveringMs)
      return false;
    return this.#update(key, { ...delivery, by: self.id, deliveredAt: Date.now() }, revision);
  }

  async end(jid: string, id: string, code?: EndCode): Promise<boolean> {
    const key = keyOf(jid, id);
    if (this.#unshared.delete(key)) return true;
    const known = this.#known.get(key);
    if (!known) return true;
    if (code !== undefined && !(await this.#update(key, { ...known.delivery, ended: code }, known.revision))) {
      // It was delivered, or ended, by another member meanwhile.
      return false;
    }
    try {
      await this.#bucket.remove(key);
    } catch (error) {
      this.#parts.log.debug('a delivery is removed later', { jid, minion: id, why: messageOf(error) });
      if (this.#left.size < mostLeft) this.#left.set(key, code);
    }
    return true;
  }

  /** False when another member was faster, or the engine does not answer. */
  async #update(key: string, delivery: SharedDelivery, last: Revision): Promise<boolean> {
    try {
      this.#learn(key, { revision: await this.#bucket.update(key, entryValue(delivery), last), delivery });
      return true;
    } catch (error) {
      if (!isConflict(error))
        this.#parts.log.debug('a durable job is not delivered now', { jid: delivery.jid, why: messageOf(error) });
      return false;
    }
  }

  async #catchUp(): Promise<void> {
    try {
      for (const [key] of this.#left) {
        await this.#bucket.remove(key);
        this.#left.delete(key);
      }
      for (const delivery of [...this.#unshared.values()]) if (await this.#keep(delivery)) this.#shared(delivery);
    } catch (error) {
      this.#parts.log.debug('deliveries are told later', { why: messageOf(error) });
    }
  }

  #heard(entry: Entry<Value> | Removed): void {
    const before = this.#known.get(entry.key);
    if (before && before.revision > entry.revision) return;
    if ('removed' in entry) {
      this.#known.delete(entry.key);
      if (before && !before.delivery.ended) this.#adopt({ ...before.delivery, ended: 'done' });
      return;
    }
    const delivery = readDelivery(entry.value);
    if (!delivery || keyOf(delivery.jid, delivery.id) !== entry.key) return;
    this.#known.set(entry.key, { revision: entry.revision, delivery });
    this.#adopt(delivery);
    if (delivery.ended === undefined) return;
    setTimeout(() => {
      if (!this.#end.signal.aborted && this.#parts.cluster.leads() && this.#known.has(entry.key))
        this.#bucket.remove(entry.key).catch(() => this.#left.set(entry.key, undefined));
    }, endedMs).unref();
  }

  #learn(key: string, known: Known): void {
    if (known.revision > (this.#known.get(key)?.revision ?? 0)) this.#known.set(key, known);
  }
}

const isConflict = (error: unknown): boolean => error instanceof HaliteError && error.code === 'cluster.conflict';

const entryValue = ({ jid, id, until, deliveredAt, by, ended }: SharedDelivery): Value =>
  newDict([
    ...([
      ['jid', jid],
      ['id', id],
      ['until', until],
      ['delivered', deliveredAt],
    ] as [string, Value][]),
    ...(by === undefined ? [] : ([['by', by]] as [string, Value][])),
    ...(ended === undefined ? [] : ([['ended', ended]] as [string, Value][])),
  ]);

const endCodes: readonly string[] = ['expired', 'cancelled', 'no-record', 'done'] satisfies SharedDelivery['ended'][];

function readDelivery(value: Value): SharedDelivery | undefined {
  const dict = asDict(value) ?? {};
  const [jid, id, by, ended] = ['jid', 'id', 'by', 'ended'].map((name) => textField(dict, name));
  const [until, deliveredAt = 0] = [intField(dict, 'until'), intField(dict, 'delivered')];
  if (!isJid(jid) || !isValidMinionId(id) || until === undefined) return undefined;
  return {
    ...{ jid, id, until, deliveredAt },
    ...(by === undefined ? {} : { by }),
    ...(ended !== undefined && endCodes.includes(ended)
      ? { ended: ended as NonNullable<SharedDelivery['ended']> }
      : {}),
  };
}
