// Jobs that run right now: asked of every minion, and of the master itself.
import { dictGet, HaliteError, isDict, type MasterContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { formatJob, startTime } from 'halite/sdk/jobs';

/** Asks everybody what runs; a job is shown once, with where it runs and where it has returned. */
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
