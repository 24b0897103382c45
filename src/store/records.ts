// Conversion between jobs or results and rows of the store: the only place that writes and reads them there.
import type { Dict } from '../base/codec/value.ts';
import { funName, type PublishedJob } from '../protocol/job/job.ts';
import { exitCode, type JobReturn, saysSuccess } from '../protocol/job/job-return.ts';
import { isProblem } from '../protocol/wire/messages/fields.ts';
import { jobFields, readPublishedJob } from '../protocol/wire/messages/job.ts';
import type { JobRecord, ReturnRecord } from './jobs.ts';

export function jobRecord(job: PublishedJob, about: Pick<JobRecord, 'expected' | 'started' | 'internal'>): JobRecord {
  const { jid, fun, tgt, tgt_type, user = 'root', startedBy } = job;
  return {
    ...{ jid, fun: funName(fun), tgt: typeof tgt === 'string' ? tgt : tgt.join(','), tgt_type, user },
    ...{ load: jobFields(job), ...about },
    ...(startedBy === undefined ? {} : { adopted: true }),
  };
}

/** `load` is the result in its encoded form, which events contain too. */
export function returnRecord(ret: JobReturn, load: Dict, received: number): ReturnRecord {
  const { jid, id, fun } = ret;
  return { jid, id, fun: funName(fun), retcode: exitCode(ret), success: saysSuccess(ret), load, received };
}

/** The job of a stored load; undefined when it is not valid. */
export function storedJob(load: Dict): PublishedJob | undefined {
  const job = readPublishedJob(load);
  return isProblem(job) ? undefined : job;
}
