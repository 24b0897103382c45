// After a restart, open jobs are tracked again, so that each of their minions gets a verdict.
import type { MasterOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { funName } from '../../protocol/job/job.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn } from '../../protocol/wire/messages/job-return.ts';
import type { JobStore, UnfinishedJob } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import { type Fleet, startGraceMs } from '../fleet/fleet.ts';
import type { ReturnerSettings } from '../returners/settings.ts';
import type { ActiveJob } from './active-job.ts';
import type { Tracker } from './tracker.ts';

export interface ResumeParts {
  /** In a cluster: the slot of this member. Jobs of others are followed by them, or by whoever adopts them. */
  readonly owner?: number;
  readonly opts: Pick<MasterOpts, 'timeout' | 'gather_job_timeout'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly store: Pick<
    JobStore,
    'unfinished' | 'load' | 'returns' | 'saveVerdicts' | 'expected' | 'verdicts' | 'pending'
  >;
  readonly returnerSettings: Pick<ReturnerSettings, 'keepReturns'>;
  readonly fleet: Pick<Fleet, 'since'>;
  readonly tracker: Pick<Tracker, 'job' | 'open' | 'begin' | 'returned' | 'alreadyReturned'>;
}

/** Older jobs, and more than that many, are not resumed. */
const oldestMs = 3_600_000;
const mostJobs = 500;

export class ResumedJobs {
  readonly #parts: ResumeParts;
  /** Opened before the others, because somebody waits for them. */
  readonly #early = new Set<ActiveJob>();
  #done = false;

  constructor(parts: ResumeParts) {
    this.#parts = parts;
  }

  /** Runs when every running minion has had time to reconnect; the returned function cancels it. */
  start(delayMs = startGraceMs + 1_000): () => void {
    const timer = setTimeout(() => {
      this.run().catch((error: unknown) =>
        this.#parts.log.warn('jobs from before the start could not be tracked', { error: messageOf(error) }),
      );
    }, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  }

  async run(): Promise<number> {
    const { store, tracker, fleet, log } = this.#parts;
    this.#done = true;
    // Without stored results it is unknown which jobs are finished.
    if (!this.#parts.returnerSettings.keepReturns) return 0;
    // Without an upper limit: if the clock was set back meanwhile, the last jobs seem to be from the future.
    const before = { from: fleet.since - oldestMs, to: Number.MAX_SAFE_INTEGER, most: mostJobs, ...ownOf(this.#parts) };
    const jobs = (await store.unfinished(before)).filter(({ jid }) => !tracker.job(jid));
    const open = [...this.#early, ...jobs.map(({ jid, fun, user, ids }) => this.#track(jid, fun, ids, user))];
    if (open.length === 0) return 0;
    // A result that was being stored during the query is there now: writes are done in order.
    await store.saveVerdicts([]);
    const left = idsByJob(await store.unfinished(before));
    for (const job of open) {
      if (job.open().some((id) => !left.get(job.jid)?.has(id))) await takeStored(this.#parts, job.jid);
      tracker.begin(job, { poll: true, ...(await durableOf(this.#parts, job.jid)) });
    }
    log.info('jobs from before the start are tracked again', { jobs: open.length });
    return open.length;
  }

  /**
   * A job that somebody waits for again; undefined when nothing of it is open. Results count from now on, but its
   * minions are not asked before all have had time to reconnect.
   */
  async open(jid: string): Promise<ActiveJob | undefined> {
    const { store, tracker } = this.#parts;
    const tracked = tracker.job(jid);
    if (tracked || !this.#parts.returnerSettings.keepReturns) return tracked;
    const load = await store.load(jid);
    const job = load && storedJob(load);
    if (!job || job.startedBy !== undefined) return undefined;
    const [expected, returns] = [await store.expected(jid), await store.returns(jid)];
    const told = new Set((await store.verdicts(jid)).filter(({ reason }) => reason !== '').map(({ id }) => id));
    for (const delivery of await store.pending()) if (delivery.jid === jid) told.add(delivery.id);
    const left = expected.filter((id) => !returns.has(id) && !told.has(id));
    if (left.length === 0 || tracker.job(jid)) return tracker.job(jid);
    const active = this.#track(jid, funName(job.fun), left, job.user ?? 'root');
    if (this.#done) tracker.begin(active, { poll: true, ...(await durableOf(this.#parts, jid)) });
    else this.#early.add(active);
    return active;
  }

  #track(jid: string, fun: string, ids: readonly string[], user: string): ActiveJob {
    const { tracker, opts } = this.#parts;
    const waiting = { timeoutMs: opts.timeout * 1000, gatherMs: opts.gather_job_timeout * 1000 };
    return tracker.open(jid, fun, ids, [], waiting, user);
  }
}

const ownOf = ({ owner }: ResumeParts): { owner?: number } => (owner === undefined ? {} : { owner });

const idsByJob = (jobs: readonly UnfinishedJob[]): Map<string, Set<string>> =>
  new Map(jobs.map(({ jid, ids }) => [jid, new Set(ids)]));

/** A durable job stays durable: disconnected minions get it later, until it expires. */
async function durableOf({ store }: ResumeParts, jid: string): Promise<{ durableUntil?: number }> {
  const load = await store.load(jid);
  const until = ((load && storedJob(load)?.durableUntil) ?? 0) * 1000;
  return until > Date.now() ? { durableUntil: until } : {};
}

async function takeStored({ store, tracker }: ResumeParts, jid: string): Promise<void> {
  for (const [id, load] of await store.returns(jid)) {
    const ret = readJobReturn(load, { id, jid });
    if (!isProblem(ret) && !tracker.alreadyReturned(jid, id)) tracker.returned(ret);
  }
}
