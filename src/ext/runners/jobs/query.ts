// `jobs.query`: history by conditions, page by page; or by read-only SQL.
import { dictGet, HaliteError, type MasterContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { formatJob, startTime } from 'halite/sdk/jobs';
import { parseQuery } from './query-parse.ts';
import { countsSql, jobsSql, minionsSql, type Sql, usesResults } from './query-sql.ts';

const defaultLimit = 50;
const largestLimit = 5000;
/** Minions named per job; the counts say how many there are. */
const shownMinions = 100;

export interface QueryRequest {
  readonly query: string;
  readonly sql: string;
  readonly limit: number;
  readonly offset: number;
}

export async function queryJobs(ctx: MasterContext, request: QueryRequest): Promise<Value> {
  const sql = request.sql || (/^\s*(select|with)\b/i.test(request.query) ? request.query : '');
  if (sql) return ctx.master.jobs.query(sql);
  const { condition, ...paging } = parseQuery(request.query);
  const limit = Math.min(largestLimit, request.limit || (paging.limit ?? defaultLimit));
  const offset = request.offset || (paging.offset ?? 0);
  const rows = await ask(ctx, jobsSql(condition, limit, offset));
  const page = rows.slice(0, limit);
  const jobs = newDict();
  for (const row of page) jobs[String(row['jid'])] = jobOf(row);
  const jids = Object.keys(jobs);
  if (jids.length > 0) {
    for (const row of await ask(ctx, countsSql(jids))) count(jobs[String(row['jid'])] as PlainDict, row);
    if (condition && usesResults(condition))
      for (const jid of jids) await nameMinions(ctx, jobs[jid] as PlainDict, minionsSql(condition, jid, shownMinions));
  }
  const more = rows.length > limit;
  return newDict([['jobs', jobs], ...(more ? [['next', `offset ${offset + limit}`] as const] : [])]);
}

async function ask(ctx: MasterContext, { text, values }: Sql): Promise<PlainDict[]> {
  return (await ctx.master.jobs.query(text, values)) as PlainDict[];
}

function jobOf(row: PlainDict): PlainDict {
  let load: PlainDict;
  try {
    load = newDict(Object.entries(JSON.parse(String(row['load'])) as PlainDict));
  } catch {
    throw new HaliteError('store.corrupt', `the record of job ${String(row['jid'])} cannot be read`);
  }
  const counts = { Succeeded: 0, Failed: 0, Missing: 0 };
  return { ...formatJob(load), StartTime: startTime(String(row['jid'])), ...counts };
}

function count(job: PlainDict, row: PlainDict): void {
  const [returned, failed] = [Number(row['returned']), Number(row['failed'])];
  job['Succeeded'] = Number(job['Succeeded']) + returned - failed;
  job['Failed'] = Number(job['Failed']) + failed;
  job['Missing'] = Number(job['Missing']) + Number(row['missing']);
}

async function nameMinions(ctx: MasterContext, job: PlainDict, sql: Sql): Promise<void> {
  const rows = await ask(ctx, sql);
  const minions = newDict(
    rows.slice(0, shownMinions).map((row): [string, Value] => {
      const [outcome, text] = [String(row['outcome']), String(dictGet(row, 'text') ?? '')];
      if (outcome === 'missing') return [String(row['minion']), text ? `missing: ${text}` : 'missing'];
      return [String(row['minion']), outcome === 'failed' ? `failed, retcode ${Number(row['retcode'])}` : outcome];
    }),
  );
  if (rows.length > shownMinions) minions['…'] = `only the first ${shownMinions} are shown`;
  job['Minions'] = minions;
}
