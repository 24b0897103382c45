// Jobs that an earlier daemon of this minion left running: their results are delivered, their deadlines enforced.
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { isAlive, killTree, type Outcome } from '../../engine/exec/index.ts';
import type { PublishedJob, RunningJob } from '../../protocol/job/job.ts';
import { deadlineOf, deadlineOutcome } from './deadline.ts';
import type { ProcFiles } from './proc-files.ts';

const everyMs = 500;

export interface OrphanParts {
  readonly log: Logger;
  readonly procFiles: ProcFiles;
  readonly signal: AbortSignal;
  /** Called when a process ended by itself: its result is now in the spool. */
  readonly replay: () => void;
  /** Called when a process was ended at its deadline, with its result. */
  readonly ended: (job: PublishedJob, outcome: Outcome) => Promise<void>;
}

/** Watches the running jobs; returns immediately. */
export async function adoptOrphans(parts: OrphanParts): Promise<void> {
  const jobs = new Map((await parts.procFiles.running()).map((running) => [running.job.jid, running]));
  if (jobs.size === 0) return;
  parts.log.info('jobs of an earlier minion process still run', { jids: [...jobs.keys()].join(',') });
  const timer = setInterval(() => {
    if (parts.signal.aborted || jobs.size === 0) return clearInterval(timer);
    for (const [jid, running] of jobs) {
      if (running.deadlineAt !== undefined && Date.now() >= running.deadlineAt) {
        jobs.delete(jid);
        void end(parts, running);
      } else if (!isAlive(running.pid)) {
        jobs.delete(jid);
        void parts.procFiles.remove(jid).then(parts.replay);
      }
    }
  }, everyMs);
  timer.unref();
}

async function end(parts: OrphanParts, { job, pid }: RunningJob): Promise<void> {
  try {
    const killed = await killTree([pid]);
    await parts.procFiles.remove(job.jid);
    await parts.ended(job, deadlineOutcome(deadlineOf(job) ?? 0, killed, ''));
  } catch (error) {
    parts.log.error('a job could not be ended at its deadline', { jid: job.jid, error: messageOf(error) });
  }
}
