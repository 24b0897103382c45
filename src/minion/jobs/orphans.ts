// Jobs that an earlier daemon of this minion left running: their results are brought home, their deadlines kept.
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isAlive, killTree, type Outcome } from '../../engine/exec/index.ts';
import type { RunningJob } from '../../extend/sdk/index.ts';
import { deadlineOf, deadlineOutcome } from './deadline.ts';
import type { ProcFiles } from './proc-files.ts';

/** Field of a proc file: when the job must end, in milliseconds. */
export const deadlineAtField = 'halite_deadline_at';
const everyMs = 500;

export interface OrphanParts {
  readonly log: Logger;
  readonly procFiles: ProcFiles;
  readonly signal: AbortSignal;
  /** A process ended by itself: its result is in the spool now. */
  readonly replay: () => void;
  /** A process was ended at its deadline: this is its result. */
  readonly ended: (job: PlainDict, outcome: Outcome) => Promise<void>;
}

/** Looks after what runs already; returns at once. */
export async function adoptOrphans(parts: OrphanParts): Promise<void> {
  const jobs = new Map((await parts.procFiles.running()).map((job) => [job.jid, job]));
  if (jobs.size === 0) return;
  parts.log.info('jobs of an earlier minion process still run', { jids: [...jobs.keys()].join(',') });
  const timer = setInterval(() => {
    if (parts.signal.aborted || jobs.size === 0) return clearInterval(timer);
    for (const job of jobs.values()) {
      if (isLate(job)) {
        jobs.delete(job.jid);
        void end(parts, job);
      } else if (!isAlive(job.pid)) {
        jobs.delete(job.jid);
        void parts.procFiles.remove(job.jid).then(parts.replay);
      }
    }
  }, everyMs);
  timer.unref();
}

const fieldsOf = (job: RunningJob): PlainDict => job as unknown as Record<string, Value> as PlainDict;

function isLate(job: RunningJob): boolean {
  const at = fieldsOf(job)[deadlineAtField];
  return typeof at === 'number' && Date.now() >= at;
}

async function end(parts: OrphanParts, job: RunningJob): Promise<void> {
  try {
    const killed = await killTree([job.pid]);
    await parts.procFiles.remove(job.jid);
    await parts.ended(fieldsOf(job), deadlineOutcome(deadlineOf(fieldsOf(job)) ?? 0, killed, ''));
  } catch (error) {
    parts.log.error('a job could not be ended at its deadline', { jid: job.jid, error: messageOf(error) });
  }
}
