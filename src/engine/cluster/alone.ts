// The cluster of one master: nothing is sent, nothing waits, and what is shared with nobody is in a table on its own disk.
import { randomBytes } from 'node:crypto';
import { HaliteError } from '../../base/errors/index.ts';
import { haliteVersion } from '../../base/util/version.ts';
import { AloneBuckets } from './alone-buckets.ts';
import type { Cluster, Ledger, Member, Registry, Relay, Signals } from './api.ts';
import type { Publication } from './messages.ts';
import type { LocalTable } from './ports.ts';

/** The highest version of the messages between members that this program understands. */
export const ownLevel = 1;
const rememberedKeys = 4096;
const leaseSpace = 'lease';

export interface AloneParts {
  readonly id: string;
  readonly addresses: readonly string[];
  readonly table: LocalTable;
}

export function aloneCluster(parts: AloneParts): Cluster {
  const now = Date.now();
  const self: Member = {
    id: parts.id,
    slot: 0,
    boot: randomBytes(8).toString('hex'),
    version: haliteVersion,
    level: ownLevel,
    since: now,
    get seen() {
      return Date.now();
    },
    addresses: parts.addresses,
    skewMs: 0,
  };
  const nothing = (): void => undefined;
  return {
    name: undefined,
    self,
    state: { kind: 'alone' },
    members: () => [self],
    leader: () => ({ member: self, term: 0 }),
    leads: () => true,
    report: () => undefined,
    relay: new AloneRelay(),
    ledger: aloneLedger,
    registry: aloneRegistry(parts.table),
    signals: aloneSignals,
    onChange: () => nothing,
    close: async () => undefined,
  };
}

type Handler = Parameters<Relay['onPublication']>[0];

/** The handler of a publication begins within the call that publishes it, unless an earlier one is still running. */
class AloneRelay implements Relay {
  #place = 0;
  #handler: Handler | undefined;
  #busy = false;
  readonly #waiting: (readonly [Publication, number])[] = [];
  readonly #places = new Map<string, number>();

  get place(): number {
    return this.#place;
  }

  publish(key: string, message: Publication): Promise<number> {
    const before = this.#places.get(key);
    if (before !== undefined) return Promise.resolve(before);
    const place = ++this.#place;
    if (this.#places.size >= rememberedKeys) this.#places.delete(this.#places.keys().next().value as string);
    this.#places.set(key, place);
    this.#waiting.push([message, place]);
    if (!this.#busy) void this.#work();
    return Promise.resolve(place);
  }

  onPublication(handler: Handler): void {
    this.#handler = handler;
  }

  async #work(): Promise<void> {
    this.#busy = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      await this.#handler?.(next[0], next[1], false);
    }
    this.#busy = false;
  }
}

const atOnce = Promise.resolve();

const aloneLedger: Ledger = {
  append: () => atOnce,
  follow: (_from, _apply, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    }),
  held: () => ({ items: 0, bytes: 0, since: 0 }),
};

function aloneRegistry(table: LocalTable): Registry {
  const buckets = new AloneBuckets(table);
  const claims = new Map<string, number>();
  return {
    bucket: (name) => buckets.bucket(name),
    lease: async (name) => {
      const term = Number(Buffer.from(table.get(leaseSpace, name) ?? []).toString() || 0) + 1;
      table.set(leaseSpace, name, Buffer.from(String(term)));
      return { term, isHeld: () => true };
    },
    claim: async (name, ttlMs) => {
      const now = performance.now();
      for (const [other, until] of claims) if (until <= now) claims.delete(other);
      if (claims.has(name)) return false;
      claims.set(name, now + ttlMs);
      return true;
    },
  };
}

const never = (): void => undefined;

const aloneSignals: Signals = {
  send: never,
  on: () => never,
  onGap: () => never,
  // biome-ignore lint/correctness/useYield: there is nobody who could answer.
  ask: async function* (to) {
    throw new HaliteError('cluster.refused', `There is no other master to ask: ${to}`, {
      hint: 'This master has no option `cluster`.',
    });
  },
  answer: never,
  onNewcomer: never,
};
