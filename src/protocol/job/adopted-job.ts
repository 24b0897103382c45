// A run that a minion started by itself (`salt-call`, its schedule) and that the master keeps as a job.
import { newDict } from '../../base/codec/value.ts';
import { generateJid } from '../../base/util/jid.ts';
import type { PublishedJob } from './job.ts';
import type { JobReturn } from './job-return.ts';

/**
 * The record of a run on one minion, under a jid that the master chose or checked: only what a minion may say about such
 * a run. Options of returners are not among it: they count only in jobs of the master.
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

/** The result of such a run, under the jid of its job and with what its record says of it. */
export function adoptedReturn(ret: JobReturn, { jid, arg, tgt_type }: PublishedJob): JobReturn {
  const target = Object.entries({ tgt: ret.id, tgt_type });
  return { ...ret, jid, arg, extra: newDict([...Object.entries(ret.extra ?? {}), ...target]) };
}

/** A jid that this master may still make: no minion can have run a job of that name. */
export const isFutureJid = (jid: string): boolean => jid > generateJid();
