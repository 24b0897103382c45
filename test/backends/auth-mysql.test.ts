// Authentication by a query of a real database: injected quotes stay text.
import { afterAll, beforeAll, expect, it } from 'vitest';
import mysql, { boundQuery } from '../../src/ext/auth/mysql.ts';
import { openModule } from '../support/auth-module.ts';
import { type MariaDb, startMariaDb } from '../support/servers/mariadb.ts';

let database: MariaDb | undefined;
beforeAll(async () => {
  database = await startMariaDb();
  await database?.sql(
    'CREATE TABLE users (username VARCHAR(50), password VARCHAR(100))',
    "INSERT INTO users VALUES ('fred', SHA2('secret', 256)), ('twice', SHA2('x', 256)), ('twice', SHA2('x', 256))",
  );
});
afterAll(() => database?.stop());

const sql = 'SELECT username FROM users WHERE username = "{0}" AND password = SHA2("{1}", 256)';
const settings = (own: Record<string, string | number>) => ({
  mysql_auth: {
    hostname: '127.0.0.1',
    port: database?.port ?? 0,
    username: 'salt',
    password: 'salt',
    database: 'salt',
    auth_sql: sql,
    ...own,
  },
});

it('accepts exactly one row', async () => {
  if (!database) return;
  const { accepts } = await openModule(mysql, settings({}));
  expect(await accepts('fred', 'secret')).toBe(true);
  for (const [name, password] of [
    ['fred', 'wrong'],
    ['fred', ''],
    ['twice', 'x'],
    ['nobody', 'secret'],
    ['', ''],
    ['" OR 1=1 -- ', 'x'],
    ['fred" -- ', 'x'],
    ["' OR '1'='1", "' OR '1'='1"],
    ['fred', '", 256) OR username = "fred" -- '],
    ['fred\0', 'secret'],
    ['{1}', 'secret'],
  ] as const)
    expect(await accepts(name, password), JSON.stringify([name, password])).toBe(false);
});

it('refuses everybody while the database cannot be reached', async () => {
  if (!database) return;
  expect(await (await openModule(mysql, settings({ password: 'wrong' }))).accepts('fred', 'secret')).toBe(false);
  expect(await (await openModule(mysql, settings({ port: 9 }))).accepts('fred', 'secret')).toBe(false);
});

it.each<[string, string]>([
  ["SELECT 1 FROM t WHERE u = '{0}' AND p = '{1}'", 'SELECT 1 FROM t WHERE u = ? AND p = ?'],
  ['SELECT 1 FROM t WHERE u = {0} AND p = MD5({1})', 'SELECT 1 FROM t WHERE u = ? AND p = MD5(?)'],
])('binds the parameters of %s', (given, text) => {
  expect(boundQuery(given)).toEqual({ text, order: [0, 1] });
});

it.each([
  'SELECT 1 FROM t WHERE u = "{0}"',
  'SELECT 1 FROM t',
  'SELECT 1 FROM t WHERE u = "{0}" AND p = "x{1}"',
  'SELECT 1 FROM t WHERE u = "{0}" AND p = "{2}"',
  'SELECT 1 FROM t WHERE u = "{0!r}" AND p = "{1}"',
  'SELECT 1 FROM t WHERE u = "{}" AND p = "{}"',
])('refuses %s', (given) => {
  expect(() => boundQuery(given)).toThrow(/mysql_auth/);
});
