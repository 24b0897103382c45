// `--deadline`: ends a job and its process tree on this minion at its deadline, and reports that in the result.
import { constants } from 'node:os';
import { failed, type JobPool, type Outcome } from '../../engine/exec/index.ts';
import type { KillResult } from '../../engine/exec/process-tree.ts';
import type { PublishedJob } from '../../protocol/job/job.ts';

/** The exit code of timeout(1). */
const deadlineRetcode = 124;
/** Longer deadlines are shortened to this, because timers have a limited range. */
const longestMs = 2_000_000_000;

/** Milliseconds the job may take; undefined without a deadline. */
export function deadlineOf({ deadlineSeconds: seconds }: PublishedJob): number | undefined {
  return seconds === undefined ? undefined : Math.min(seconds * 1000, longestMs);
}

/** The result of a job that was ended. */
export function deadlineOutcome(ms: number, killed: Pick<KillResult, 'gone' | 'left'>, lastOutput: string): Outcome {
  const ended = killed.gone
    ? 'its processes were killed'
    : `these of its processes do not end: ${killed.left.join(', ')}`;
  const output = lastOutput ? `\nLast output: ${lastOutput}` : '';
  return failed(`ERROR: The deadline of ${ms / 1000} s passed: ${ended}${output}`, deadlineRetcode);
}

export interface Deadline {
  /** Call when the job ended by itself or was killed: the result of killing it, if it was. */
  settle(): Promise<KillResult | undefined>;
}

/** Kills the job in the pool at its deadline. */
export function armDeadline(pool: JobPool, jid: string, ms: number): Deadline {
  let killing: Promise<KillResult | undefined> | undefined;
  const timer = setTimeout(() => {
    killing = pool.signal(jid, constants.signals.SIGKILL);
  }, ms);
  return {
    async settle() {
      clearTimeout(timer);
      return killing;
    },
  };
}
