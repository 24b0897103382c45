// Functions of `saltutil` for running and finished jobs.

import { join } from 'node:path';
import {
  fn,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyInt,
  pyStr,
  type RunningJob,
  type Value,
} from 'halite/sdk';
import { unpack } from 'halite/sdk/codec';
import { isDirectory, listDir, readFile, rm, stat } from 'halite/sdk/fs';
import { matchesGlob } from 'halite/sdk/text';

const jobDict = (job: RunningJob): PlainDict => newDict(Object.entries(job as unknown as Record<string, Value>));

/** Running jobs except the calling one. */
async function others(ctx: ModuleContext): Promise<RunningJob[]> {
  const own = ctx.job['jid'];
  return (await ctx.minion.running()).filter((job) => own === undefined || job.jid !== own);
}

async function signalAll(signal: number, ctx: ModuleContext): Promise<string[]> {
  const answers: string[] = [];
  for (const job of await others(ctx)) answers.push(await ctx.minion.signalJob(job.jid, signal));
  return answers;
}

const jid = p.text({ doc: 'the id of the job' });
const term = 15;
const kill = 9;

const cachedJobs = (ctx: ModuleContext): string => join(pyStr(ctx.opts['cachedir'] ?? ''), 'minion_jobs');

async function findCached(id: string, ctx: ModuleContext): Promise<Value> {
  const folder = join(cachedJobs(ctx), id);
  if (!/^[\w.-]+$/.test(id) || id.startsWith('.') || !isDirectory(folder)) {
    if (!ctx.opts['cache_jobs'])
      return 'Local jobs cache directory not found; you may need to enable cache_jobs on this minion';
    return `Local jobs cache directory ${folder} not found`;
  }
  const content = await readFile(join(folder, 'return.p'));
  const value = content.length > 0 ? unpack(content) : null;
  return isDict(value) ? value : null;
}

async function clearOld(hours: number, ctx: ModuleContext): Promise<boolean> {
  const oldest = Date.now() - hours * 3600 * 1000;
  const root = cachedJobs(ctx);
  try {
    for (const name of listDir(root)) {
      const folder = join(root, name);
      const about = await stat(folder);
      if (about.isDirectory() && about.mtimeMs < oldest) await rm(folder, { recursive: true, force: true });
    }
    return true;
  } catch (error) {
    ctx.log.error('clearing the job cache failed', { root, problem: String(error) });
    return false;
  }
}

export const jobFunctions = {
  running: fn({
    doc: 'The jobs that run on this minion.',
    examples: ["salt '*' saltutil.running"],
    inline: true,
    run: async (_, ctx) => (await others(ctx)).map(jobDict),
  }),
  is_running: fn({
    doc: 'The running jobs of a function (or of functions, by a glob).',
    examples: ["salt '*' saltutil.is_running state.highstate"],
    params: { fun: p.string() },
    inline: true,
    run: async ({ fun }, ctx) => (await others(ctx)).filter((job) => matchesGlob(job.fun, fun)).map(jobDict),
  }),
  find_job: fn({
    doc: 'Details of a running job; empty when it does not run here.',
    examples: ["salt '*' saltutil.find_job <job id>"],
    params: { jid },
    inline: true,
    async run(args, ctx) {
      const found = (await others(ctx)).find((job) => job.jid === args.jid);
      return found ? jobDict(found) : newDict();
    },
  }),
  signal_job: fn({
    doc: 'Sends a signal to all processes of a job.',
    examples: ["salt '*' saltutil.signal_job <job id> 15"],
    params: { jid, sig: p.int({ fractions: 'cut', doc: 'number of the signal' }) },
    inline: true,
    run: (args, ctx) => ctx.minion.signalJob(args.jid, pyInt(args.sig)),
  }),
  term_job: fn({
    doc: 'Ends a job (signal 15).',
    examples: ["salt '*' saltutil.term_job <job id>"],
    params: { jid },
    inline: true,
    run: (args, ctx) => ctx.minion.signalJob(args.jid, term),
  }),
  kill_job: fn({
    doc: 'Kills a job (signal 9).',
    examples: ["salt '*' saltutil.kill_job <job id>"],
    params: { jid },
    inline: true,
    run: (args, ctx) => ctx.minion.signalJob(args.jid, kill),
  }),
  term_all_jobs: fn({
    doc: 'Ends all jobs (signal 15).',
    examples: ["salt '*' saltutil.term_all_jobs"],
    inline: true,
    run: (_, ctx) => signalAll(term, ctx),
  }),
  kill_all_jobs: fn({
    doc: 'Kills all jobs (signal 9).',
    examples: ["salt '*' saltutil.kill_all_jobs"],
    inline: true,
    run: (_, ctx) => signalAll(kill, ctx),
  }),
  find_cached_job: fn({
    doc: 'What a job returned, from the minion’s own cache. Needs cache_jobs.',
    examples: ["salt '*' saltutil.find_cached_job <job id>"],
    params: { jid },
    run: (args, ctx) => findCached(args.jid, ctx),
  }),
  clear_job_cache: fn({
    doc: 'Removes cached jobs that are older than a number of hours.',
    examples: ["salt '*' saltutil.clear_job_cache hours=12"],
    params: { hours: p.float({ default: 24 }) },
    run: ({ hours }, ctx) => clearOld(hours, ctx),
  }),
};
