// A batch that reaches lower masters too: as with Salt, a ping finds out first which minions there are.
import { HaliteError } from '../../base/errors/index.ts';
import type { JobItem } from '../../engine/client/api.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import { type BatchOptions, type BatchParts, runBatch } from './batch.ts';
import { goesBelow } from './below.ts';
import { noMatchText, prepareJob, runToEnd } from './publish.ts';

export async function* runBatchBelow(
  parts: BatchParts,
  request: AskedJob,
  options: BatchOptions,
  signal: AbortSignal,
): AsyncIterable<JobItem> {
  yield* runBatch(parts, goesBelow(parts, request) ? await named(parts, request) : request, options, signal);
}

/** The same job for a list of names. */
async function named(parts: BatchParts, request: AskedJob): Promise<AskedJob> {
  const { jid: _jid, ret: _ret, options: _options, durableSeconds: _durable, ...target } = request;
  const ping = prepareJob(parts, { ...target, fun: 'test.ping', arg: [], unwatched: false });
  await runToEnd(ping, () => undefined);
  const ids = [...ping.active.verdicts()].flatMap(([id, verdict]) => {
    const isNoMinion = verdict.kind === 'missing' && verdict.reason.code === 'lower-silent';
    return isNoMinion ? [] : [id];
  });
  if (ids.length === 0) throw new HaliteError('target.empty', noMatchText);
  return { ...request, tgt: ids, tgt_type: 'list' };
}
