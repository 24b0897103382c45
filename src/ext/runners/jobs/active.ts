// Jobs that are running, on all minions and on the master itself.
import { dictGet, HaliteError, isDict, type MasterContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { formatJob, startTime } from 'halite/sdk/jobs';

/** Asks all minions for running jobs; each job is shown once, with the minions that run it and those that returned. */
export async function activeJobs(ctx: MasterContext): Promise<PlainDict> {
  const found = newDict();
  const { returns } = await ctx.master
    .runJob({ tgt: '*', tgt_type: 'glob', fun: 'saltutil.running', arg: [] })
    .catch((error: unknown) => {
      if (error instanceof HaliteError && error.code === 'target.empty') return { returns: {} };
      throw error;
    });
  for (const [id, { ret }] of Object.entries(returns)) {
    for (const job of Array.isArray(ret) ? ret : []) {
      if (!isDict(job)) continue;
      const jid = String(dictGet(job, 'jid'));
      found[jid] ??= { ...formatJob(job), StartTime: startTime(jid), Running: [], Returned: [] };
      const running = (found[jid] as PlainDict)['Running'] as Value[];
      running.push(newDict([[id, dictGet(job, 'pid') ?? 0]]));
    }
  }
  for (const jid of Object.keys(found))
    (found[jid] as PlainDict)['Returned'] = Object.keys(await ctx.master.jobs.returns(jid));
  return found;
}
