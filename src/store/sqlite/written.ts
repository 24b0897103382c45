// Long answers that SQLite builds from stored JSON: no values are parsed on the way.
import { dumpJson, JsonText, type JsonTextFacts } from '../../base/codec/json/index.ts';
import { type Dict, newDict, type Value } from '../../base/codec/value.ts';
import type { JobFilter } from '../../extend/sdk/context.ts';
import { hasConditions, type JobConditions, jidRange } from '../../extend/sdk/job-filter.ts';
import type { SqlValue } from './driver.ts';
import type { Reader } from './workers.ts';

/** The texts of the rows below, one after the other. */
const joined = (text: string): string => `CAST(group_concat(${text}, ', ') AS BLOB) AS text`;
const [open, close] = [Buffer.from('{'), Buffer.from('}')];

/** The list of jobs, oldest first; undefined when it includes jobs without a prepared row. */
export async function listText(reader: Reader, filter: JobFilter): Promise<JsonText | undefined> {
  const { limit = 0, functions, targets, metadata } = filter;
  if (filter.internal || limit < 0) return undefined;
  const conditions = hasConditions(filter) ? dumpJson(withoutNone({ functions, targets, metadata })) : '';
  const only = conditions === '' ? '' : `AND ${metadata ? 'meta IS NOT NULL AND' : ''} job_fits(?, fun, tgt, meta)`;
  const newest = limit > 0 ? `ORDER BY jid DESC LIMIT ${Math.trunc(limit)}` : '';
  const chosen = `SELECT jid, plain, text FROM head WHERE jid BETWEEN ? AND ? ${only} ${newest}`;
  const sql = `SELECT ${joined('text')}, count(*) AS entries, min(plain) AS plain FROM (SELECT * FROM (${chosen}) ORDER BY jid)`;
  const row = await reader.one(sql, ...jidRange(filter), ...(conditions === '' ? [] : [conditions]));
  return textOf(row, { plain: row?.['plain'] !== 0 });
}

const withoutNone = (fields: Record<keyof JobConditions, unknown>): Dict =>
  newDict(Object.entries(fields).filter(([, value]) => value !== undefined) as [string, Value][]);

const resultsSql = `SELECT ${joined("json_quote(id) || ': ' || coalesce(result, 'null')")}, count(*) AS entries,
  min(form) AS form, max(form) AS other, (SELECT count(*) FROM odd WHERE jid = ?) AS odd
  FROM (SELECT id, full_ret -> '$.return' AS result, full_ret -> '$.out' AS form FROM ret WHERE jid = ? ORDER BY received, id)`;

/** Results of a job by minion, in order of arrival; undefined when each of them has to be parsed. */
export async function returnsText(reader: Reader, jid: string): Promise<JsonText | undefined> {
  // If SQLite cannot do it (an answer of a gigabyte), the other way is tried, which reports the problem.
  const row = await reader.one(resultsSql, jid, jid).catch(() => undefined);
  if (row?.['odd'] !== 0 || row['form'] !== row['other']) return undefined;
  const outputter = typeof row['form'] === 'string' ? (JSON.parse(row['form']) as unknown) : undefined;
  return textOf(row, typeof outputter === 'string' ? { outputter } : {});
}

/** As one map. Without rows there is no text. */
function textOf(row: Record<string, SqlValue> | undefined, facts: JsonTextFacts): JsonText {
  const pieces = row?.['text'] instanceof Uint8Array ? [open, row['text'], close] : [open, close];
  return new JsonText(pieces, { ...facts, entries: Number(row?.['entries'] ?? 0) });
}
