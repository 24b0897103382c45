// A run that a minion started by itself (`salt-call`, its schedule) and that the master stores as a job.
import { dictGet, newDict } from '../../base/codec/value.ts';
import { jidToMillis } from '../../base/util/jid.ts';
import { funName, type PublishedJob } from './job.ts';
import type { JobReturn } from './job-return.ts';

/**
 * The record of a run on one minion, with a jid that the master assigned or checked: only fields that a minion may set
 * for such a run. Options of returners are not among them: they apply only to jobs of the master.
 */
export function adoptedJob(ret: JobReturn, jid: string): PublishedJob {
  const { id, fun, fun_args, arg = fun_args ?? [], user, schedule, keptFor } = ret;
  const metadata = ret.options?.metadata;
  return {
    ...{ jid, fun, arg, tgt: id, tgt_type: 'glob', startedBy: id },
    ...(metadata === undefined ? {} : { options: { metadata } }),
    ...(user === undefined ? {} : { user }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(keptFor === undefined ? {} : { keptFor }),
    ...(fun_args === undefined ? {} : { extra: newDict([['fun_args', [...fun_args]]]) }),
  };
}

/** The result of such a run, with the jid and the fields of its job record. */
export function adoptedReturn(ret: JobReturn, { jid, arg, tgt_type }: PublishedJob): JobReturn {
  const target = Object.entries({ tgt: ret.id, tgt_type });
  return { ...ret, jid, arg, extra: newDict([...Object.entries(ret.extra ?? {}), ...target]) };
}

/** `2026-01-31T23:59:59.000001`, from Salt 3008 on with `+00:00`; Python leaves out a fraction of zero. */
const stampForm = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{6}))?(?:\+00:00)?$/;
/** Older ones are those of a wrong clock. */
const oldestStampMs = 24 * 3_600_000;

/** When a minion made a result of its own; the same in what it sends to each of its masters. */
export function stampOf({ extra }: JobReturn): string | undefined {
  const stamp = extra && dictGet(extra, '_stamp');
  return typeof stamp === 'string' && stampForm.test(stamp) ? stamp : undefined;
}

/**
 * The jid of a scheduled run of a Salt minion, which sends none: the digits of its time, so that each of its masters
 * assigns the same one.
 */
export function stampedJid(ret: JobReturn): string | undefined {
  const stamp = ret.schedule === undefined ? undefined : stampOf(ret);
  const [, ...digits] = (stamp && stampForm.exec(stamp)) || [];
  if (digits.length === 0) return undefined;
  const jid = [...digits.slice(0, 6), digits[6] ?? '000000'].join('');
  const at = jidToMillis(jid);
  return at !== undefined && at > Date.now() - oldestStampMs ? jid : undefined;
}

/** Whether two runs of one time are one job: those of one minion, and those of one schedule on several. */
export function isSameRun(job: PublishedJob, ret: JobReturn): boolean {
  if (job.startedBy === undefined || job.keptFor !== undefined) return false;
  if (job.startedBy === ret.id) return true;
  return job.schedule !== undefined && job.schedule === ret.schedule && funName(job.fun) === funName(ret.fun);
}
