// One state run at a time: finds runs in progress, waits for them, or returns the conflict.
import { setTimeout as sleep } from 'node:timers/promises';
import { isTruthy, type ModuleContext, type PlainDict, pyStr, type RunningJob, type Value } from 'halite/sdk';
import { exitCodes, jidToTime } from 'halite/sdk/jobs';

const firstWaitMs = 100;
const longestWaitMs = 1000;

/** Runs of state functions by other jobs. */
export async function runningStates(ctx: ModuleContext): Promise<RunningJob[]> {
  const own = pyStr(ctx.job['jid'] ?? '');
  const all = await ctx.minion.running();
  // A finished run whose result the master has not accepted yet does not count.
  const others = all.filter((job) => job.jid !== own && job.delivering !== true);
  return others.filter((job) => typeof job.fun === 'string' && job.fun.startsWith('state.'));
}

/** Salt's message for each of them. */
export function runningTexts(jobs: readonly RunningJob[]): string[] {
  return jobs.map(
    ({ fun, pid, jid }) =>
      `The function "${fun}" is running as PID ${pid} and was started at ${jidToTime(jid)} with jid ${jid}`,
  );
}

/** The earlier runs: two runs that wait for each other would wait for ever. */
async function earlierStates(ctx: ModuleContext): Promise<RunningJob[]> {
  const own = pyStr(ctx.job['jid'] ?? '');
  return (await runningStates(ctx)).filter(({ jid }) => own === '' || jid < own);
}

async function waitForEarlier(ctx: ModuleContext): Promise<void> {
  for (let wait = firstWaitMs; (await earlierStates(ctx)).length > 0; wait = Math.min(wait * 2, longestWaitMs)) {
    ctx.progress('waiting for another state run to end');
    await sleep(wait, undefined, { signal: ctx.signal });
  }
}

/**
 * Undefined when the run may start. `queue: true` waits for earlier runs, a number does so unless that many already wait;
 * otherwise a run in progress is a conflict, unless `concurrent` is set.
 */
export async function refuseConflict(queue: Value, kwargs: PlainDict, ctx: ModuleContext): Promise<Value | undefined> {
  const asked = queue ?? ctx.opts['state_queue'] ?? false;
  if (asked === true) {
    await waitForEarlier(ctx);
    return undefined;
  }
  if (typeof asked === 'number' && (asked === 0 || (await earlierStates(ctx)).length < asked)) {
    await waitForEarlier(ctx);
    return undefined;
  }
  if (isTruthy(kwargs['concurrent'])) return undefined;
  const conflict = runningTexts(await runningStates(ctx));
  if (conflict.length === 0) return undefined;
  ctx.setRetcode(exitCodes.stateCompilerError);
  return conflict;
}
