// Runs a job and returns the answers of the minions.
import { HaliteError, type MasterContext, newDict, type PlainDict, type Value } from 'halite/sdk';

type Job = Parameters<MasterContext['master']['runJob']>[0];

/** Results by minion. When no minion matches, prints Salt's message and returns nothing. */
export async function resultsOf(ctx: MasterContext, job: Job): Promise<PlainDict> {
  try {
    const { returns } = await ctx.master.runJob(job);
    return newDict(Object.entries(returns).map(([id, { ret }]): [string, Value] => [id, ret]));
  } catch (error) {
    if (!(error instanceof HaliteError) || error.code !== 'target.empty') throw error;
    ctx.print('No minions matched the target. No command was sent, no jid was assigned.');
    return newDict();
  }
}
