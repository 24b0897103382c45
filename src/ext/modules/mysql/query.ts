// Statements given by the operator: one, or a file of them.

import { type ModuleContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { existsSync, readFileSync } from 'halite/sdk/fs';
import { type Rows, withSession } from '../../shared/mysql/connect.ts';

/** Statements of a text, without comments; `;` in quotes does not end one. */
export function splitStatements(text: string): string[] {
  const token =
    /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`|(\/\*(?!!)[\s\S]*?\*\/)|((?:--(?=\s|$)|#)[^\n]*)|(;)|[\s\S]/gy;
  const found: string[] = [];
  let current = '';
  for (const [part, block, line, end] of text.matchAll(token)) {
    if (end !== undefined) {
      found.push(current.trim());
      current = '';
    } else if (block !== undefined || line !== undefined) current += ' ';
    else current += part;
  }
  return [...found, current.trim()].filter((statement) => statement !== '');
}

const human = (seconds: number): string =>
  seconds < 0.2 ? `${Math.round(seconds * 10_000) / 10}ms` : `${Math.round(seconds * 100) / 100}s`;

function answerOf(sql: string, got: Rows, seconds: number): PlainDict {
  const time = newDict([
    ['human', human(seconds)],
    ['raw', String(Math.round(seconds * 1e5) / 1e5)],
  ]);
  if (!/^\s*(?:select|show|desc)/i.test(sql))
    return newDict([
      ['query time', time],
      ['rows affected', got.affected],
    ]);
  return newDict([
    ['query time', time],
    ['rows returned', got.affected],
    ['columns', got.columns],
    ['results', got.rows],
  ]);
}

export async function query(database: string, sql: string, args: PlainDict, ctx: ModuleContext): Promise<Value> {
  const here = { ...args, connection_db: database };
  // An unreachable server gives an empty answer, a refused query gives False.
  let reached = false;
  const answer = await withSession<Value>(here, false, ctx, async (session) => {
    reached = true;
    const start = performance.now();
    const got = await session.run(sql);
    return answerOf(sql, got, (performance.now() - start) / 1000);
  });
  return answer === false && !reached ? newDict() : answer;
}

async function fileText(name: string, ctx: ModuleContext): Promise<string | undefined> {
  const isRemote = /^(?:salt|https?|swift|s3):\/\//.test(name);
  const path = isRemote ? await ctx.call('cp.cache_file', name) : name;
  if (typeof path === 'string' && existsSync(path)) return readFileSync(path, 'utf8');
  ctx.log.error(`File "${name}" does not exist`);
  return undefined;
}

/** Runs each statement of a file; sums up what they returned. */
export async function fileQuery(database: string, name: string, args: PlainDict, ctx: ModuleContext): Promise<Value> {
  const text = await fileText(name, ctx);
  if (text === undefined) return false;
  const [columns, results]: [Value[], Value[]] = [[], []];
  let [returned, affected, seconds] = [0, 0, 0];
  for (const statement of splitStatements(text)) {
    const answer = await query(database, statement, args, ctx);
    if (answer === false) return false;
    const part = answer as PlainDict;
    seconds += Number((part['query time'] as PlainDict | undefined)?.['raw'] ?? 0);
    returned += Number(part['rows returned'] ?? 0);
    affected += Number(part['rows affected'] ?? 0);
    if (part['columns'] !== undefined) columns.push(part['columns']);
    if (part['results'] !== undefined) results.push(part['results']);
  }
  return newDict([
    ...(returned > 0 ? [['rows returned', returned] as [string, Value]] : []),
    ...(columns.length > 0 ? [['columns', columns] as [string, Value]] : []),
    ...(results.length > 0 ? [['results', results] as [string, Value]] : []),
    ...(affected > 0 ? [['rows affected', affected] as [string, Value]] : []),
    [
      'query time',
      newDict([
        ['raw', Math.round(seconds * 1e5) / 1e5],
        ['human', `${Math.round(seconds * 100) / 100}s`],
      ]),
    ],
  ]);
}
