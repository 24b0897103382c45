// Who of the members knows the newest state of something that all must know before it is used: each says it in a record
// of its own, with the run of the process that has it in memory.
import type { Value } from '../../base/codec/value.ts';
import { Gate } from '../../base/util/gate.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { Cluster, Entry, Member, Removed } from '../../engine/cluster/api.ts';
import { type Confirmation, confirmationValue, readConfirmation } from './secret-records.ts';
import type { RegBucket } from './secrets.ts';

const lookMs = 250;

export class Confirmations {
  readonly #cluster: Pick<Cluster, 'self' | 'members'>;
  readonly #reg: RegBucket;
  readonly #prefix: string;
  /** By slot. */
  readonly #known = new Map<number, Confirmation>();
  readonly #heard = new Gate();

  /** `prefix`: of the keys of the records, before the slot. */
  constructor(cluster: Pick<Cluster, 'self' | 'members'>, reg: RegBucket, prefix: string) {
    this.#cluster = cluster;
    this.#reg = reg;
    this.#prefix = prefix;
  }

  /** True for a record of these. */
  heard(entry: Exclude<Entry<Value> | Removed, { removed: true }>): boolean {
    if (!entry.key.startsWith(this.#prefix)) return false;
    const confirmed = readConfirmation(entry.value);
    if (confirmed) this.#known.set(Number(entry.key.slice(this.#prefix.length)), confirmed);
    this.#heard.open();
    return true;
  }

  /** This member knows it. */
  async give(generation: number): Promise<void> {
    const { slot, boot } = this.#cluster.self;
    const key = `${this.#prefix}${slot}`;
    const entry = await this.#reg.get(key);
    const before = readConfirmation(entry?.value);
    if (before?.boot === boot && before.generation >= generation) return;
    const value = confirmationValue({ generation, boot });
    if (entry) await this.#reg.update(key, value, entry.revision);
    else await this.#reg.create(key, value);
  }

  /** Live members that have not said it. */
  lacking(generation: number): Member[] {
    return this.#cluster.members().filter(({ slot, boot }) => {
      const confirmed = this.#known.get(slot);
      return confirmed?.boot !== boot || confirmed.generation < generation;
    });
  }

  /** Until all live members have said it, or the time is over. */
  async all(generation: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (!signal.aborted && performance.now() < until && this.lacking(generation).length > 0)
      await withTimeout(this.#heard.wait(), lookMs, () => undefined);
  }
}
