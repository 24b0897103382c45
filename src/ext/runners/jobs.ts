// Runner `jobs`: looking at what ran, in Salt's shapes, from the job store.
import {
  type Dict,
  defineRunner,
  dictGet,
  HaliteError,
  isDict,
  masterFn,
  newDict,
  type PlainDict,
  p,
  type Value,
} from 'halite/sdk';
import { isJid, jidToTime } from '../../base/util/jid.ts';
import type { JobFilter, JobSummary, MasterContext } from '../../extend/sdk/context.ts';

/** The block `jobs.list_jobs` shows for each job. */
function formatJob(load: Dict): PlainDict {
  const shown = newDict([
    ['Function', dictGet(load, 'fun') ?? 'unknown-function'],
    ['Arguments', dictGet(load, 'arg') ?? []],
    ['Target', dictGet(load, 'tgt') ?? 'unknown-target'],
    ['Target-type', dictGet(load, 'tgt_type') ?? 'list'],
    ['User', dictGet(load, 'user') ?? 'root'],
  ]);
  const metadata = dictGet(load, 'metadata');
  if (metadata !== undefined && metadata !== null) shown['Metadata'] = metadata;
  return shown;
}

const startTime = (jid: string): string => (isJid(jid) ? jidToTime(jid) : '');

function inList({ jid, load }: JobSummary): [string, PlainDict] {
  return [jid, { ...formatJob(load), StartTime: startTime(jid) }];
}

const list = (value: Value): string[] | undefined => {
  if (value === null || value === '') return undefined;
  return Array.isArray(value) ? value.map(String) : String(value).split(',');
};

function when(value: Value, name: string): Date | undefined {
  if (value === null || value === '') return undefined;
  const time = new Date(String(value));
  if (Number.isNaN(time.getTime())) {
    throw new HaliteError('call.arguments', `${name} is not a time: ${String(value)}`, {
      hint: 'Write it as 2026-01-31 12:00.',
    });
  }
  return time;
}

async function find(ctx: MasterContext, filter: JobFilter, metadata: Value): Promise<PlainDict> {
  const jobs = await ctx.master.jobs.list(filter);
  const wanted = isDict(metadata) ? jobs.filter(({ load }) => hasMetadata(load, metadata)) : jobs;
  return newDict(wanted.reverse().map(inList));
}

function hasMetadata(load: Dict, wanted: Dict): boolean {
  const metadata = dictGet(load, 'metadata');
  if (!isDict(metadata)) return false;
  const entries = wanted instanceof Map ? [...wanted.entries()] : Object.entries(wanted);
  return entries.every(([key, value]) => JSON.stringify(dictGet(metadata, key) ?? null) === JSON.stringify(value));
}

/** Results of a job by minion, as the operator saw them. */
async function results(
  ctx: MasterContext,
  jid: string,
  missing: boolean,
): Promise<{ data: PlainDict; out: string | undefined }> {
  const data = newDict();
  let out: string | undefined;
  for (const [id, load] of Object.entries(await ctx.master.jobs.returns(jid))) {
    data[id] = dictGet(load, 'return') ?? null;
    const own = dictGet(load, 'out');
    if (typeof own === 'string') out = own;
  }
  if (missing)
    for (const id of await ctx.master.jobs.expected(jid)) if (!(id in data)) data[id] = 'Minion did not return';
  return { data, out };
}

async function describe(ctx: MasterContext, jid: string): Promise<PlainDict> {
  const load = await ctx.master.jobs.load(jid);
  const shown = load ? formatJob(load) : newDict([['Error', 'Cannot contact returner or no job with this jid']]);
  shown['jid'] = jid;
  if (load) {
    shown['Minions'] = await ctx.master.jobs.expected(jid);
    shown['StartTime'] = startTime(jid);
  }
  const result = newDict();
  for (const [id, ret] of Object.entries(await ctx.master.jobs.returns(jid))) {
    result[id] = newDict([
      ['return', dictGet(ret, 'return') ?? null],
      ['retcode', dictGet(ret, 'retcode') ?? 0],
      ['success', dictGet(ret, 'success') ?? true],
    ]);
  }
  if (Object.keys(result).length > 0 || load) shown['Result'] = result;
  const missing = await reasons(ctx, jid, result);
  if (Object.keys(missing).length > 0) shown['Missing'] = missing;
  return shown;
}

/** Why expected minions have no result, as the job record has it. */
async function reasons(ctx: MasterContext, jid: string, result: PlainDict): Promise<PlainDict> {
  const missing = newDict();
  if (!isJid(jid)) return missing;
  // A jid holds digits and harmless characters only, so it can stand in the text of the query.
  const sql = `SELECT id, reason, text, evidence FROM verdict WHERE jid = '${jid}' AND reason <> ''`;
  for (const row of await ctx.master.jobs.query(sql)) {
    const id = String(dictGet(row, 'id'));
    if (id in result) continue;
    missing[id] = newDict([
      ['code', dictGet(row, 'reason') ?? ''],
      ['text', dictGet(row, 'text') ?? ''],
      ['evidence', evidenceIn(dictGet(row, 'evidence'))],
    ]);
  }
  return missing;
}

/** The evidence without the raw times, which `jobs.explain` shows in order. */
function evidenceIn(text: Value | undefined): PlainDict {
  try {
    const { hops: _hops, ...evidence } = JSON.parse(String(text)) as Record<string, Value>;
    return newDict(Object.entries(evidence));
  } catch {
    return newDict();
  }
}

async function pendingJob(ctx: MasterContext, jid: string): Promise<PlainDict> {
  const load = await ctx.master.jobs.load(jid);
  return load ? { ...formatJob(load), StartTime: startTime(jid) } : newDict();
}

const jidParam = p.text({ doc: 'the job id, 20 digits' });

export default defineRunner({
  name: 'jobs',
  doc: 'Look at jobs: what ran, where, with which results.',
  functions: {
    lookup_jid: masterFn({
      doc: 'The results of one job, by minion.',
      examples: [
        'salt-run jobs.lookup_jid 20260131235959000001',
        'salt-run jobs.lookup_jid 20260131235959000001 missing=True',
      ],
      params: {
        jid: jidParam,
        ext_source: p.string({ default: null, doc: 'accepted for compatibility: the configured store is asked' }),
        returned: p.bool({ default: true, doc: 'show minions that returned' }),
        missing: p.bool({ default: false, doc: 'list expected minions without a result too' }),
        display_progress: p.bool({ default: false, doc: 'accepted for compatibility' }),
      },
      async run({ jid, returned, missing }, ctx) {
        const { data } = await results(ctx, jid, missing);
        if (returned) return data;
        return newDict(Object.entries(data).filter(([, value]) => value === 'Minion did not return'));
      },
    }),
    list_job: masterFn({
      doc: 'Everything recorded of one job.',
      examples: ['salt-run jobs.list_job 20260131235959000001'],
      params: { jid: jidParam, ext_source: p.string({ default: null }), display_progress: p.bool({ default: false }) },
      run: ({ jid }, ctx) => describe(ctx, jid),
    }),
    print_job: masterFn({
      doc: 'The record of one job, under its id.',
      examples: ['salt-run jobs.print_job 20260131235959000001'],
      params: { jid: jidParam, ext_source: p.string({ default: null }) },
      async run({ jid }, ctx) {
        return newDict([[jid, await describe(ctx, jid)]]);
      },
    }),
    list_jobs: masterFn({
      doc: 'All jobs in the store, oldest first; internal ones (find_job and the like) only on request.',
      examples: [
        'salt-run jobs.list_jobs',
        'salt-run jobs.list_jobs search_function="test.*,pkg.install" start_time="2026-01-31"',
      ],
      params: {
        ext_source: p.string({ default: null, doc: 'accepted for compatibility' }),
        outputter: p.string({ default: null, doc: 'accepted for compatibility' }),
        search_metadata: p.any({ default: null, doc: 'only jobs that carry these metadata' }),
        search_function: p.any({ default: null, doc: 'only these functions (globs)' }),
        search_target: p.any({ default: null, doc: 'only these targets (globs)' }),
        start_time: p.any({ default: null, doc: 'not before' }),
        end_time: p.any({ default: null, doc: 'not after' }),
        display_progress: p.bool({ default: false, doc: 'accepted for compatibility' }),
        internal: p.bool({ default: false, doc: 'jobs that Halite sent by itself, too' }),
        limit: p.int({ default: 0, doc: 'at most this many, the newest' }),
      },
      run(args, ctx) {
        const functions = list(args.search_function);
        const targets = list(args.search_target);
        const startAfter = when(args.start_time, 'start_time');
        const startBefore = when(args.end_time, 'end_time');
        const filter: JobFilter = {
          ...(functions ? { functions } : {}),
          ...(targets ? { targets } : {}),
          ...(startAfter ? { startAfter } : {}),
          ...(startBefore ? { startBefore } : {}),
          ...(args.limit > 0 ? { limit: args.limit } : {}),
          internal: args.internal,
        };
        return find(ctx, filter, args.search_metadata);
      },
    }),
    list_jobs_filter: masterFn({
      doc: 'The newest jobs, a given number of them.',
      examples: ['salt-run jobs.list_jobs_filter 50', 'salt-run jobs.list_jobs_filter 100 filter_find_job=False'],
      params: {
        count: p.int({ doc: 'how many' }),
        filter_find_job: p.bool({ default: true, doc: 'leave internal jobs out' }),
        ext_source: p.string({ default: null }),
        outputter: p.string({ default: null }),
        display_progress: p.bool({ default: false }),
      },
      run: ({ count, filter_find_job }, ctx) => find(ctx, { limit: count, internal: !filter_find_job }, null),
    }),
    active: masterFn({
      doc: 'Jobs that run on the minions right now.',
      examples: ['salt-run jobs.active'],
      params: { display_progress: p.bool({ default: false }) },
      run: (_args, ctx) => active(ctx),
    }),
    last_run: masterFn({
      doc: 'The record of the newest job that fits the filters.',
      examples: ['salt-run jobs.last_run', 'salt-run jobs.last_run target=web1 function=state.apply'],
      params: {
        ext_source: p.string({ default: null }),
        outputter: p.string({ default: null }),
        metadata: p.any({ default: null, doc: 'only jobs that carry these metadata' }),
        function: p.any({ default: null, doc: 'only these functions (globs)' }),
        target: p.any({ default: null, doc: 'only these targets (globs)' }),
        display_progress: p.bool({ default: false }),
      },
      async run(args, ctx) {
        const functions = list(args.function);
        const targets = list(args.target);
        const filter: JobFilter = { ...(functions ? { functions } : {}), ...(targets ? { targets } : {}) };
        const found = Object.keys(await find(ctx, filter, args.metadata));
        const jid = found.at(-1);
        return jid ? newDict([[jid, await describe(ctx, jid)]]) : false;
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
      doc: 'Durable jobs that wait for minions to come back.',
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
      doc: 'Take back a durable job, or a batch, from minions that have not got it yet; the ids that will not get it.',
      examples: [
        'salt-run jobs.cancel 20260131235959000001',
        'salt-run jobs.cancel 20260131235959000001 minions=web1,web2',
      ],
      params: { jid: jidParam, minions: p.any({ default: null, doc: 'only for these' }) },
      run: ({ jid, minions }, ctx) => ctx.master.jobs.cancel(jid, list(minions)),
    }),
    query: masterFn({
      doc: 'Ask history with SQL (read-only). Views: jids, salt_returns; tables: job, ret, verdict.',
      examples: ['salt-run jobs.query "SELECT fun, count(*) AS n FROM salt_returns GROUP BY fun"'],
      params: { sql: p.text({ doc: 'one SELECT' }) },
      run: ({ sql }, ctx) => ctx.master.jobs.query(sql),
    }),
    exit_success: masterFn({
      doc: 'Which minions of a job succeeded: by its return code, or by the `success` a state run reported.',
      examples: ['salt-run jobs.exit_success 20260131235959000001'],
      params: { jid: jidParam, ext_source: p.string({ default: null }) },
      async run({ jid }, ctx) {
        const verdicts = newDict();
        const returns = await ctx.master.jobs.returns(jid);
        for (const id of await ctx.master.jobs.expected(jid)) {
          const ret = returns[id];
          verdicts[id] = ret !== undefined && (dictGet(ret, 'retcode') ?? 0) === 0 && dictGet(ret, 'success') !== false;
        }
        return verdicts;
      },
    }),
  },
});

/** Asks everybody what runs; a job is shown once, with where it runs and where it has returned. */
async function active(ctx: MasterContext): Promise<PlainDict> {
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
