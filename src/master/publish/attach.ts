// A job that was published before, for a command that waits for it again: what is known of it, then the rest.
import { asPlainDict, newDict } from '../../base/codec/value.ts';
import { AsyncQueue } from '../../base/util/async-queue.ts';
import type { JobItem } from '../../engine/client/api.ts';
import { isFinal, isReasonCode } from '../../protocol/job/verdict.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn } from '../../protocol/wire/messages/job-return.ts';
import type { JobStore } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import type { ActiveJob, JobUpdate } from '../tracking/active-job.ts';
import type { ResumedJobs } from '../tracking/resume.ts';
import type { Tracker } from '../tracking/tracker.ts';
import { itemOf, type StreamParts } from './job-stream.ts';

export interface AttachParts extends StreamParts {
  readonly store: Pick<JobStore, 'load' | 'expected' | 'returns' | 'verdicts' | 'saveVerdicts'>;
  readonly tracker: Pick<Tracker, 'job'>;
  readonly resumed: Pick<ResumedJobs, 'open'>;
}

/** The user of a job that this master published; undefined for others. */
export async function userOfJob({ tracker, store }: AttachParts, jid: string): Promise<string | undefined> {
  const tracked = tracker.job(jid);
  if (tracked) return tracked.user;
  const load = await store.load(jid);
  const job = load && storedJob(load);
  return job && job.startedBy === undefined ? (job.user ?? 'root') : undefined;
}

export async function* attachItems(parts: AttachParts, jid: string, signal: AbortSignal): AsyncIterable<JobItem> {
  const active = await parts.resumed.open(jid);
  const updates = new AsyncQueue<JobUpdate>();
  const stop = active?.listen((update) => updates.push(update));
  const aborted = (): void => void updates.return();
  signal.addEventListener('abort', aborted, { once: true });
  try {
    const expected = await parts.store.expected(jid);
    const minions = expected.length > 0 ? expected : [...(active?.verdicts().keys() ?? [])];
    yield { type: 'job', jid, minions, missing: [] };
    const told = new Set<string>();
    for (const update of await settled(parts, jid, active)) {
      told.add(update.id);
      yield itemOf(parts, update);
      if (signal.aborted) return;
    }
    if (!active || active.ended) updates.close();
    for await (const update of updates) {
      if (update.type === 'end') break;
      if (update.type !== 'progress' && update.type !== 'more' && told.has(update.id)) continue;
      yield itemOf(parts, update);
      if (signal.aborted) return;
    }
    if (!signal.aborted) yield { type: 'end', balance: newDict(Object.entries(active?.balance() ?? {})) };
  } finally {
    stop?.();
    signal.removeEventListener('abort', aborted);
  }
}

type Settled = Exclude<JobUpdate, { type: 'end' | 'progress' | 'more' }>;

/** Results and reasons so far. */
async function settled({ store }: AttachParts, jid: string, active: ActiveJob | undefined): Promise<Settled[]> {
  // Writes are done in order: what was being stored is there afterwards.
  await store.saveVerdicts([]);
  const found = new Map<string, Settled>();
  for (const { id, reason: code, text, evidence } of await store.verdicts(jid)) {
    if (!isReasonCode(code)) continue;
    found.set(id, { type: 'missing', id, reason: { code, text, evidence: asPlainDict(evidence) ?? newDict() } });
  }
  for (const [id, verdict] of active?.verdicts() ?? []) {
    if (!isFinal(verdict) || !('reason' in verdict)) continue;
    const { reason } = verdict;
    if (verdict.kind === 'queued') found.set(id, { type: 'queued', id, until: verdict.until, reason });
    else found.set(id, { type: 'missing', id, reason });
  }
  for (const [id, load] of await store.returns(jid)) {
    const ret = readJobReturn(load, { id, jid });
    if (!isProblem(ret)) found.set(id, { type: 'return', id, ret });
  }
  return [...found.values()];
}
