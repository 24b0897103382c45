// External pillars over real MariaDB, PostgreSQL and SQLite: types of values, and every option of a query.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pyRepr } from '../../src/base/codec/python/index.ts';
import { dictOf, newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { PillarTree } from '../../src/engine/pillar/testing.ts';
import { type MariaDb, startMariaDb } from '../support/servers/mariadb.ts';
import { type PostgreSql, startPostgreSql } from '../support/servers/postgres.ts';

const tables = [
  'CREATE TABLE flat (minion VARCHAR(60), k VARCHAR(60), v VARCHAR(60))',
  "INSERT INTO flat VALUES ('web1', 'a', '1'), ('web1', 'b', NULL), ('web1', 'a', '2'), ('db1', 'a', 'x'), ('w%', 'like', 'y')",
  'CREATE TABLE deep (minion VARCHAR(60), a VARCHAR(60), b VARCHAR(60), c VARCHAR(60), d VARCHAR(60))',
  "INSERT INTO deep VALUES ('web1', 'x', 'm', 'p', '1'), ('web1', 'x', 'm', 'q', '2'), ('web1', 'x', 'n', 'p', '3'), ('web1', 'y', 'm', 'p', NULL)",
];
const flat = "SELECT k, v FROM flat WHERE minion = 'MARK' ORDER BY k, v DESC".replace("'MARK'", '%s');
const deep = 'SELECT a, b, c, d FROM deep WHERE minion = %s ORDER BY a, b, c';
const dict = (entries: Record<string, Value>): PlainDict => newDict(Object.entries(entries));

interface Source {
  readonly name: string;
  readonly start: () => Promise<PlainDict | undefined>;
  readonly mark: string;
}

let maria: MariaDb | undefined;
let postgres: PostgreSql | undefined;
const folder = mkdtempSync(join(tmpdir(), 'halite-pillar-sql-'));
const place = (port: number): PlainDict => dict({ host: '127.0.0.1', port, user: 'salt', pass: 'salt', db: 'salt' });
afterAll(async () => {
  await Promise.all([maria?.stop(), postgres?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const sources: Source[] = [
  {
    ...{ name: 'mysql', mark: '%s' },
    async start() {
      maria = await startMariaDb();
      await maria?.sql(...tables);
      return maria && place(maria.port);
    },
  },
  {
    ...{ name: 'postgres', mark: '%s' },
    async start() {
      postgres = await startPostgreSql();
      await postgres?.sql(...tables, 'GRANT ALL ON ALL TABLES IN SCHEMA public TO salt');
      return postgres && place(postgres.port);
    },
  },
  {
    ...{ name: 'sqlite3', mark: '?' },
    async start() {
      const file = join(folder, 'pillar.db');
      const database = new Database(file);
      for (const statement of tables) database.exec(statement);
      database.close();
      return dict({ database: file });
    },
  },
];

describe.each(sources)('$name', ({ name, start, mark }) => {
  let options: PlainDict | undefined;
  const tree = new PillarTree();
  beforeAll(async () => {
    options = await start();
  });
  afterAll(() => tree.remove());

  const compiled = async (settings: Value): Promise<string> => {
    const marked = JSON.parse(JSON.stringify(settings).replaceAll('%s', mark)) as Value;
    const plain = (value: Value): Value =>
      Array.isArray(value)
        ? value.map(plain)
        : value !== null && typeof value === 'object'
          ? dictOf(Object.entries(value as PlainDict).map(([key, item]) => [key, plain(item)]))
          : value;
    tree.opts = dict({ ext_pillar: [dict({ [name]: plain(marked) })], [name]: options ?? null });
    return pyRepr(await tree.compile({ minionId: 'web1' }));
  };

  it('puts rows under their keys, the last of equal ones', async (test) => {
    if (!options) return test.skip('the server cannot be installed here');
    expect(await compiled([flat])).toMatch(/^\{'a': '[12]', 'b': None\}$/);
    expect(await compiled(flat)).toMatch(/^\{'a': '[12]', 'b': None\}$/);
    expect(await compiled({ one: { query: flat, ignore_null: true }, none: '' })).toMatch(
      /^\{'one': \{'a': '[12]'\}\}$/,
    );
  });

  it('creates lists as configured', async (test) => {
    if (!options) return test.skip('the server cannot be installed here');
    expect(await compiled([{ query: flat, as_list: true }])).toMatch(/^\{'a': \['[12]', '[12]'\], 'b': None\}$/);
    expect(await compiled([{ query: flat, with_lists: '1' }])).toMatch(/^\{'a': \['[12]', '[12]'\], 'b': \[None\]\}$/);
  });

  it('nests as deep as configured', async (test) => {
    if (!options) return test.skip('the server cannot be installed here');
    expect(await compiled([deep])).toBe("{'x': {'m': {'p': '1', 'q': '2'}, 'n': {'p': '3'}}, 'y': {'m': {'p': None}}}");
    expect(await compiled([{ query: deep, depth: 1 }])).toBe(
      "{'x': {'b': 'n', 'c': 'p', 'd': '3'}, 'y': {'b': 'm', 'c': 'p', 'd': None}}",
    );
    expect(await compiled([[deep, 2]])).toBe(
      "{'x': {'m': {'c': 'q', 'd': '2'}, 'n': {'c': 'p', 'd': '3'}}, 'y': {'m': {'c': 'p', 'd': None}}}",
    );
    expect(await compiled({ t: { query: deep, depth: 2, as_list: true, ignore_null: true } })).toBe(
      "{'t': {'x': {'m': {'c': ['p', 'q'], 'd': ['1', '2']}, 'n': {'c': 'p', 'd': '3'}}, 'y': {'m': {'c': 'p'}}}}",
    );
    expect(await compiled([{ query: deep, with_lists: [1, 3] }])).toBe(
      "{'x': [{'p': ['1'], 'q': ['2']}, {'p': ['3']}], 'y': [{'p': [None]}]}",
    );
  });

  it('reports the error, and keeps the previous data', async (test) => {
    if (!options) return test.skip('the server cannot be installed here');
    tree.logged.length = 0;
    expect(await compiled([flat, 'SELECT y FROM nowhere WHERE x = %s'])).toMatch(/^\{'a'/);
    expect(tree.logged.join('\n')).toMatch(/Error in ext_pillar \w+: .*nowhere/);
  });
});

describe('values', () => {
  const ask = async (name: string, port: number, query: string): Promise<string> => {
    const tree = new PillarTree();
    tree.opts = dict({ ext_pillar: [dict({ [name]: [query] })], [name]: place(port) });
    const value = await tree.compile({ minionId: "we'b\\1" });
    tree.remove();
    return pyRepr(value);
  };

  it('keep their types in MariaDB', async (test) => {
    if (!maria) return test.skip('the server cannot be installed here');
    const rows = (...cells: string[]): string => cells.map((cell, at) => `SELECT ${at}, ${cell}`).join(' UNION ALL ');
    for (const [cell, expected] of [
      ['CAST(9007199254740993 AS SIGNED)', '9007199254740993'],
      ['CAST(2 AS DOUBLE)', '2.0'],
      ["X'00ff'", "b'\\x00\\xff'"],
      ["'50%%'", "'50%'"],
      ['%s', `"we'b\\\\1"`],
      ["TIMESTAMP('2024-01-02 03:04:05')", "'2024-01-02 03:04:05'"],
    ] as const)
      expect(await ask('mysql', maria.port, rows(cell))).toBe(`{0: ${expected}}`);
  });

  it('keep their types in PostgreSQL', async (test) => {
    if (!postgres) return test.skip('the server cannot be installed here');
    for (const [cell, expected] of [
      ['9007199254740993::int8', '9007199254740993'],
      ['2::float8', '2.0'],
      ['true', 'True'],
      ['\'{"a": [1, 1.0, null]}\'::jsonb', "{'a': [1, 1.0, None]}"],
      ['ARRAY[1,2]', '[1, 2]'],
      ["ARRAY['x','y']", "['x', 'y']"],
      ["'50%%'", "'50%'"],
      ['%s', `"we'b\\\\1"`],
    ] as const)
      expect(await ask('postgres', postgres.port, `SELECT 0, ${cell}`)).toBe(`{0: ${expected}}`);
    const tree = new PillarTree();
    const query = `SELECT '{"a": {"b": 1}, "l": [1]}'::jsonb UNION ALL SELECT '{"a": {"c": 2}, "l": [2]}'::jsonb`;
    const settings = [dict({ query, as_json: true, as_list: true })];
    tree.opts = dict({ ext_pillar: [dict({ postgres: settings })], postgres: place(postgres.port) });
    expect(pyRepr(await tree.compile())).toBe("{'a': {'b': 1, 'c': 2}, 'l': [1, 2]}");
    tree.remove();
  });
});
