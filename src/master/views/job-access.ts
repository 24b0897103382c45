// Which jobs a caller may see: own ones, those of the runner `jobs.list_job`, and those that its rules permit on all of
// their minions.
import { asList, isTexts } from '../../base/codec/value.ts';
import { isJid } from '../../base/util/jid.ts';
import { funName, type PublishedJob } from '../../protocol/job/job.ts';
import type { JobStore } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import { argumentsOf } from '../authorization/call-arguments.ts';
import type { RequestedCall } from '../authorization/rules.ts';
import type { ViewRights } from '../authorization/view-rights.ts';
import { unknownThing } from './page.ts';

/** Who looks: what it may see, and which jobs it started. */
export interface Viewer {
  readonly rights: ViewRights;
  readonly started: (jid: string) => boolean;
  /** The ids of all jobs that it started. */
  startedJobs(): readonly string[];
}

export interface SeenJob {
  readonly job: PublishedJob;
  /** In the order of the verdicts. */
  readonly ids: readonly string[];
  /** Also minions that answered without being asked: rules cover only those that were asked. */
  readonly whole: boolean;
}

export const seesAllJobs = ({ rights }: Viewer): boolean => rights.mayCall('runners', 'jobs.list_jobs');

function callsOf({ fun, arg }: Pick<PublishedJob, 'fun' | 'arg'>): RequestedCall[] {
  if (typeof fun === 'string') return [{ fun, ...argumentsOf(arg) }];
  return fun.map((name, at) => ({ fun: name, ...argumentsOf(asList(arg[at]) ?? []) }));
}

/** Without rules for its function. */
const seesWhole = ({ rights, started }: Viewer, { jid }: PublishedJob): boolean =>
  rights.everything || started(jid) || rights.mayCall('runners', 'jobs.list_job', [jid]);

function mayRunAgain({ rights }: Viewer, job: PublishedJob, ids: readonly string[]): boolean {
  const calls = callsOf(job);
  // Everybody may ask whether a job runs; the answer is for those who asked.
  if (calls.some(({ fun }) => fun === 'saltutil.find_job')) return false;
  // Runners and wheel functions are no functions of minions, although their history has the same form.
  if (/^(runner|wheel)\./.test(funName(job.fun))) return false;
  return rights.mayRun(calls, ids);
}

/** The job, or the error that also those get that do not exist. */
export async function seenJob(
  store: Pick<JobStore, 'load' | 'expected'>,
  viewer: Viewer,
  jid: string | undefined,
): Promise<SeenJob> {
  if (!isJid(jid)) throw unknownThing('job');
  const [load, ids] = await Promise.all([store.load(jid), store.expected(jid)]);
  const job = load && storedJob(load);
  if (!job || !isTexts(ids)) throw unknownThing('job');
  const whole = seesWhole(viewer, job);
  if (!whole && !mayRunAgain(viewer, job, ids)) throw unknownThing('job');
  return { job, ids, whole };
}
