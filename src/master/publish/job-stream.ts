// A published job as the stream of items that a command prints: job, returns, missing ones, end.
import { newDict } from '../../base/codec/value.ts';
import { AsyncQueue } from '../../base/util/async-queue.ts';
import type { JobItem } from '../../engine/client/api.ts';
import { exitCode, type JobReturn, saysSuccess } from '../../protocol/job/job-return.ts';
import { saysConnected } from '../../protocol/job/verdict.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { JobUpdate } from '../tracking/active-job.ts';
import type { PreparedJob } from './publish.ts';

export interface StreamParts {
  readonly fleet: Pick<Fleet, 'connected'>;
}

/** Sends a prepared job and yields its items, until every minion has a verdict or `signal` aborts. */
export async function* jobItems(parts: StreamParts, job: PreparedJob, signal: AbortSignal): AsyncIterable<JobItem> {
  const updates = new AsyncQueue<JobUpdate>();
  const stop = job.active.listen((update) => updates.push(update));
  const aborted = (): void => void updates.return();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    await job.send();
    yield { type: 'job', jid: job.jid, minions: [...job.minions], missing: [...job.missing] };
    // A job that was closed before anyone listened reports no end.
    if (job.active.ended) updates.close();
    if (signal.aborted) return;
    for await (const update of updates) {
      if (update.type === 'end') break;
      yield itemOf(parts, update);
      if (signal.aborted) return;
    }
    if (!signal.aborted) yield { type: 'end', balance: newDict(Object.entries(job.active.balance())) };
  } finally {
    stop();
    signal.removeEventListener('abort', aborted);
  }
}

export function itemOf(parts: StreamParts, update: Exclude<JobUpdate, { type: 'end' }>): JobItem {
  switch (update.type) {
    case 'return':
      return returnItem(update.ret);
    case 'progress':
      return { type: 'progress', id: update.id, text: update.text };
    case 'queued': {
      const { code, text, evidence } = update.reason;
      return { type: 'queued', id: update.id, until: update.until, reason: { code, text, evidence } };
    }
    case 'missing': {
      const { code, text, evidence } = update.reason;
      return {
        type: 'missing',
        id: update.id,
        reason: { code, text, evidence },
        connected: saysConnected(code) && parts.fleet.connected(update.id) !== 'no',
      };
    }
  }
}

function returnItem(ret: JobReturn): JobItem {
  const { id, jid, fun, out, ended } = ret;
  return {
    ...{ type: 'return', id, jid, ret: ret.return, retcode: exitCode(ret), success: saysSuccess(ret) },
    ...(out === undefined ? {} : { out }),
    ...(typeof fun === 'string' ? { fun } : {}),
    ...(ended === undefined ? {} : { ended }),
  };
}
