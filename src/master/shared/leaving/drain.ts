// A master that is about to leave starts no new jobs, and gives its own to other members while everything still runs.
import { intField, listField, numberField } from '../../../base/codec/fields.ts';
import { asPlainDict, newDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { Bucket, Cluster } from '../../../engine/cluster/api.ts';
import type { DrainReport } from '../../../extend/sdk/index.ts';
import type { Tracker } from '../../tracking/tracker.ts';
import { rendezvous } from '../rendezvous.ts';
import { isConflict } from '../secrets.ts';

export interface DrainParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'members' | 'registry' | 'signals' | 'ledger'>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'limited'>;
}

export const drainKey = (id: string): string => `drain.${id}`;
const answerMs = 5_000;
const askMs = 20_000;
const mostNamed = 100;
/** Of one request to another member. */
const mostJobs = 500;

export class Drain {
  readonly #parts: DrainParts;
  readonly #reg: Bucket<Value>;
  readonly #end = new AbortController();
  /** Members that are being drained, and since when. */
  readonly #draining = new Map<string, number>();
  /** Jobs of this master that other members follow now. */
  readonly #given = new Set<string>();
  #tracker: Pick<Tracker, 'active'> | undefined;

  constructor(parts: DrainParts) {
    this.#parts = parts;
    this.#reg = parts.cluster.registry.bucket('reg');
  }

  start(tracker: Pick<Tracker, 'active'>): void {
    const { cluster, log } = this.#parts;
    if (cluster.name === undefined) return;
    this.#tracker = tracker;
    cluster.signals.answer('drain', () => this.#answer());
    this.#reg
      .remove(drainKey(cluster.self.id))
      .catch((error: unknown) => log.warn('the end of a drain cannot be told', { why: messageOf(error) }))
      .finally(() => this.#watch());
  }

  stop(): void {
    this.#end.abort();
  }

  #watch(): void {
    this.#reg.watch({
      on: (entry) => {
        if (!entry.key.startsWith('drain.')) return;
        const id = entry.key.slice('drain.'.length);
        if ('removed' in entry) this.#draining.delete(id);
        else this.#draining.set(id, numberField(asPlainDict(entry.value) ?? newDict(), 'at') ?? Date.now());
        if (id !== this.#parts.cluster.self.id) return;
        this.#given.clear();
        this.#parts.log.info('removed' in entry ? 'this master takes jobs again' : 'this master starts no new jobs');
      },
      signal: this.#end.signal,
    });
  }

  /** By the clock of the member where the command was given. */
  since(id: string): Date | undefined {
    const at = this.#draining.get(id);
    return at === undefined ? undefined : new Date(at);
  }

  /** Others do what this master did. */
  get isDrained(): boolean {
    return this.#draining.has(this.#parts.cluster.self.id) && this.#others().length > 0;
  }

  refuseNew(): void {
    const { self } = this.#parts.cluster;
    if (!this.#draining.has(self.id)) return;
    const others = this.#others();
    throw new HaliteError('cluster.refused', `The master ${self.id} is being drained: it starts no new jobs`, {
      hint: `Run it on ${others.join(' or ') || 'another master'}; or let this one work again: salt-run cluster.drain ${self.id} undo=True`,
    });
  }

  /** Other live members that are not being drained. */
  #others(): string[] {
    const { self, members } = this.#parts.cluster;
    const live = members.call(this.#parts.cluster).map(({ id }) => id);
    return live.filter((id) => id !== self.id && !this.#draining.has(id));
  }

  /** What is still here, after everything was offered to the others. */
  async *#answer(): AsyncIterable<Value> {
    await this.#giveAway();
    const held = this.#parts.cluster.ledger.held().items;
    const jobs = this.#own().slice(0, mostNamed);
    yield newDict([
      ['held', held],
      ['jobs', jobs],
    ] as [string, Value][]);
  }

  #own(): string[] {
    const all = this.#tracker?.active() ?? [];
    return all.filter(({ adopted, jid }) => !this.#given.has(jid) && adopted === undefined).map(({ jid }) => jid);
  }

  async #giveAway(): Promise<void> {
    const { cluster, log } = this.#parts;
    const others = this.#others();
    if (others.length === 0 || !this.#draining.has(cluster.self.id)) return;
    const plan = new Map<string, string[]>();
    for (const jid of this.#own()) {
      // The same one that would adopt it after the stop.
      const [to = ''] = rendezvous(jid, others);
      plan.set(to, [...(plan.get(to) ?? []), jid]);
    }
    for (const [to, jids] of plan) {
      try {
        const some = jids.slice(0, mostJobs);
        for await (const jid of cluster.signals.ask(to, 'adopt', some, { timeoutMs: askMs })) {
          if (typeof jid === 'string' && some.includes(jid)) this.#given.add(jid);
        }
      } catch (error) {
        log.limited('drain', 'warn', 'jobs cannot be given to another master', { to, why: messageOf(error) });
      }
    }
  }

  // For the member on which the command runs.

  async begin(id: string): Promise<void> {
    const value = newDict([
      ['at', Date.now()],
      ['by', this.#parts.cluster.self.id],
    ] as [string, Value][]);
    await this.#reg.create(drainKey(id), value).catch((error: unknown) => {
      if (!isConflict(error)) throw error;
    });
  }

  undo(id: string): Promise<void> {
    return this.#reg.remove(drainKey(id));
  }

  /** Noted where `forget` finds it. */
  async note(id: string): Promise<void> {
    const entry = await this.#reg.get(drainKey(id));
    const fields = entry && asPlainDict(entry.value);
    if (entry && fields)
      await this.#reg.update(entry.key, newDict([...Object.entries(fields), ['empty', Date.now()]]), entry.revision);
  }

  async ask(id: string): Promise<DrainReport> {
    const { cluster } = this.#parts;
    const source =
      id === cluster.self.id ? this.#answer() : cluster.signals.ask(id, 'drain', null, { timeoutMs: answerMs + askMs });
    for await (const answer of source) {
      const fields = asPlainDict(answer) ?? newDict();
      const held = intField(fields, 'held');
      const jobs = (listField(fields, 'jobs') ?? [])
        .filter((jid): jid is string => typeof jid === 'string')
        .slice(0, mostNamed);
      // An answer of another form proves nothing.
      if (held === undefined || held < 0 || listField(fields, 'jobs') === undefined) break;
      return { isEmpty: held === 0 && jobs.length === 0, held, jobs };
    }
    throw new HaliteError('cluster.refused', `The master ${id} does not say what it holds`, {
      hint: 'Is its version older? Then stop it when salt-run cluster.status shows "held 0" for it.',
    });
  }
}
