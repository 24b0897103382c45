import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema, views } from '../../../store/sqlite/schema.ts';
import { queryJobs } from './query.ts';
import { parseQuery } from './query-parse.ts';

const now = Date.parse('2026-01-31T12:00:00Z');
const day = 86_400_000;

describe('the query language of jobs.query', () => {
  it('understands conditions, times and pages', () => {
    const query = parseQuery('fun=state.apply and failed since 2d limit 10 offset 20', now);
    expect(query.limit).toBe(10);
    expect(query.offset).toBe(20);
    expect(query.condition).toEqual({
      is: 'and',
      parts: [
        { is: 'field', field: 'fun', op: '=', values: ['state.apply'] },
        { is: 'outcome', outcome: 'failed' },
        { is: 'time', side: 'since', at: now - 2 * day },
      ],
    });
    expect(parseQuery('')).toEqual({ condition: undefined, limit: undefined, offset: undefined });
    expect(parseQuery("not (user='a b' or retcode>=2)", now).condition).toMatchObject({
      is: 'not',
      part: { is: 'or' },
    });
  });

  it.each([
    ['fnu=x', 'fnu', 0],
    ['fun state.apply', 'state.apply', 4],
    ['fun=x and (failed', "')'", 17],
    ['since tomorrow', 'tomorrow', 6],
    ['retcode=big', 'number', 8],
    ['fun=x )', "')'", 6],
    ['fun=', 'value', 4],
    ['limit many', 'number', 6],
    ['fun>3', 'retcode', 3],
    ['failed and', 'condition', 10],
  ])('points at the mistake in %s', (source, word, at) => {
    let text = '';
    try {
      parseQuery(source, now);
    } catch (error) {
      text = (error as Error).message;
    }
    expect(text).toContain(word);
    expect(text.split('\n')).toHaveLength(3);
    expect(text.split('\n')[2]).toBe(`  ${' '.repeat(at)}^`);
  });

  it('never fails in another way', () => {
    const words = [
      'fun',
      '=',
      '!=',
      '(',
      ')',
      'and',
      'or',
      'not',
      'failed',
      'since',
      '2d',
      'limit',
      '5',
      '"',
      "'",
      '*',
      'x',
    ];
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 5 })), { maxLength: 12 }),
        (parts) => {
          try {
            parseQuery(parts.join(' '), now);
          } catch (error) {
            expect((error as { code?: string }).code).toBe('call.arguments');
          }
        },
      ),
    );
  });
});

describe('jobs.query', () => {
  const folder = mkdtempSync(join(tmpdir(), 'halite-query-'));
  const db = new Database(join(folder, 'jobs.db'));
  const ctx = {
    master: { jobs: { query: async (sql: string, values: unknown[] = []) => db.prepare(sql).all(...values) } },
  } as never;
  const found = async (query: string): Promise<Record<string, Record<string, unknown>>> => {
    const answer = await queryJobs(ctx, { query, sql: '', limit: 0, offset: 0 });
    return (answer as { jobs: Record<string, Record<string, unknown>> }).jobs;
  };
  const jids = async (query: string): Promise<string[]> =>
    Object.keys(await found(query)).map((jid) => String(Number(jid.slice(-2))));

  beforeAll(() => {
    db.exec(schema + views);
    const job = db.prepare(
      "INSERT INTO job (jid, fun, tgt, tgt_type, user, load, expected, started, internal) VALUES (?,?,?,'glob',?,?,'[]',?,?)",
    );
    const ret = db.prepare(
      "INSERT INTO ret (jid, id, fun, retcode, success, full_ret, received) VALUES (?,?,?,?,?,'{}',0)",
    );
    const verdict = db.prepare("INSERT INTO verdict VALUES (?,?,'missing','silent','nothing heard','{}',0)");
    const jid = (n: number): string => `202601311200000000${String(n).padStart(2, '0')}`;
    const add = (n: number, fun: string, user: string, age: number, internal = 0): void => {
      job.run(jid(n), fun, 'web*', user, JSON.stringify({ fun, tgt: 'web*', user }), Date.now() - age * day, internal);
    };
    add(1, 'test.ping', 'anna', 5);
    add(2, 'state.apply', 'root', 1);
    add(3, 'state.highstate', 'root', 0);
    add(4, 'saltutil.find_job', 'root', 0, 1);
    ret.run(jid(1), 'web1', 'test.ping', 0, 1);
    ret.run(jid(2), 'web1', 'state.apply', 0, 1);
    ret.run(jid(2), 'web2', 'state.apply', 2, 0);
    verdict.run(jid(2), 'db1');
    ret.run(jid(3), 'db1', 'state.highstate', 0, 1);
  });
  afterAll(() => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['', ['3', '2', '1']],
    ['fun=state.*', ['3', '2']],
    ['fun=state.apply,test.ping', ['2', '1']],
    ['fun!=state.*', ['1']],
    ['failed', ['2']],
    ['missing', ['2']],
    ['missing minion=db1', ['2']],
    ['success and minion=db*', ['3']],
    ['minion=web1', ['2', '1']],
    ['retcode>1', ['2']],
    ['retcode=0 and not fun=test.ping', ['3', '2']],
    ['user=anna or user=nobody', ['1']],
    ['since 2d', ['3', '2']],
    ['until 2d', ['1']],
    ['internal', ['4']],
    ['fun=state.apply and failed since 2d', ['2']],
    ['fun=state.apply and failed since 1h', []],
    ["user=' OR 1=1 --'", []],
    ['limit 1 offset 1', ['2']],
  ])('%s', async (query, expected) => {
    expect(await jids(query)).toEqual(expected);
  });

  it('counts outcomes and names the minions that match', async () => {
    const [job] = Object.values(await found('fun=state.apply and (failed or missing)'));
    expect(job).toMatchObject({ Function: 'state.apply', Succeeded: 1, Failed: 1, Missing: 1 });
    expect(job!['Minions']).toEqual({ db1: 'missing: nothing heard', web2: 'failed, retcode 2' });
  });

  it('returns the offset of the next page', async () => {
    expect(await queryJobs(ctx, { query: '', sql: '', limit: 2, offset: 0 })).toMatchObject({ next: 'offset 2' });
    expect(await queryJobs(ctx, { query: '', sql: '', limit: 3, offset: 0 })).not.toHaveProperty('next');
  });

  it('runs SQL unchanged', async () => {
    const rows = await queryJobs(ctx, {
      query: 'SELECT count(*) AS n FROM salt_returns',
      sql: '',
      limit: 0,
      offset: 0,
    });
    expect(rows).toEqual([{ n: 4 }]);
  });
});
