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
  /** The other masters of the cluster that are live. */
  others?(): string[];
}

/** The first item. */
export function jobItem({ others }: StreamParts, { jid, minions, missing }: Announced): JobItem {
  const masters = others?.() ?? [];
  const item: JobItem = { type: 'job', jid, minions: [...minions], missing: [...missing] };
  return masters.length > 0 ? { ...item, others: masters } : item;
}

type Announced = Pick<PreparedJob, 'jid' | 'minions' | 'missing'>;

const sendingItem = ({ others }: StreamParts, jid: string): JobItem => ({
  type: 'sending',
  jid,
  others: others?.() ?? [],
});

/** Waits until the job is sent; one that is announced yields its number meanwhile. */
export async function* announced(
  parts: StreamParts,
  jid: string,
  sent: Promise<void>,
  announce: boolean,
): AsyncIterable<JobItem> {
  // A caller that leaves at the first item does not hear of a failure.
  sent.catch(() => {});
  if (announce) yield sendingItem(parts, jid);
  await sent;
}

/** Sends a prepared job that nobody waits for. */
export async function* sentItems(parts: StreamParts, job: PreparedJob, announce: boolean): AsyncIterable<JobItem> {
  yield* announced(parts, job.jid, job.send(), announce);
  yield jobItem(parts, job);
}

/** Sends a prepared job and yields its items, until every minion has a verdict or `signal` aborts. */
export async function* jobItems(
  parts: StreamParts,
  job: PreparedJob,
  signal: AbortSignal,
  announce: boolean,
): AsyncIterable<JobItem> {
  const updates = new AsyncQueue<JobUpdate>();
  let grew = false;
  const stop = job.active.listen((update) => {
    grew ||= update.type === 'more';
    updates.push(update);
  });
  const aborted = (): void => void updates.return();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    yield* announced(parts, job.jid, job.send(), announce);
    const growing = grew || job.active.growing ? { growing: true as const } : {};
    yield { ...jobItem(parts, job), ...growing };
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
    case 'more':
      return { type: 'more', minions: [...update.minions] };
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
