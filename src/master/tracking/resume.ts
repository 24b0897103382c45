// After a restart, open jobs are tracked again, so that each of their minions gets a verdict.
import type { MasterOpts } from '../../base/config/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn } from '../../protocol/wire/messages/job-return.ts';
import type { JobStore, UnfinishedJob } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import { type Fleet, startGraceMs } from '../fleet/fleet.ts';
import type { ReturnerSettings } from '../returners/settings.ts';
import type { Tracker } from './tracker.ts';

export interface ResumeParts {
  readonly opts: Pick<MasterOpts, 'timeout' | 'gather_job_timeout'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly store: Pick<JobStore, 'unfinished' | 'load' | 'returns' | 'saveVerdicts'>;
  readonly returnerSettings: Pick<ReturnerSettings, 'keepReturns'>;
  readonly fleet: Pick<Fleet, 'since'>;
  readonly tracker: Pick<Tracker, 'job' | 'open' | 'begin' | 'returned' | 'alreadyReturned'>;
}

/** Older jobs, and more than that many, are not resumed. */
const oldestMs = 3_600_000;
const mostJobs = 500;

/** Starts when every running minion has had time to reconnect; the returned function cancels it. */
export function resumeJobs(parts: ResumeParts, delayMs = startGraceMs + 1_000): () => void {
  const timer = setTimeout(() => {
    resume(parts).catch((error: unknown) =>
      parts.log.warn('jobs from before the start could not be tracked', { error: messageOf(error) }),
    );
  }, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}

export async function resume(parts: ResumeParts): Promise<number> {
  const { store, tracker, fleet, opts, log } = parts;
  // Without stored results it is unknown which jobs are finished.
  if (!parts.returnerSettings.keepReturns) return 0;
  // Without an upper limit: if the clock was set back meanwhile, the last jobs seem to be from the future.
  const before = { from: fleet.since - oldestMs, to: Number.MAX_SAFE_INTEGER, most: mostJobs };
  const waiting = { timeoutMs: opts.timeout * 1000, gatherMs: opts.gather_job_timeout * 1000 };
  const jobs = (await store.unfinished(before)).filter(({ jid }) => !tracker.job(jid));
  const open = jobs.map(({ jid, fun, user, ids }) => tracker.open(jid, fun, ids, [], waiting, user));
  if (open.length === 0) return 0;
  // A result that was being stored during the query is there now: writes are done in order.
  await store.saveVerdicts([]);
  const left = idsByJob(await store.unfinished(before));
  for (const job of open) {
    if (job.open().some((id) => !left.get(job.jid)?.has(id))) await takeStored(parts, job.jid);
    tracker.begin(job, { poll: true, ...(await durableOf(parts, job.jid)) });
  }
  log.info('jobs from before the start are tracked again', { jobs: open.length });
  return open.length;
}

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
