// Queries of `jobs.query` as SQL over the tables of the store; every value is a parameter.
import type { Value } from 'halite/sdk';
import type { Condition, Operator } from './query-parse.ts';

export interface Sql {
  readonly text: string;
  readonly values: readonly Value[];
}

/** What result conditions apply to: nothing (only the job), a result, or a missing result. */
type Side = 'ret' | 'verdict';

const never: Sql = { text: '0', values: [] };
const always: Sql = { text: '1', values: [] };

export function usesResults(condition: Condition): boolean {
  if (condition.is === 'and' || condition.is === 'or') return condition.parts.some(usesResults);
  if (condition.is === 'not') return usesResults(condition.part);
  if (condition.is === 'field') return condition.field === 'minion' || condition.field === 'retcode';
  return condition.is === 'outcome';
}

function usesInternal(condition: Condition): boolean {
  if (condition.is === 'and' || condition.is === 'or') return condition.parts.some(usesInternal);
  return condition.is === 'not' ? usesInternal(condition.part) : condition.is === 'internal';
}

const isGlob = (text: string): boolean => /[*?[]/.test(text);
/** SQLite writes the negation inside brackets with ^. */
const sqliteGlob = (text: string): string => text.replaceAll('[!', '[^');

function compare(column: string, op: Operator, values: readonly string[], numeric: boolean): Sql {
  if (op !== '=' && op !== '!=') {
    const first = values[0] ?? '';
    return { text: `${column} ${op} ?`, values: [numeric ? Number(first) : first] };
  }
  const parts = values.map((value) => (isGlob(value) && !numeric ? `${column} GLOB ?` : `${column} = ?`));
  const text = `(${parts.join(' OR ') || '0'})`;
  return {
    text: op === '=' ? text : `NOT ${text}`,
    values: values.map((value) => (numeric ? Number(value) : isGlob(value) ? sqliteGlob(value) : value)),
  };
}

const resultColumns = {
  ret: { minion: 'r.id', retcode: 'r.retcode' },
  verdict: { minion: 'v.id', retcode: 'NULL' },
} as const;

function leaf(condition: Condition, side: Side): Sql {
  switch (condition.is) {
    case 'internal':
      return { text: 'j.internal = 1', values: [] };
    case 'time':
      return { text: `j.started ${condition.side === 'since' ? '>=' : '<='} ?`, values: [condition.at] };
    case 'outcome':
      if (side === 'verdict') return condition.outcome === 'missing' ? always : never;
      if (condition.outcome === 'missing') return never;
      return { text: condition.outcome === 'failed' ? failed : `NOT ${failed}`, values: [] };
    case 'field': {
      const { field, op, values } = condition;
      if (field === 'minion') return compare(resultColumns[side].minion, op, values, false);
      if (field !== 'retcode') return compare(`j.${field}`, op, values, false);
      // Without a result there is no return code, so no comparison matches.
      return side === 'verdict' ? never : compare('r.retcode', op, values, true);
    }
    default:
      return never;
  }
}

const failed = '(r.success = 0 OR r.retcode <> 0)';

function compile(condition: Condition, side: Side): Sql {
  if (condition.is === 'not') {
    const part = compile(condition.part, side);
    return { text: `NOT (${part.text})`, values: part.values };
  }
  if (condition.is !== 'and' && condition.is !== 'or') return leaf(condition, side);
  const parts = condition.parts.map((part) => compile(part, side));
  const word = condition.is === 'and' ? ' AND ' : ' OR ';
  return { text: `(${parts.map(({ text }) => text).join(word)})`, values: parts.flatMap(({ values }) => values) };
}

const missingOnly = "v.reason <> '' AND NOT EXISTS (SELECT 1 FROM ret x WHERE x.jid = v.jid AND x.id = v.id)";

/** The matching jobs, newest first; one more than requested shows whether there are more. */
export function jobsSql(condition: Condition | undefined, limit: number, offset: number): Sql {
  const where: Sql[] = [];
  if (!condition || !usesInternal(condition)) where.push({ text: 'j.internal = 0', values: [] });
  if (condition && !usesResults(condition)) where.push(compile(condition, 'ret'));
  else if (condition) {
    const [ret, verdict] = [compile(condition, 'ret'), compile(condition, 'verdict')];
    where.push({
      text:
        `(EXISTS (SELECT 1 FROM ret r WHERE r.jid = j.jid AND ${ret.text}) OR ` +
        `EXISTS (SELECT 1 FROM verdict v WHERE v.jid = j.jid AND ${missingOnly} AND ${verdict.text}))`,
      values: [...ret.values, ...verdict.values],
    });
  }
  const text = where.map((part) => part.text).join(' AND ') || '1';
  return {
    text: `SELECT j.jid, j.load FROM job j WHERE ${text} ORDER BY j.jid DESC LIMIT ${limit + 1} OFFSET ${offset}`,
    values: where.flatMap(({ values }) => values),
  };
}

/** Counts the outcomes of each of these jobs. */
export function countsSql(jids: readonly string[]): Sql {
  const marks = jids.map(() => '?').join(',');
  return {
    text:
      `SELECT r.jid, count(*) AS returned, sum(${failed}) AS failed, 0 AS missing FROM ret r WHERE r.jid IN (${marks}) GROUP BY r.jid ` +
      `UNION ALL SELECT v.jid, 0, 0, count(*) FROM verdict v WHERE v.jid IN (${marks}) AND ${missingOnly} GROUP BY v.jid`,
    values: [...jids, ...jids],
  };
}

/** The matching minions of one job, with their outcomes. */
export function minionsSql(condition: Condition, jid: string, limit: number): Sql {
  const [ret, verdict] = [compile(condition, 'ret'), compile(condition, 'verdict')];
  return {
    text:
      `SELECT r.id AS minion, CASE WHEN ${failed} THEN 'failed' ELSE 'success' END AS outcome, r.retcode AS retcode, '' AS text ` +
      `FROM job j JOIN ret r ON r.jid = j.jid WHERE j.jid = ? AND ${ret.text} ` +
      `UNION ALL SELECT v.id, 'missing', NULL, v.text FROM job j JOIN verdict v ON v.jid = j.jid ` +
      `WHERE j.jid = ? AND ${missingOnly} AND ${verdict.text} ORDER BY 1 LIMIT ${limit + 1}`,
    values: [jid, ...ret.values, jid, ...verdict.values],
  };
}
