// Leases and claims: who may act alone. A lease is judged by the own monotonic clock only, so no wall clock matters.

import { intField, textField } from '../../../base/codec/fields.ts';
import { asPlainDict, asText, newDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Lease, LeaseOptions, Member, Registry } from '../api.ts';
import type { Core } from './core.ts';
import type { BucketStore } from './store.ts';

/** A holder gives up after this part of the time to live; another one takes it after all of it and a little more. */
const holdPart = 0.75;
const takePart = 1.1;
const renewPart = 1 / 3;
const space = 'terms';

export interface LeaseRecord {
  readonly slot: number;
  /** Empty: nobody holds it. */
  readonly boot: string;
  readonly term: number;
  readonly ttlMs: number;
}

interface Seen {
  readonly record: LeaseRecord | undefined;
  readonly revision: number;
  /** By the monotonic clock. */
  readonly at: number;
}

export function leaseRecord(value: Value | undefined): LeaseRecord | undefined {
  const fields = asPlainDict(value);
  if (!fields) return undefined;
  const [slot, term, ttlMs] = [intField(fields, 'slot'), intField(fields, 'term'), intField(fields, 'ttlMs')];
  const boot = textField(fields, 'boot');
  if (slot === undefined || term === undefined || ttlMs === undefined || boot === undefined) return undefined;
  return { slot, term, ttlMs, boot };
}

export const leaseKey = (name: string): string => `lease.${name}`;

export class Leases {
  readonly #core: Core;
  readonly #store: BucketStore;
  readonly #held = new Set<Promise<void>>();

  constructor(core: Core, store: BucketStore) {
    this.#core = core;
    this.#store = store;
  }

  /** When all that are held were given back; after the signal. */
  async released(): Promise<void> {
    await Promise.all(this.#held);
  }

  /** Tries until this member holds it, or the signal. */
  async acquire(name: string, options: LeaseOptions): Promise<Lease> {
    let seen: Seen | undefined;
    while (!options.signal.aborted && !this.#core.signal.aborted) {
      try {
        await this.#core.ready();
        const head = await this.#store.head(leaseKey(name));
        if (!seen || seen.revision !== head.revision) {
          seen = { record: leaseRecord(head.stored?.value), revision: head.revision, at: performance.now() };
        }
        if (this.#isFree(seen, options.ttlMs)) {
          const lease = await this.#take(name, seen, options);
          if (lease) return lease;
          seen = undefined;
        }
      } catch (error) {
        this.#core.log.limited(`lease:${name}`, 'debug', 'a lease cannot be asked for', {
          name,
          why: messageOf(error),
        });
      }
      await pause(Math.min(1000, options.ttlMs / 6), options.signal);
    }
    throw new HaliteError('cluster.cut-off', `The wait for the lease ${name} was ended`);
  }

  #isFree({ record, at }: Seen, ttlMs: number): boolean {
    if (!record || record.boot === '') return true;
    return performance.now() - at > Math.max(ttlMs, record.ttlMs) * takePart;
  }

  async #take(name: string, seen: Seen, options: LeaseOptions): Promise<Lease | undefined> {
    const known = Number(Buffer.from(this.#core.table.get(space, name) ?? []).toString() || 0);
    const term = Math.max(known, seen.record?.term ?? 0) + 1;
    const sent = performance.now();
    const revision = await this.#store.write(leaseKey(name), this.#value(term, options.ttlMs), seen.revision);
    if (revision === undefined) return undefined;
    this.#core.table.set(space, name, Buffer.from(String(term)));
    const held = new Held(this.#core, this.#store, { name, term, revision, sent, options });
    const done = held.done.finally(() => this.#held.delete(done));
    this.#held.add(done);
    return held.lease;
  }

  #value(term: number, ttlMs: number): Value {
    return newDict([
      ['slot', this.#core.slot()],
      ['boot', this.#core.envelope.boot],
      ['term', term],
      ['ttlMs', ttlMs],
    ]);
  }
}

interface Holding {
  readonly name: string;
  readonly term: number;
  readonly revision: number;
  readonly sent: number;
  readonly options: LeaseOptions;
}

class Held {
  readonly lease: Lease;
  /** Resolves when it is lost or given back. */
  readonly done: Promise<void>;
  readonly #core: Core;
  readonly #store: BucketStore;
  readonly #holding: Holding;
  #revision: number;
  #until: number;
  #over = false;
  #deadline: NodeJS.Timeout | undefined;

  constructor(core: Core, store: BucketStore, holding: Holding) {
    this.#core = core;
    this.#store = store;
    this.#holding = holding;
    this.#revision = holding.revision;
    this.#until = this.#after(holding.sent);
    this.#arm();
    this.lease = { term: holding.term, isHeld: () => !this.#over && performance.now() < this.#until };
    this.done = this.#renew();
  }

  #after(sent: number): number {
    return sent + this.#holding.options.ttlMs * holdPart;
  }

  #arm(): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#end(), Math.max(0, this.#until - performance.now()));
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#deadline);
    this.#holding.options.lost();
  }

  async #renew(): Promise<void> {
    const { options, term } = this.#holding;
    const signal = AbortSignal.any([options.signal, this.#core.signal]);
    let waitMs = options.ttlMs * renewPart;
    while (!this.#over) {
      await pause(waitMs, signal);
      if (signal.aborted || this.#over) break;
      const sent = performance.now();
      // A process that was frozen: the lease may be somebody else's, and is over in any case.
      if (sent >= this.#until) {
        this.#end();
        return;
      }
      try {
        const revision = await this.#write(this.#value(term));
        if (revision === undefined) {
          this.#end();
          return;
        }
        this.#revision = revision;
        if (performance.now() >= this.#until) {
          this.#end();
          return;
        }
        this.#until = this.#after(sent);
        this.#arm();
        waitMs = options.ttlMs * renewPart;
      } catch {
        waitMs = options.ttlMs / 12;
      }
    }
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#deadline);
    await this.#write(this.#value(term, '')).catch(() => undefined);
  }

  /** Another member may have written at the same time, and put back what it found. */
  async #write(value: Value): Promise<number | undefined> {
    const { name, term } = this.#holding;
    const revision = await this.#store.write(leaseKey(name), value, this.#revision);
    if (revision !== undefined) return revision;
    const head = await this.#store.head(leaseKey(name));
    const record = leaseRecord(head.stored?.value);
    if (record?.boot !== this.#core.envelope.boot || record.term !== term) return undefined;
    return this.#store.write(leaseKey(name), value, head.revision);
  }

  #value(term: number, boot = this.#core.envelope.boot): Value {
    const { ttlMs } = this.#holding.options;
    return newDict([
      ['slot', this.#core.slot()],
      ['boot', boot],
      ['term', term],
      ['ttlMs', ttlMs],
    ]);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}

/** One caller gets a claim, whatever becomes of the answers. */
export function claims(core: Core, store: BucketStore): Registry['claim'] {
  return async (name) => {
    await core.ready();
    return (await store.write(name, core.envelope.boot, 0)) !== undefined;
  };
}

/** The member that a lease record names, if it is live. */
export function holderOf(record: LeaseRecord | undefined, core: Core): Member | undefined {
  return record && asText(record.boot) ? core.member(record.slot, record.boot) : undefined;
}
