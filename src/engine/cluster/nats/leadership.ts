// Who leads: the holder of one lease. It raises the level of the messages when all live members understand more.

import type { Value } from '../../../base/codec/value.ts';
import { messageOf } from '../../../base/errors/index.ts';
import type { Entry, Leader, Lease, Removed } from '../api.ts';
import type { NatsBucket } from './bucket.ts';
import type { Core } from './core.ts';
import { epochName } from './establish.ts';
import { holderOf, type LeaseRecord, type Leases, leaseKey, leaseRecord } from './lease.ts';

const name = 'leader';
const ttlMs = 6000;
const lookMs = 500;

export class Leadership {
  readonly #core: Core;
  readonly #leases: Leases;
  readonly #reg: NatsBucket;
  #lease: Lease | undefined;
  #record: LeaseRecord | undefined;
  #seen = 0;
  #level = 0;
  /** What was told last: slot, boot and term. */
  #told = '';

  constructor(core: Core, leases: Leases, reg: NatsBucket) {
    this.#core = core;
    this.#leases = leases;
    this.#reg = reg;
  }

  leader(): Leader | undefined {
    const record = this.#record;
    if (!record || performance.now() - this.#seen > ttlMs) return undefined;
    const member = holderOf(record, this.#core);
    return member && { member, term: record.term };
  }

  leads(): boolean {
    return this.#lease?.isHeld() ?? false;
  }

  start(): void {
    void this.#lead();
    this.#reg.watch({ on: (change) => this.#take(change), signal: this.#core.signal });
    const timer = setInterval(() => this.#tell(), lookMs);
    this.#core.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  async #lead(): Promise<void> {
    const { signal } = this.#core;
    while (!signal.aborted) {
      try {
        await new Promise<void>((resolve, reject) => {
          const acquired = this.#leases.acquire(name, { ttlMs, lost: resolve, signal });
          acquired.then((lease) => {
            this.#lease = lease;
            void this.#raise();
          }, reject);
        });
      } catch (error) {
        if (!signal.aborted) this.#core.log.warn('the lead cannot be taken', { why: messageOf(error) });
      }
      this.#lease = undefined;
    }
  }

  #take(change: Entry<Value> | Removed): void {
    if ('removed' in change) return;
    if (change.key === leaseKey(name)) {
      this.#record = leaseRecord(change.value);
      this.#seen = performance.now();
      this.#tell();
    } else if (change.key === epochName) this.#core.recorded(change.value);
    else if (change.key === 'level' && typeof change.value === 'number' && change.value > this.#level) {
      this.#level = change.value;
      this.#core.changed({ kind: 'level', level: this.#level });
    }
  }

  #tell(): void {
    const leader = this.leader();
    const told = leader ? `${leader.member.slot} ${leader.member.boot} ${leader.term}` : '';
    if (told === this.#told) return;
    this.#told = told;
    this.#core.changed({ kind: 'leader', leader: leader?.member, term: this.#record?.term ?? 0 });
    if (this.leads()) void this.#raise();
  }

  /** Never lowers it. */
  async #raise(): Promise<void> {
    const least = Math.min(...this.#core.members().map(({ level }) => level));
    try {
      const entry = await this.#reg.get('level');
      const now = typeof entry?.value === 'number' ? entry.value : 0;
      if (least <= now || !this.leads()) return;
      if (entry) await this.#reg.update('level', least, entry.revision);
      else await this.#reg.create('level', least);
    } catch (error) {
      this.#core.log.limited('level', 'debug', 'the level cannot be raised now', { why: messageOf(error) });
    }
  }
}
