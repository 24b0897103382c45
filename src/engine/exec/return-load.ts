// Combines a job and its outcome to the result for the master.
import { isDict } from '../../base/codec/value.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';
import type { JobReturn } from '../../protocol/job/job-return.ts';
import type { Outcome } from './outcome.ts';

export function jobReturn(id: string, job: PublishedJob, outcome: Outcome): JobReturn {
  const { metadata, master_id, ret_config, ret_kwargs } = job.options ?? {};
  return {
    ...{ id, jid: job.jid, fun: job.fun, fun_args: job.arg },
    ...{ success: outcome.success, return: outcome.return, retcode: outcome.retcode },
    ...(outcome.out === undefined ? {} : { out: outcome.out }),
    ...(job.user === undefined ? {} : { user: job.user }),
    ...(job.schedule === undefined ? {} : { schedule: job.schedule }),
    options: {
      ...(isDict(metadata) ? { metadata } : {}),
      ...(master_id === undefined ? {} : { master_id }),
      ...(ret_config === undefined ? {} : { ret_config }),
      ...(ret_kwargs === undefined ? {} : { ret_kwargs }),
    },
  };
}
