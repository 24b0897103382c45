// The history of jobs: a window of it, found by the store.
import { parseDict } from '../../base/codec/json/index.ts';
import { asList, type Dict, dictGet, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { JobStore } from '../../store/jobs.ts';
import { storedJob } from '../../store/records.ts';
import type { Tracker } from '../tracking/tracker.ts';
import { seesAllJobs, type Viewer } from './job-access.ts';
import { hasMinion, quotedId, readJobQuery } from './job-query.ts';
import { type PageRequest, pageValue, readPage, sortOf } from './page.ts';

export interface JobListParts {
  readonly store: Pick<JobStore, 'query'>;
  readonly tracker: Pick<Tracker, 'job' | 'active'>;
}

const cols = [
  ...['jid', 'started', 'user', 'fun', 'arg', 'tgt', 'tgtType', 'minions', 'ok', 'failed', 'missing', 'open', 'state'],
  ...['ended', 'schedule', 'internal'],
];

/** By these the store can sort without looking at every job. */
const sortable: Readonly<Record<string, string>> = {
  jid: 'j.jid',
  started: 'j.started',
  user: 'j.user',
  fun: 'j.fun',
  tgt: 'j.tgt',
};

/** Nobody reads further, and counting takes time. */
const mostCounted = 10_000;
const longestArguments = 2_000;

/** The time of a result is stored behind it: of many large results it takes long to find. */
const mostTimed = 1_000;

const columnsSql = `j.jid, j.load, j.started, j.internal, j.tgt, j.tgt_type, j.user, j.fun,
  json_array_length(j.expected) AS minions,
  (SELECT sum(r.retcode = 0 AND r.success = 1) || ' ' || count(*) FROM ret r WHERE r.jid = j.jid) AS rets,
  (SELECT count(*) FROM verdict v WHERE v.jid = j.jid AND v.reason <> ''
    AND NOT EXISTS (SELECT 1 FROM ret r WHERE r.jid = v.jid AND r.id = v.id)) AS missing,
  CASE WHEN json_array_length(j.expected) <= ${mostTimed} THEN (SELECT max(received) FROM ret r WHERE r.jid = j.jid) END AS last`;

export async function jobPage(
  parts: JobListParts,
  viewer: Viewer,
  args: PlainDict,
  only?: { readonly minion: string },
): Promise<PlainDict> {
  const request = readPage(args);
  const { sql, values } = conditionsOf(parts, viewer, request, only);
  const count = `SELECT count(*) AS n FROM (SELECT 1 FROM job j WHERE ${sql} LIMIT ${mostCounted})`;
  const list = `SELECT ${columnsSql} FROM job j WHERE ${sql} ORDER BY ${orderOf(request)} LIMIT ? OFFSET ?`;
  const [counted, rows] = await Promise.all([
    parts.store.query(count, values),
    parts.store.query(list, [...values, request.limit, request.offset]),
  ]);
  return pageValue({
    ...{ total: Number(counted[0] ? dictGet(counted[0], 'n') : 0), offset: request.offset, cols, version: 0 },
    rows: rows.map((row) => rowOf(parts, row)),
  });
}

function conditionsOf(
  { tracker }: JobListParts,
  viewer: Viewer,
  { q }: PageRequest,
  only: { readonly minion: string } | undefined,
): { sql: string; values: (string | number)[] } {
  const query = readJobQuery(q);
  const conditions = [...query.conditions];
  const values = [...query.values];
  const among = (jids: readonly string[]): void => {
    conditions.push('j.jid IN (SELECT value FROM json_each(?))');
    values.push(JSON.stringify(jids));
  };
  if (!query.internal) conditions.push('j.internal = 0');
  if (query.running) among(tracker.active().map(({ jid }) => jid));
  if (!seesAllJobs(viewer)) among(viewer.startedJobs());
  if (only) {
    conditions.push(hasMinion);
    values.push(quotedId(only.minion));
  }
  return { sql: conditions.length > 0 ? conditions.join(' AND ') : '1', values };
}

function orderOf({ sort }: PageRequest): string {
  if (sort === '') return 'j.started DESC, j.jid DESC';
  const { down } = sortOf(sort, Object.keys(sortable));
  const direction = down ? 'DESC' : 'ASC';
  return `${sortable[sort.replace(/^-/, '')]} ${direction}, j.jid ${direction}`;
}

function rowOf({ tracker }: JobListParts, row: Dict): Value[] {
  const number = (name: string): number => Number(dictGet(row, name) ?? 0);
  const jid = String(dictGet(row, 'jid'));
  const job = storedJob(parseDict(dictGet(row, 'load')));
  const [ok = 0, answers = 0] = String(dictGet(row, 'rets') ?? '')
    .split(' ')
    .map(Number);
  const [minions, failed, missing] = [number('minions'), answers - ok, number('missing')];
  const active = tracker.job(jid);
  const running = active !== undefined && !active.ended;
  const open = Math.max(0, minions - ok - failed - missing);
  const started = number('started');
  const last = number('last');
  return [
    ...[jid, started, String(dictGet(row, 'user')), String(dictGet(row, 'fun')), shortArguments(job?.arg ?? [])],
    ...[String(dictGet(row, 'tgt')), String(dictGet(row, 'tgt_type')), minions, ok, failed, missing, open],
    ...[running ? 'running' : open > 0 ? 'open' : 'done', running || last === 0 ? null : last],
    ...[job?.schedule ?? null, number('internal') === 1],
  ];
}

/** Arguments can be whole files: a list shows their beginning. */
function shortArguments(args: readonly Value[]): Value {
  const list = asList(args) ?? [];
  let left = longestArguments;
  const shown: Value[] = [];
  for (const arg of list) {
    const text =
      typeof arg === 'string'
        ? arg
        : JSON.stringify(arg, (_key, item) => (typeof item === 'bigint' ? String(item) : item));
    left -= text?.length ?? 4;
    if (left < 0) return [...shown, '…'];
    shown.push(arg);
  }
  return shown;
}
