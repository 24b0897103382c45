// Starts jobs again, and stops them.
import { textField } from '../../base/codec/fields.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { JobHistory } from '../../extend/sdk/index.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import type { PreparedJob } from '../publish/publish.ts';
import type { Tracker } from '../tracking/tracker.ts';
import { type SeenJob, seenJob, type Viewer } from './job-access.ts';
import { idsWith, type JobViewParts, wrongChoice } from './job-view.ts';

export interface JobActionParts extends JobViewParts {
  readonly authorization: Pick<Authorization, 'authorizePublish'>;
  readonly tracker: Pick<Tracker, 'job' | 'giveUp'>;
  readonly history: Pick<JobHistory, 'cancel'>;
  prepare(request: AskedJob): PreparedJob;
}

/** Which minions a repetition is for, by the letters of their verdicts. */
const again: Readonly<Record<string, string>> = {
  all: 'wrqocfmdx',
  failed: 'fd',
  missing: 'mx',
  unfinished: 'wrqmdx',
};

/** The repetition of a job, on some of its minions, as a request in the name of the caller. */
export async function jobAgain(
  parts: JobActionParts,
  viewer: Viewer,
  args: PlainDict,
): Promise<Omit<AskedJob, 'user'>> {
  const on = textField(args, 'on') ?? '';
  if (!Object.hasOwn(again, on)) throw wrongChoice('on', Object.keys(again));
  const seen = await seenJob(parts.store, viewer, textField(args, 'jid'));
  const { fun, arg, options } = seen.job;
  if (/^(runner|wheel)\./.test(typeof fun === 'string' ? fun : ''))
    throw new HaliteError('call.arguments', 'Runners and wheel functions are not jobs of minions: call them again.');
  const tgt = await idsWith(parts, seen, again[on] ?? '');
  if (tgt.length === 0) throw new HaliteError('target.empty', `No minion of this job is ${on}.`);
  const { metadata } = options ?? {};
  return { tgt, tgt_type: 'list', fun, arg, ...(metadata === undefined ? {} : { options: { metadata } }) };
}

const how = ['term', 'kill', 'forget', 'cancel-pending'] as const;

/** Every way needs the right to end the job on its minions. */
export async function jobStop(
  parts: JobActionParts,
  viewer: Viewer,
  caller: Caller,
  args: PlainDict,
): Promise<PlainDict> {
  const wanted = textField(args, 'how') ?? '';
  const chosen = how.find((name) => name === wanted);
  if (!chosen) throw wrongChoice('how', how);
  const seen = await seenJob(parts.store, viewer, textField(args, 'jid'));
  const { jid } = seen.job;
  const tgt = await openIds(parts, seen, chosen);
  if (tgt.length === 0) return stopped([]);
  const fun = chosen === 'term' ? 'saltutil.term_job' : 'saltutil.kill_job';
  const request = { tgt, tgt_type: 'list', fun, arg: [jid], user: caller.user, unwatched: true };
  const permitted = parts.authorization.authorizePublish(caller, request);
  if (chosen === 'cancel-pending') return stopped(await parts.history.cancel(jid, tgt));
  if (chosen === 'forget') return stopped(parts.tracker.giveUp(jid));
  const job = parts.prepare(permitted);
  await job.send();
  return newDict([['jid', job.jid], ...Object.entries(stopped(job.minions))]);
}

async function openIds(parts: JobActionParts, seen: SeenJob, chosen: (typeof how)[number]): Promise<string[]> {
  const active = parts.tracker.job(seen.job.jid);
  if (chosen === 'forget') return active?.open() ?? [];
  return idsWith(parts, seen, chosen === 'cancel-pending' ? 'wq' : 'wr');
}

const stopped = (ids: readonly string[]): PlainDict => newDict([['minions', [...ids] as Value[]]]);
