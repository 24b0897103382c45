// The shapes in which jobs are shown, as in Salt.
import { dictGet, type JobFilter, type MasterContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { type JsonText, readValue } from 'halite/sdk/codec';
import { formatJob, isJid, listedJob, startTime } from 'halite/sdk/jobs';

/** Jobs in the form of `list_jobs`, oldest first; in the stored form if the store has it. */
export async function listJobs(
  ctx: MasterContext,
  filter: JobFilter,
  source: string | undefined,
): Promise<PlainDict | JsonText> {
  const written = await ctx.master.jobs.listText(filter, source);
  if (written) return written;
  const jobs = await ctx.master.jobs.list(filter, source);
  return newDict([...jobs].reverse().map(({ jid, load }) => [jid, listedJob(jid, load)]));
}

/** The same as data. */
export async function findJobs(ctx: MasterContext, filter: JobFilter, source: string | undefined): Promise<PlainDict> {
  return readValue(await listJobs(ctx, filter, source)) as PlainDict;
}

/** Results of a job by minion, as the operator saw them. */
export async function results(
  ctx: MasterContext,
  jid: string,
  missing: boolean,
  source: string | undefined,
): Promise<{ data: PlainDict; out: string | undefined }> {
  const data = newDict();
  let out: string | undefined;
  for (const [id, load] of Object.entries(await ctx.master.jobs.returns(jid, source))) {
    data[id] = dictGet(load, 'return') ?? null;
    const own = dictGet(load, 'out');
    if (typeof own === 'string') out = own;
  }
  if (missing)
    for (const id of await ctx.master.jobs.expected(jid, source)) if (!(id in data)) data[id] = 'Minion did not return';
  return { data, out };
}

export async function describeJob(ctx: MasterContext, jid: string, source: string | undefined): Promise<PlainDict> {
  const load = await ctx.master.jobs.load(jid, source);
  const shown = load ? formatJob(load) : newDict([['Error', 'Cannot contact returner or no job with this jid']]);
  shown['jid'] = jid;
  if (load) shown['Minions'] = await ctx.master.jobs.expected(jid, source);
  shown['StartTime'] = isJid(jid) ? startTime(jid) : '';
  const result = newDict();
  for (const [id, ret] of Object.entries(await ctx.master.jobs.returns(jid, source))) {
    result[id] = newDict([
      ['return', dictGet(ret, 'return') ?? null],
      ['retcode', dictGet(ret, 'retcode') ?? 0],
      ['success', dictGet(ret, 'success') ?? true],
    ]);
  }
  shown['Result'] = result;
  const missing = await reasons(ctx, jid, result);
  if (Object.keys(missing).length > 0) shown['Missing'] = missing;
  return shown;
}

/** Why expected minions have no result, as the job record has it. */
async function reasons(ctx: MasterContext, jid: string, result: PlainDict): Promise<PlainDict> {
  const missing = newDict();
  if (!isJid(jid)) return missing;
  const sql = "SELECT id, reason, text, evidence FROM verdict WHERE jid = ? AND reason <> ''";
  for (const row of await ctx.master.jobs.query(sql, [jid])) {
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

/** The evidence without what `jobs.explain` shows in order. */
function evidenceIn(text: Value | undefined): PlainDict {
  try {
    const {
      milestones: _milestones,
      adoption: _adoption,
      ...evidence
    } = JSON.parse(String(text)) as Record<string, Value>;
    return newDict(Object.entries(evidence));
  } catch {
    return newDict();
  }
}
