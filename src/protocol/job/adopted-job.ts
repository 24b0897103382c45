// A run that a minion started by itself (`salt-call`, its schedule) and that the master stores as a job.
import { newDict } from '../../base/codec/value.ts';
import { generateJid } from '../../base/util/jid.ts';
import type { PublishedJob } from './job.ts';
import type { JobReturn } from './job-return.ts';

/**
 * The record of a run on one minion, with a jid that the master assigned or checked: only fields that a minion may set
 * for such a run. Options of returners are not among them: they apply only to jobs of the master.
 */
export function adoptedJob(ret: JobReturn, jid: string): PublishedJob {
  const { id, fun, fun_args, arg = fun_args ?? [], user, schedule } = ret;
  const metadata = ret.options?.metadata;
  return {
    ...{ jid, fun, arg, tgt: id, tgt_type: 'glob', startedBy: id },
    ...(metadata === undefined ? {} : { options: { metadata } }),
    ...(user === undefined ? {} : { user }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(fun_args === undefined ? {} : { extra: newDict([['fun_args', [...fun_args]]]) }),
  };
}

/** The result of such a run, with the jid and the fields of its job record. */
export function adoptedReturn(ret: JobReturn, { jid, arg, tgt_type }: PublishedJob): JobReturn {
  const target = Object.entries({ tgt: ret.id, tgt_type });
  return { ...ret, jid, arg, extra: newDict([...Object.entries(ret.extra ?? {}), ...target]) };
}

/** A jid that this master may still generate: no minion can have run a job with it. */
export const isFutureJid = (jid: string): boolean => jid > generateJid();
