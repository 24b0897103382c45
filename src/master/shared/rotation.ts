// A new AES key for all members in three steps: everyone knows it, everyone has said so, and then all change at the same
// place in the order of publications. A sign-in in between waits for the change, a moment at most.
import { setTimeout as sleep } from 'node:timers/promises';
import { newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { Gate } from '../../base/util/gate.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { Cluster, Entry, Removed } from '../../engine/cluster/api.ts';
import { type AesGeneration, type AesKeys, newGeneration } from '../sign-in/aes-keys.ts';
import { Confirmations } from './confirmations.ts';
import { type AesRecord, aesValue, readAesRecord } from './secret-records.ts';
import { isConflict, type RegBucket } from './secrets.ts';

export interface RotationParts {
  readonly cluster: Pick<Cluster, 'self' | 'members' | 'registry' | 'relay'>;
  readonly aes: AesKeys;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error' | 'limited'>;
  /** Stores what this member now knows. */
  keep(record: AesRecord): void;
  /** Called on the member that made the change. */
  rotated(): void;
  /** How long changes of keys are gathered for one new AES key; for tests. */
  readonly gatherMs?: number;
}

const gatherMs = 60_000;
const leaseMs = 6_000;
const leaseWaitMs = 30_000;
/** A live member that has not said in this time that it knows the next key reads it when the place comes. */
const confirmMs = 15_000;
const signInMs = 1_000;
/** So long the relay may take to deliver the place of a change that is already recorded as done. */
const lateMs = 2_000;
/** A change that was begun and not completed is taken over by another member after this time. */
const unfinishedMs = 30_000;
const readMs = 10_000;
const wantedKey = 'aes-wanted';

export class Rotation {
  readonly #parts: RotationParts;
  readonly #reg: RegBucket;
  readonly #stop = new AbortController();
  readonly #confirmations: Confirmations;
  readonly #changed = new Gate();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #next: AesGeneration | undefined;
  #nextSince = 0;

  constructor(parts: RotationParts) {
    this.#parts = parts;
    this.#reg = parts.cluster.registry.bucket<Value>('reg');
    this.#confirmations = new Confirmations(parts.cluster, this.#reg, 'aes-seen.');
    this.#reg.watch({ on: (entry) => this.#heard(entry), signal: this.#stop.signal });
  }

  close(): void {
    this.#stop.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#changed.open();
  }

  /** Before a minion gets keys: during a change it waits for the new one. */
  async settled(): Promise<void> {
    if (!this.#next) return;
    const left = this.#nextSince + signInMs - performance.now();
    if (left > 0) await withTimeout(this.#changed.wait(), left, () => undefined);
  }

  /** Called at the place of the change, before the next publication is sent. */
  async changeAt(generation: number): Promise<void> {
    const until = performance.now() + readMs;
    while (this.#parts.aes.current.generation < generation && !this.#stop.signal.aborted) {
      const known = this.#next?.generation === generation ? this.#next : await this.#read(generation);
      if (known) {
        this.#use(known);
        break;
      }
      if (performance.now() > until) {
        const text = 'the new AES key could not be read: minions of this master cannot open its jobs';
        return this.#parts.log.error(text, { generation });
      }
      await sleep(200);
    }
    this.#after('complete', 2 * lateMs, () => this.#complete(generation));
  }

  /** A minion lost its trust: one change for all that happen within a minute, by whichever member is there then. */
  async wanted(): Promise<void> {
    try {
      await this.#reg.create(wantedKey, newDict([['by', this.#parts.cluster.self.id]]));
    } catch (error) {
      if (isConflict(error)) return;
      const text = 'a new AES key is needed: it follows when the engine of the cluster answers';
      this.#parts.log.warn(text, { error: messageOf(error) });
      this.#after('wanted', 5_000, () => this.wanted());
    }
  }

  /** One change, made here unless another member made it meanwhile; the number of the key in use afterwards. */
  async rotate(only: { readonly ifWanted: boolean } = { ifWanted: false }): Promise<number> {
    const from = this.#parts.aes.current.generation;
    const lost = new AbortController();
    const release = new AbortController();
    const leased = this.#parts.cluster.registry.lease('rotate', {
      ttlMs: leaseMs,
      lost: () => lost.abort(new HaliteError('cluster.cut-off', 'This master lost the right to change the AES key')),
      signal: AbortSignal.any([release.signal, this.#stop.signal]),
    });
    try {
      const { term } = await withTimeout(leased, leaseWaitMs, () => {
        throw new HaliteError(
          'cluster.cut-off',
          'The engine of the cluster does not allow a change of the AES key now',
        );
      });
      return await this.#rotate(from, term, AbortSignal.any([lost.signal, this.#stop.signal]), only.ifWanted);
    } finally {
      release.abort();
    }
  }

  async #rotate(from: number, term: number, signal: AbortSignal, ifWanted: boolean): Promise<number> {
    const { cluster, log, aes } = this.#parts;
    const [record, revision] = await this.#record();
    const wanted = await this.#reg.get(wantedKey);
    const begun = record.next && record.next.generation > aes.current.generation ? record.next : undefined;
    const latest = begun ? record : (record.next ?? record);
    if (latest.generation > from || (ifWanted && !wanted)) return latest.generation;
    // One that a member made and could not finish is used: only members have seen it.
    const next = begun ?? newGeneration(latest.generation);
    const { generation, key, since } = latest;
    const prepared = begun
      ? revision
      : await this.#reg.update('aes', aesValue({ generation, key, since, next }), revision);
    this.#prepare(next);
    await this.#confirmations.all(next.generation, confirmMs, signal);
    signal.throwIfAborted();
    await cluster.relay.publish(
      `rotate-${next.generation}`,
      { kind: 'rotate', generation: next.generation, term },
      2_000,
    );
    await this.#reg.update('aes', aesValue(next), prepared).catch((error: unknown) => {
      if (!isConflict(error))
        log.warn('another master completes the record of the new AES key', { error: messageOf(error) });
    });
    if (wanted) await this.#reg.remove(wantedKey, wanted.revision).catch(() => undefined);
    log.info('AES key changed on all masters', { generation: next.generation });
    this.#parts.rotated();
    return next.generation;
  }

  async #record(): Promise<readonly [AesRecord, number]> {
    const entry = await this.#reg.get('aes');
    const record = readAesRecord(entry?.value);
    if (entry && record) return [record, entry.revision];
    throw new HaliteError('cluster.refused', 'The cluster has no readable record of its AES key', {
      hint: 'Restart the masters one after the other: the first one makes it anew.',
    });
  }

  #heard(entry: Entry<Value> | Removed): void {
    if ('removed' in entry) {
      if (entry.key === wantedKey) this.#cancel('gather');
      return;
    }
    const { key, value } = entry;
    if (key === 'aes') this.#heardAes(readAesRecord(value));
    else if (key === wantedKey) this.#gather();
    else this.#confirmations.heard(entry);
  }

  #heardAes(record: AesRecord | undefined): void {
    const { aes, log, keep } = this.#parts;
    if (!record) {
      log.limited('aes-record', 'error', 'the record of the AES key cannot be read', {});
      return;
    }
    keep(record);
    const { next } = record;
    if (next && next.generation > aes.current.generation) {
      this.#prepare(next);
      this.#after('finish', unfinishedMs, () => this.#finish(next.generation));
    } else if (!next && record.generation > aes.current.generation) {
      // Its place has passed: the relay delivers it at once, or this member was not there.
      this.#after('late', lateMs, async () => {
        if (record.generation > aes.current.generation) this.#use(record);
      });
    }
  }

  #prepare(next: AesGeneration): void {
    if (this.#next?.key !== next.key) {
      this.#next = next;
      this.#nextSince = performance.now();
    }
    this.#confirmations.give(next.generation).catch((error: unknown) => {
      // Two calls at once: the other one has said it.
      if (isConflict(error)) return;
      this.#parts.log.limited('aes-seen', 'warn', 'a new AES key could not be confirmed', { error: messageOf(error) });
    });
  }

  async #read(generation: number): Promise<AesGeneration | undefined> {
    try {
      const [record] = await this.#record();
      return [record, record.next].find((known) => known && known.generation >= generation);
    } catch {
      // The engine does not answer now: it is asked again.
      return undefined;
    }
  }

  #use({ generation, key, since }: AesGeneration): void {
    this.#parts.aes.use({ generation, key, since });
    if (this.#next && this.#next.generation <= generation) this.#next = undefined;
    this.#changed.open();
  }

  /** The member that made the change may have ended before it recorded it. */
  async #complete(generation: number): Promise<void> {
    const [{ next }, revision] = await this.#record();
    if (next?.generation === generation) await this.#reg.update('aes', aesValue(next), revision);
  }

  async #finish(generation: number): Promise<void> {
    if (this.#next?.generation === generation) await this.rotate();
  }

  #gather(): void {
    if (this.#timers.has('gather')) return;
    this.#after('gather', this.#parts.gatherMs ?? gatherMs, async () => void (await this.rotate({ ifWanted: true })));
  }

  /** One timer of each name; what fails is tried again after the same time. */
  #after(name: string, ms: number, act: () => Promise<void>): void {
    this.#cancel(name);
    if (this.#stop.signal.aborted) return;
    const run = (): void => {
      this.#timers.delete(name);
      act().catch((error: unknown) => {
        const text = 'a change of the AES key waits';
        if (!isConflict(error)) this.#parts.log.limited(`aes-${name}`, 'warn', text, { error: messageOf(error) });
        this.#after(name, ms, act);
      });
    };
    this.#timers.set(name, setTimeout(run, ms).unref());
  }

  #cancel(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }
}
