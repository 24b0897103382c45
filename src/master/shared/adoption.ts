// Jobs whose master is gone: one of the others goes on with each of them, so that every minion gets its verdict.

import { isTexts, newDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { Cluster, Member } from '../../engine/cluster/api.ts';
import type { EventBus } from '../../protocol/event/bus.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn } from '../../protocol/wire/messages/job-return.ts';
import type { JobStore, UnfinishedJob } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import type { ActiveJob, Adopted } from '../tracking/active-job.ts';
import { reason } from '../tracking/reasons.ts';
import type { Tracker } from '../tracking/tracker.ts';
import { rendezvous } from './rendezvous.ts';

export interface AdoptionParts {
  readonly cluster: Pick<Cluster, 'name' | 'self' | 'members' | 'registry' | 'onChange' | 'signals'>;
  readonly opts: Pick<MasterOpts, 'timeout' | 'gather_job_timeout'>;
  readonly log: Pick<Logger, 'info' | 'limited'>;
  readonly bus: Pick<EventBus, 'fire'>;
  readonly store: Pick<JobStore, 'unfinished' | 'load' | 'returns' | 'saveVerdicts'>;
  readonly tracker: Pick<Tracker, 'job' | 'open' | 'begin' | 'returned' | 'alreadyReturned'>;
}

const oldestMs = 24 * 3_600_000;
/** More open jobs of one member are not followed: their minions get a verdict at once. */
const mostFollowed = 500;
const mostJobs = 5_000;
const claimMs = 3_600_000;
/** What the member that is gone had given to the engine is read by then. */
const settleMs = 1_000;
/** The engine may be away at the same time. */
const againMs = 3_000;

export class Adoption {
  readonly #parts: AdoptionParts;
  readonly #stop: () => void;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Claims of which nothing is known: they may have arrived. */
  readonly #unsure = new Set<string>();

  constructor(parts: AdoptionParts) {
    this.#parts = parts;
    this.#stop = parts.cluster.onChange((change) => {
      if (change.kind === 'left') this.#soon(change.member);
    });
    const take = (body: Value, from: Member): AsyncIterable<Value> => this.#takeOver(body, from);
    parts.cluster.signals.answer('adopt', take);
  }

  stop(): void {
    this.#stop();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Again and again, until all are claimed by somebody, or that master is back. */
  #soon(gone: Member, waitMs = settleMs): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#take(gone).catch((error: unknown) => {
        this.#parts.log.limited(`adoption:${gone.id}`, 'warn', 'jobs of a master that is gone are not continued yet', {
          ...{ master: gone.id, error: messageOf(error) },
        });
        this.#soon(gone, againMs);
      });
    }, waitMs).unref();
    this.#timers.add(timer);
  }

  async #take(gone: Member): Promise<void> {
    const { cluster, store, tracker, log } = this.#parts;
    const live = cluster.members();
    // Also those that it had adopted itself.
    const slots = new Set(live.map(({ slot }) => slot));
    const all = await store.unfinished({ from: Date.now() - oldestMs, to: Number.MAX_SAFE_INTEGER, most: mostJobs });
    const ids = live.map(({ id }) => id);
    const mine = all.filter(
      ({ jid, owner }) =>
        owner !== undefined && !slots.has(owner) && !tracker.job(jid) && rendezvous(jid, ids)[0] === cluster.self.id,
    );
    let adopted = 0;
    for (const job of mine) {
      if (!(await this.#claim(`a.${job.jid}.${gone.boot}`))) continue;
      if (adopted >= mostFollowed) await this.#giveUp(job, gone);
      else {
        await this.#follow(job, gone, 'is gone');
        adopted += 1;
      }
    }
    if (adopted > 0) log.info('jobs of a master that is gone are continued here', { master: gone.id, jobs: adopted });
  }

  /** One whose answer was lost counts as ours: two that follow a job do no harm, none would leave it open. */
  async #claim(name: string): Promise<boolean> {
    try {
      const isOurs = await this.#parts.cluster.registry.claim(name, claimMs);
      return this.#unsure.delete(name) || isOurs;
    } catch (error) {
      this.#unsure.add(name);
      throw error;
    }
  }

  /** Jobs that a member gives away before it stops: told back are those that are followed here from now on. */
  async *#takeOver(body: Value, from: Member): AsyncIterable<Value> {
    const wanted = new Set(isTexts(body) ? body.slice(0, mostFollowed) : []);
    const { store, tracker } = this.#parts;
    const all = await store.unfinished({ from: Date.now() - oldestMs, to: Number.MAX_SAFE_INTEGER, most: mostJobs });
    for (const job of all) {
      if (!wanted.has(job.jid) || job.owner !== from.slot) continue;
      if (!tracker.job(job.jid)) {
        if (!(await this.#claim(`a.${job.jid}.${from.boot}`))) continue;
        await this.#follow(job, from, 'gave it away');
      }
      yield job.jid;
    }
  }

  async #follow({ jid, fun, user, ids }: UnfinishedJob, former: Member, why: Adopted['why']): Promise<void> {
    const { cluster, opts, bus, store, tracker } = this.#parts;
    const waiting = { timeoutMs: opts.timeout * 1000, gatherMs: opts.gather_job_timeout * 1000 };
    const job = tracker.open(jid, fun, ids, [], waiting, user);
    const adopted = { by: cluster.self.id, from: former.id };
    job.adopted = { ...adopted, at: Date.now(), why };
    await this.#takeStored(job);
    const load = await store.load(jid);
    const until = ((load && storedJob(load)?.durableUntil) ?? 0) * 1000;
    tracker.begin(job, { poll: true, ...(until > Date.now() ? { durableUntil: until } : {}) });
    bus.fire(`halite/job/${jid}/adopted`, newDict(Object.entries({ jid, ...adopted })));
  }

  /** Results that came between the look into the store and now. */
  async #takeStored(job: ActiveJob): Promise<void> {
    const { store, tracker } = this.#parts;
    for (const [id, load] of await store.returns(job.jid)) {
      const ret = readJobReturn(load, { id, jid: job.jid });
      if (!isProblem(ret) && job.verdict(id) && !tracker.alreadyReturned(job.jid, id)) tracker.returned(ret);
    }
  }

  async #giveUp({ jid, ids }: UnfinishedJob, gone: Member): Promise<void> {
    const { code, text, evidence } = reason('owner-lost', newDict([['master', gone.id]]), gone.id);
    const verdict = { jid, verdict: 'missing', reason: code, text, evidence, at: Date.now() };
    await this.#parts.store.saveVerdicts(ids.map((id) => ({ ...verdict, id })));
  }
}
