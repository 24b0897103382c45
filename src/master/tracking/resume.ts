// After a restart: jobs that were open go on being followed, so that every minion of theirs ends in a verdict.
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

/** Older jobs, and more than that many, are left as they are. */
const oldestMs = 3_600_000;
const mostJobs = 500;

/** Begins when every minion that is alive has had time to connect again; the result ends that. */
export function resumeJobs(parts: ResumeParts, delayMs = startGraceMs + 1_000): () => void {
  const timer = setTimeout(() => {
    resume(parts).catch((error: unknown) =>
      parts.log.warn('jobs from before the start could not be followed', { error: messageOf(error) }),
    );
  }, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
}

export async function resume(parts: ResumeParts): Promise<number> {
  const { store, tracker, fleet, opts, log } = parts;
  // Without stored results nobody can tell which jobs are over.
  if (!parts.returnerSettings.keepReturns) return 0;
  // Without an upper end: when the clock was set back meanwhile, the last jobs seem to come from the future.
  const before = { from: fleet.since - oldestMs, to: Number.MAX_SAFE_INTEGER, most: mostJobs };
  const waiting = { timeoutMs: opts.timeout * 1000, gatherMs: opts.gather_job_timeout * 1000 };
  const jobs = (await store.unfinished(before)).filter(({ jid }) => !tracker.job(jid));
  const open = jobs.map(({ jid, fun, user, ids }) => tracker.open(jid, fun, ids, [], waiting, user));
  if (open.length === 0) return 0;
  // A result that was on its way into the store while it was asked is there now: writes are done in their order.
  await store.saveVerdicts([]);
  const left = idsByJob(await store.unfinished(before));
  for (const job of open) {
    if (job.open().some((id) => !left.get(job.jid)?.has(id))) await takeStored(parts, job.jid);
    tracker.begin(job, { poll: true, ...(await durableOf(parts, job.jid)) });
  }
  log.info('jobs from before the start are followed again', { jobs: open.length });
  return open.length;
}

const idsByJob = (jobs: readonly UnfinishedJob[]): Map<string, Set<string>> =>
  new Map(jobs.map(({ jid, ids }) => [jid, new Set(ids)]));

/** A durable job stays one: whoever is not there gets it later, until its time is up. */
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
