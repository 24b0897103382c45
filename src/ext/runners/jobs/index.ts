// Runner `jobs`: reads the job store and returns data in Salt's form.
import {
  defineRunner,
  dictGet,
  HaliteError,
  type MasterContext,
  masterFn,
  newDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';
import { JsonText } from 'halite/sdk/codec';
import { formatJob, startTime } from 'halite/sdk/jobs';
import { activeJobs } from './active.ts';
import { filterOf, words } from './filter.ts';
import { queryJobs } from './query.ts';
import { describeJob, findJobs, listJobs, results } from './show.ts';

async function pendingJob(ctx: MasterContext, jid: string): Promise<PlainDict> {
  const load = await ctx.master.jobs.load(jid);
  return load ? { ...formatJob(load), StartTime: startTime(jid) } : newDict();
}

async function printed(ctx: MasterContext, jid: string, source: string | undefined): Promise<PlainDict> {
  const { jid: _jid, ...shown } = await describeJob(ctx, jid, source);
  return newDict([[jid, shown]]);
}

/** For a job of another master, whose results are kept here because that one was away. */
async function sayWhoAsked(ctx: MasterContext, jid: string): Promise<void> {
  const load = await ctx.master.jobs.load(jid);
  const asked = load && formatJob(load)['Asked-by'];
  if (asked !== undefined)
    ctx.progress(
      `This job was asked by the master ${String(asked)}. These are the results that were given to this one meanwhile.`,
    );
}

/** In a cluster, results that are missing here may be at another master. */
async function askOthers(ctx: MasterContext, jid: string): Promise<void> {
  const unasked = await ctx.master.cluster.complete(jid);
  if (unasked.length === 0) return;
  ctx.progress(`Results are missing here, and these masters could not be asked for them: ${unasked.join(', ')}`);
}

/** When the answer names an outputter, `salt-run` shows only the data, with that outputter. */
function shownAs(data: Value | JsonText, outputter: string | null | undefined): Value | JsonText {
  if (data instanceof JsonText) return data.withOutputter(outputter);
  return outputter
    ? newDict([
        ['outputter', outputter],
        ['data', data],
      ])
    : data;
}

/** The command line reads `fun=state.apply and failed` as an argument named fun; this restores the text. */
function queryText(words: readonly Value[], named: PlainDict): string {
  const given = Object.entries(named).filter(([name]) => !name.startsWith('__'));
  return [...given.map(([name, value]) => `${name}=${String(value)}`), ...words.map(String)].join(' ');
}

const jidParam = p.text({ doc: 'the job id, 20 digits' });
const sourceParam = p.string({ default: null, doc: 'the returner to query instead of the configured job cache' });
const outputterParam = p.string({ default: null, doc: 'the outputter for the result' });
const progressParam = p.bool({ default: false, doc: 'accepted for compatibility' });

export default defineRunner({
  name: 'jobs',
  doc: 'Show jobs, their minions and their results.',
  functions: {
    lookup_jid: masterFn({
      doc: 'The results of one job, by minion.',
      examples: [
        'salt-run jobs.lookup_jid 20260131235959000001',
        'salt-run jobs.lookup_jid 20260131235959000001 missing=True',
      ],
      params: {
        jid: jidParam,
        ext_source: sourceParam,
        returned: p.bool({ default: true, doc: 'show minions that returned' }),
        missing: p.bool({ default: false, doc: 'list expected minions without a result too' }),
        display_progress: progressParam,
      },
      async run({ jid, returned, missing, ext_source }, ctx) {
        await sayWhoAsked(ctx, jid);
        if (!ext_source) await askOthers(ctx, jid);
        const written =
          returned && !missing ? await ctx.master.jobs.returnsText(jid, ext_source ?? undefined) : undefined;
        if (written) return written;
        const { data, out } = await results(ctx, jid, missing, ext_source ?? undefined);
        const wanted = Object.entries(data).filter(([, value]) => returned || value === 'Minion did not return');
        return shownAs(newDict(wanted), out);
      },
    }),
    list_job: masterFn({
      doc: 'Everything recorded of one job.',
      examples: ['salt-run jobs.list_job 20260131235959000001'],
      params: { jid: jidParam, ext_source: sourceParam, display_progress: progressParam },
      run: ({ jid, ext_source }, ctx) => describeJob(ctx, jid, ext_source ?? undefined),
    }),
    print_job: masterFn({
      doc: 'The record of one job, under its id.',
      examples: ['salt-run jobs.print_job 20260131235959000001'],
      params: { jid: jidParam, ext_source: sourceParam },
      run: ({ jid, ext_source }, ctx) => printed(ctx, jid, ext_source ?? undefined),
    }),
    list_jobs: masterFn({
      doc: 'All jobs in the store, oldest first; internal ones (such as find_job) only on request.',
      examples: [
        'salt-run jobs.list_jobs',
        'salt-run jobs.list_jobs search_function="test.*,pkg.install" start_time="2026-01-31"',
      ],
      params: {
        ext_source: sourceParam,
        outputter: outputterParam,
        search_metadata: p.any({ default: null, doc: 'only jobs with this metadata' }),
        search_function: p.oneOf(['string', 'list'], {
          default: null,
          falsy: null,
          doc: 'only these functions (globs)',
        }),
        search_target: p.oneOf(['string', 'list'], { default: null, falsy: null, doc: 'only these targets (globs)' }),
        start_time: p.scalar({ default: null, doc: 'not before' }),
        end_time: p.scalar({ default: null, doc: 'not after' }),
        display_progress: progressParam,
        internal: p.bool({ default: false, doc: 'also internal jobs of Halite' }),
        limit: p.int({ default: 0, doc: 'at most this many, the newest' }),
      },
      async run(args, ctx) {
        const filter = filterOf({
          functions: args.search_function,
          targets: args.search_target,
          metadata: args.search_metadata,
          start: args.start_time,
          end: args.end_time,
        });
        if (!filter) return shownAs(newDict(), args.outputter);
        const limit = args.limit > 0 ? { limit: args.limit } : {};
        const asked = { ...filter, ...limit, internal: args.internal };
        return shownAs(await listJobs(ctx, asked, args.ext_source ?? undefined), args.outputter);
      },
    }),
    list_jobs_filter: masterFn({
      doc: 'The newest jobs, a given number of them, as a list; oldest first.',
      examples: ['salt-run jobs.list_jobs_filter 50', 'salt-run jobs.list_jobs_filter 100 filter_find_job=False'],
      params: {
        count: p.int({ doc: 'how many' }),
        filter_find_job: p.bool({ default: true, doc: 'exclude internal jobs' }),
        ext_source: sourceParam,
        outputter: outputterParam,
        display_progress: progressParam,
      },
      async run({ count, filter_find_job, ext_source, outputter }, ctx) {
        const filter = { limit: count, internal: !filter_find_job };
        const jobs = count > 0 ? await findJobs(ctx, filter, ext_source ?? undefined) : newDict();
        const shown = Object.entries(jobs).map(([jid, job]) => ({ ...(job as PlainDict), JID: jid }));
        return shownAs(shown, outputter);
      },
    }),
    active: masterFn({
      doc: 'Jobs that run on the minions right now.',
      examples: ['salt-run jobs.active'],
      params: { display_progress: progressParam },
      run: (_args, ctx) => activeJobs(ctx),
    }),
    master: masterFn({
      doc: 'Runners and wheel functions that the master runs right now, without this one.',
      examples: ['salt-run jobs.master'],
      async run(_args, ctx) {
        const own = ctx.job['jid'];
        return (await ctx.master.jobs.running()).filter((job) => dictGet(job, 'jid') !== own);
      },
    }),
    health: masterFn({
      doc: 'The state of the job store, and the records that wait for the returners of master_job_cache, event_return and return_via_master.',
      examples: ['salt-run jobs.health'],
      run: (_args, ctx) => ctx.master.jobs.health(),
    }),
    last_run: masterFn({
      doc: 'The record of the newest job that matches the filters.',
      examples: ['salt-run jobs.last_run', 'salt-run jobs.last_run target=web1 function=state.apply'],
      params: {
        ext_source: sourceParam,
        outputter: outputterParam,
        metadata: p.any({ default: null, doc: 'only jobs with this metadata' }),
        function: p.oneOf(['string', 'list'], { default: null, falsy: null, doc: 'only these functions (globs)' }),
        target: p.oneOf(['string', 'list'], { default: null, falsy: null, doc: 'only these targets (globs)' }),
        display_progress: progressParam,
      },
      async run(args, ctx) {
        const filter = filterOf({ functions: args.function, targets: args.target, metadata: args.metadata });
        if (!filter) return false;
        const source = args.ext_source ?? undefined;
        const jid = Object.keys(await findJobs(ctx, { ...filter, limit: 1 }, source)).at(-1);
        return jid ? printed(ctx, jid, source) : false;
      },
    }),
    explain: masterFn({
      doc: 'What happened to a job, in order: published, accepted, started, last output, results, and the reason for every minion without one.',
      examples: ['salt-run jobs.explain 20260131235959000001'],
      params: { jid: jidParam },
      async run({ jid }, ctx) {
        const entries = await ctx.master.jobs.timeline(jid);
        if (entries.length === 0) throw new HaliteError('call.arguments', `no job ${jid} is known here`);
        const start = entries[0]?.at.getTime() ?? 0;
        return entries.map(({ at, id, what, text }) => {
          const after = `+${((at.getTime() - start) / 1000).toFixed(3)}s`.padStart(11);
          return `${at.toISOString()} ${after}  ${id ? `${id}: ` : ''}${what}${text ? `, ${text}` : ''}`;
        });
      },
    }),
    pending: masterFn({
      doc: 'Durable jobs that wait for disconnected minions.',
      examples: ['salt-run jobs.pending'],
      async run(_args, ctx) {
        const shown = newDict();
        for (const { jid, id, until } of await ctx.master.jobs.pending()) {
          shown[jid] ??= { ...(await pendingJob(ctx, jid)), Minions: newDict() };
          const minions = (shown[jid] as PlainDict)['Minions'] as PlainDict;
          minions[id] = `expires ${until.toISOString()}`;
        }
        return shown;
      },
    }),
    cancel: masterFn({
      doc: 'Cancels a durable job, or a batch, for minions that have not received it yet; returns their ids.',
      examples: [
        'salt-run jobs.cancel 20260131235959000001',
        'salt-run jobs.cancel 20260131235959000001 minions=web1,web2',
      ],
      params: {
        jid: jidParam,
        minions: p.oneOf(['string', 'list'], { default: null, falsy: null, doc: 'only for these' }),
      },
      run: ({ jid, minions }, ctx) => ctx.master.jobs.cancel(jid, words(minions)),
    }),
    query: masterFn({
      doc: 'Jobs by conditions, newest first, page by page; or read-only SQL over jids, salt_returns, salt_events, job, ret, verdict.',
      examples: [
        'salt-run jobs.query "fun=state.apply and failed since 2d"',
        'salt-run jobs.query "minion=web* and (retcode>1 or missing) limit 20 offset 20"',
        'salt-run jobs.query sql="SELECT fun, count(*) AS n FROM salt_returns GROUP BY fun"',
      ],
      params: {
        words: p.rest({
          doc: 'conditions on jid, fun, user, tgt, minion, retcode; failed, success, missing; since, until',
        }),
        sql: p.string({ default: '', doc: 'one SELECT instead' }),
        limit: p.int({ default: 0, doc: 'jobs on a page; default 50' }),
        offset: p.int({ default: 0, doc: 'jobs to skip' }),
        first: p.kwargs({ doc: 'a query that begins with `fun=…` is received as a named argument' }),
      },
      run: ({ words, first, sql, limit, offset }, ctx) =>
        queryJobs(ctx, { query: queryText(words, first), sql: sql ?? '', limit, offset }),
    }),
    exit_success: masterFn({
      doc: 'Which minions of a job succeeded: by its return code, or by the `success` a state run reported.',
      examples: ['salt-run jobs.exit_success 20260131235959000001'],
      params: { jid: jidParam, ext_source: sourceParam },
      async run({ jid, ext_source }, ctx) {
        const verdicts = newDict();
        const source = ext_source ?? undefined;
        const returns = await ctx.master.jobs.returns(jid, source);
        for (const id of await ctx.master.jobs.expected(jid, source)) {
          const ret = returns[id];
          verdicts[id] = ret !== undefined && (dictGet(ret, 'retcode') ?? 0) === 0 && dictGet(ret, 'success') !== false;
        }
        return verdicts;
      },
    }),
  },
});
