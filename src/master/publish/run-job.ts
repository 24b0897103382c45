// Runs a whole job for callers inside the master: published, tracked, and returned as one outcome.
import { unpacked } from '../../base/codec/msgpack/index.ts';
import { newDict } from '../../base/codec/value.ts';
import type { JobItem } from '../../engine/client/api.ts';
import type { JobOutcome, JobRequest } from '../../extend/sdk/index.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import { jobOptionNames, readJobOptions } from '../../protocol/wire/messages/job.ts';
import type { BatchParts } from './batch.ts';
import { runBatchBelow } from './batch-below.ts';
import { jobItems } from './job-stream.ts';
import { prepareJob } from './publish.ts';

/** The job that a runner, a state or a reaction requests. */
export function askedBy(request: JobRequest): AskedJob {
  const kwargs = request.kwargs ?? newDict();
  const named = Object.keys(kwargs).length > 0;
  return {
    tgt: request.tgt,
    tgt_type: request.tgt_type,
    fun: request.fun,
    arg: named ? [...request.arg, { ...kwargs, __kwarg__: true }] : [...request.arg],
    user: request.user ?? 'root',
    ...(request.ret ? { ret: request.ret } : {}),
    ...(request.extra ? { options: readJobOptions(request.extra, jobOptionNames) } : {}),
    ...(request.moves ? { moves: true } : {}),
    ...(request.subset ? { subset: request.subset } : {}),
    ...(request.timeoutSeconds ? { timeoutSeconds: request.timeoutSeconds } : {}),
  };
}

export async function runJob(
  parts: BatchParts,
  request: JobRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<JobOutcome> {
  const asked = askedBy(request);
  if (request.batch !== undefined) {
    const options = { size: request.batch, waitSeconds: 0, failhard: request.failhard === true };
    return collect('', runBatchBelow(parts, asked, options, signal));
  }
  const job = prepareJob(parts, asked);
  return collect(job.jid, jobItems(parts, job, signal, false));
}

async function collect(jid: string, items: AsyncIterable<JobItem>): Promise<JobOutcome> {
  const minions: string[] = [];
  const returns: Record<string, JobOutcome['returns'][string]> = Object.create(null);
  const missing: Record<string, string> = Object.create(null);
  for await (const item of items) {
    if (item.type === 'job') minions.push(...item.minions, ...item.missing);
    else if (item.type === 'more') minions.push(...item.minions.filter((id) => !minions.includes(id)));
    else if (item.type === 'return') returns[item.id] = returned(item);
    else if (item.type === 'missing') missing[item.id] = item.reason.text;
  }
  return { jid, minions, returns, missing };
}

function returned(item: Extract<JobItem, { type: 'return' }>): JobOutcome['returns'][string] {
  const { ret, retcode, success, out } = item;
  return { ret: unpacked(ret), retcode, success, ...(out === undefined ? {} : { out }) };
}
