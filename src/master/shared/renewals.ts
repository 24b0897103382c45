// How often the session of each minion was renewed by an operator, the same on all members.
import type { Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Bucket, Cluster } from '../../engine/cluster/api.ts';
import { keyValue, noRecord, readKeyRecord, tokenOf } from './key-records.ts';
import { isConflict } from './secrets.ts';

export class Renewals {
  readonly #bucket: Bucket<Value>;
  readonly #index: Uint8Array;
  /** Only of ids that were renewed: nearly none. */
  readonly #counts = new Map<string, number>();
  readonly #stop = new AbortController();

  constructor(cluster: Pick<Cluster, 'registry'>, index: Uint8Array) {
    this.#bucket = cluster.registry.bucket<Value>('keys');
    this.#index = index;
    this.#bucket.watch({
      on: (entry) => {
        if ('removed' in entry) return;
        const record = readKeyRecord(entry.value);
        if (record && (record.session > 0 || this.#counts.has(record.id))) this.#counts.set(record.id, record.session);
      },
      signal: this.#stop.signal,
    });
  }

  count(id: string): number {
    return this.#counts.get(id) ?? 0;
  }

  /** Its present session ends; it signs in again at its next request. */
  async renew(id: string): Promise<void> {
    const token = tokenOf(this.#index, id);
    for (let tries = 0; tries < 10; tries++) {
      const entry = await this.#bucket.get(token);
      const record = entry ? readKeyRecord(entry.value) : noRecord(id);
      if (!record) throw new HaliteError('cluster.refused', `The record of the key of ${id} is not readable`);
      const value = keyValue({ ...record, session: record.session + 1 });
      try {
        await (entry ? this.#bucket.update(token, value, entry.revision) : this.#bucket.create(token, value));
        this.#counts.set(id, record.session + 1);
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
    throw new HaliteError('cluster.conflict', `The session of ${id} was not renewed: its key changes all the time`);
  }

  close(): void {
    this.#stop.abort();
  }
}
