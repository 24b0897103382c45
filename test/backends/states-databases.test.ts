// States for databases against real servers: announced under test, applied, and without changes when applied again.
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Module, PlainDict, StateModule, StateResult, Value } from 'halite/sdk';
import { applyState, testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import cmd from '../../src/ext/modules/cmd/index.ts';
import config from '../../src/ext/modules/config.ts';
import mysql from '../../src/ext/modules/mysql/index.ts';
import postgres from '../../src/ext/modules/postgres/index.ts';
import redis from '../../src/ext/modules/redismod.ts';
import mysqlDatabase from '../../src/ext/states/mysql_database/index.ts';
import mysqlGrants from '../../src/ext/states/mysql_grants/index.ts';
import mysqlQuery from '../../src/ext/states/mysql_query/index.ts';
import mysqlUser from '../../src/ext/states/mysql_user/index.ts';
import postgresDatabase from '../../src/ext/states/postgres_database/index.ts';
import postgresExtension from '../../src/ext/states/postgres_extension/index.ts';
import postgresGroup from '../../src/ext/states/postgres_group/index.ts';
import postgresPrivileges from '../../src/ext/states/postgres_privileges/index.ts';
import postgresSchema from '../../src/ext/states/postgres_schema/index.ts';
import postgresTablespace from '../../src/ext/states/postgres_tablespace/index.ts';
import postgresUser from '../../src/ext/states/postgres_user/index.ts';
import redisState from '../../src/ext/states/redismod/index.ts';
import { type MariaDb, startMariaDb } from '../support/servers/mariadb.ts';
import { type PostgreSql, startPostgreSql } from '../support/servers/postgres.ts';
import { startRedis } from '../support/servers/redis.ts';
import { findProgram } from '../support/servers/server.ts';

interface Place {
  readonly modules: readonly Module[];
  readonly states: readonly StateModule[];
  readonly opts: Readonly<Record<string, Value>>;
}

/** Under test, applied, applied again. */
async function thrice(place: Place, fun: string, args: Record<string, Value>): Promise<StateResult[]> {
  const results: StateResult[] = [];
  for (const test of [true, false, false]) results.push(await applyState({ ...place, test }, fun, args));
  return results;
}

/** It says so, does it, and has nothing more to do. */
async function converges(place: Place, fun: string, args: Record<string, Value>, changes: PlainDict): Promise<void> {
  const [foretold, done, again] = await thrice(place, fun, args);
  expect(foretold).toMatchObject({ result: null });
  expect(done).toMatchObject({ result: true, changes });
  expect(again).toMatchObject({ result: true });
  expect(Object.keys(again?.changes ?? {})).toEqual([]);
}

describe('MariaDB', async () => {
  let server: MariaDb | undefined;
  let place: Place;
  let folder = '';
  const call = (fun: string, args: Value[] = [], kwargs: PlainDict = {}): Promise<Value> =>
    testContext(place).callWith(fun, args, kwargs);

  beforeAll(async () => {
    server = await startMariaDb();
    folder = mkdtempSync(join(tmpdir(), 'halite-mysql-'));
    place = {
      modules: [mysql, config],
      states: [mysqlDatabase, mysqlUser, mysqlGrants, mysqlQuery],
      opts: { 'mysql.host': '127.0.0.1', 'mysql.user': 'root', 'mysql.port': server?.port ?? 0 },
    };
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has databases, users and grants as wanted', async (test) => {
    if (!server) return test.skip();
    const shop = 'my_shop`x';
    await converges(place, 'mysql_database.present', { name: shop, character_set: 'latin1' }, { [shop]: 'Present' });
    await converges(
      place,
      'mysql_database.present',
      { name: shop, character_set: 'utf8mb4', collate: 'utf8mb4_bin' },
      { character_set: { before: 'latin1', now: 'utf8mb4' } },
    );
    const frank = { name: "fra'nk", host: '%' };
    await converges(place, 'mysql_user.present', { ...frank, password: 'it\'s "1"' }, { "fra'nk": 'Present' });
    expect(await call('mysql.verify_login', ["fra'nk", 'it\'s "1"'])).toBe(true);
    expect(await call('mysql.verify_login', ["fra'nk", 'other'])).toBe(false);
    await converges(place, 'mysql_user.present', { ...frank, password: 'two' }, { "fra'nk": 'Updated' });
    expect(await call('mysql.verify_login', ["fra'nk", 'two'])).toBe(true);
    const hash = '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19';
    await converges(place, 'mysql_user.present', { ...frank, password_hash: hash }, { "fra'nk": 'Updated' });
    expect(await call('mysql.verify_login', ["fra'nk", 'password'])).toBe(true);
    await converges(place, 'mysql_user.present', { ...frank, allow_passwordless: true }, { "fra'nk": 'Updated' });
    const grant = { name: 'g', user: "fra'nk", host: '%', database: `${shop}.*` };
    await converges(place, 'mysql_grants.present', { ...grant, grant: 'select, insert' }, { g: 'Present' });
    await converges(place, 'mysql_grants.present', { ...grant, grant: 'ALL', grant_option: true }, { g: 'Present' });
    await converges(
      place,
      'mysql_grants.present',
      { ...grant, database: '*.*', grant: 'replication client, process' },
      { g: 'Present' },
    );
    expect(await call('mysql.user_grants', ["fra'nk", '%'])).toEqual([
      "GRANT PROCESS, BINLOG MONITOR ON *.* TO `fra'nk`@`%`",
      "GRANT ALL PRIVILEGES ON `my\\_shop``x`.* TO `fra'nk`@`%` WITH GRANT OPTION",
    ]);
    await converges(place, 'mysql_grants.absent', { ...grant, grant: 'ALL PRIVILEGES' }, { g: 'Absent' });
    await converges(place, 'mysql_user.absent', frank, { "fra'nk": 'Absent' });
    await converges(place, 'mysql_database.absent', { name: shop }, { [shop]: 'Absent' });
  });

  it('runs statements and files of them', async (test) => {
    if (!server) return test.skip();
    const file = join(folder, 'setup.sql');
    writeFileSync(
      file,
      "-- a table\nCREATE TABLE t (id INT, name TEXT); /* rows; two */\nINSERT INTO t VALUES (1, 'a;b'),\n (2, NULL); # end\nSELECT * FROM t ORDER BY id;\n",
    );
    const done = await applyState(place, 'mysql_query.run_file', { name: 'x', database: 'salt', query_file: file });
    expect(done).toMatchObject({ result: true, changes: { query: 'Executed' } });
    expect(await call('mysql.query', ['salt', 'SELECT * FROM t ORDER BY id'])).toMatchObject({
      'rows returned': 2,
      columns: ['id', 'name'],
      results: [
        ['1', 'a;b'],
        ['2', null],
      ],
    });
    expect(await call('mysql.query', ['salt', 'DELETE FROM t WHERE id=2'])).toMatchObject({ 'rows affected': 1 });
    await expect(call('mysql.query', ['salt', 'SELECT * FROM nothing'])).rejects.toThrow(/1146/);
    expect(await call('mysql.db_tables', ['salt'])).toEqual(['t']);
    expect(await call('mysql.db_check', ['salt', 't'])).toMatchObject([{ Table: 'salt.t', Msg_text: 'OK' }]);
    expect(await call('mysql.version')).toContain('MariaDB');
    expect(await call('mysql.db_list')).toContain('salt');
    expect(await call('mysql.plugin_status', ['unix_socket'])).toBe('ACTIVE');
  });

  it('reports why it cannot connect', async (test) => {
    if (!server) return test.skip();
    const wrong = { connection_user: 'nobody', connection_pass: 'x' };
    const refused = await applyState(place, 'mysql_database.present', { name: 'a', ...wrong });
    expect(refused).toMatchObject({ result: false });
    expect(refused.comment).toMatch(/^MySQL Error 1045: Access denied for user 'nobody'@/);
    const closed = await applyState(place, 'mysql_user.present', { name: 'a', password: 'b', connection_port: 1 });
    expect(closed.comment).toBe(
      "MySQL Error 2003: Can't connect to MySQL server on '127.0.0.1' ([Errno 111] Connection refused)",
    );
  });
});

describe('PostgreSQL', async () => {
  let server: PostgreSql | undefined;
  let place: Place;
  const call = (fun: string, args: Value[] = [], kwargs: PlainDict = {}): Promise<Value> =>
    testContext(place).callWith(fun, args, kwargs);

  beforeAll(async () => {
    server = await startPostgreSql();
    place = {
      modules: [postgres, config, cmd],
      states: [
        postgresDatabase,
        postgresExtension,
        postgresGroup,
        postgresPrivileges,
        postgresSchema,
        postgresTablespace,
        postgresUser,
      ],
      opts: {
        'postgres.host': '127.0.0.1',
        'postgres.user': 'postgres',
        'postgres.port': server?.port ?? 0,
        // The psql on the path of Debian is a script that starts the real one.
        'postgres.bins_dir': dirname(realpathSync(findProgram('postgres') ?? '/')),
      },
    };
  });
  afterAll(() => server?.stop());

  it('has groups and users as wanted', async (test) => {
    if (!server) return test.skip();
    const name = 'fra"n\'k';
    await converges(place, 'postgres_group.present', { name: 'staff', createdb: true }, { staff: 'Present' });
    const frank = { name, password: "it's", encrypted: 'scram-sha-256' };
    await converges(place, 'postgres_user.present', { ...frank, groups: ['staff'] }, { [name]: 'Present' });
    await converges(
      place,
      'postgres_user.present',
      { ...frank, password: 'two', createdb: true, valid_until: '2030-01-01' },
      { [name]: { createdb: true, password: true, valid_until: '2030-01-01' } },
    );
    expect(await call('postgres.role_get', [name])).toMatchObject({
      superuser: false,
      'can login': true,
      groups: ['staff'],
      'expiry time': '2030-01-01 00:00:00',
    });
    await converges(place, 'postgres_user.absent', { name }, { [name]: 'Absent' });
    await converges(place, 'postgres_group.absent', { name: 'staff' }, { staff: 'Absent' });
  });

  it('has databases, schemas, extensions and privileges as wanted', async (test) => {
    if (!server) return test.skip();
    await converges(
      place,
      'postgres_database.present',
      { name: 'my shop', encoding: 'UTF8' },
      { 'my shop': 'Present' },
    );
    await converges(place, 'postgres_user.present', { name: 'jane' }, { jane: 'Present' });
    const inside = { maintenance_db: 'my shop' };
    await converges(place, 'postgres_schema.present', { name: 'sales', dbname: 'my shop' }, { sales: 'Present' });
    await converges(place, 'postgres_extension.absent', { name: 'plpgsql', ...inside }, { plpgsql: 'Absent' });
    await converges(place, 'postgres_extension.present', { name: 'plpgsql', ...inside }, { plpgsql: 'Installed' });
    const written = await call('postgres.psql_query', [
      "WITH made AS (SELECT 1) SELECT 'a,\"b\"' AS x, NULL AS y, E'two\\nlines' AS z",
    ]);
    expect(written).toEqual([{ x: 'a,"b"', y: '', z: 'two\nlines' }]);
    const table = { name: 'jane', object_type: 'table', prepend: 'salt_test', maintenance_db: 'salt' };
    await server.sql(
      'CREATE SCHEMA salt_test',
      'CREATE TABLE salt_test.a (id int)',
      'CREATE TABLE salt_test.b (id int)',
    );
    const granted = { jane: 'Present' };
    await converges(
      place,
      'postgres_privileges.present',
      { ...table, object_name: 'a', privileges: ['SELECT', 'INSERT'] },
      granted,
    );
    await converges(
      place,
      'postgres_privileges.present',
      { ...table, object_name: 'ALL', privileges: ['ALL'] },
      granted,
    );
    await converges(
      place,
      'postgres_privileges.present',
      { ...table, object_name: 'b', privileges: ['SELECT'], grant_option: true },
      granted,
    );
    const schema = { name: 'jane', object_name: 'salt_test', object_type: 'schema', maintenance_db: 'salt' };
    await converges(place, 'postgres_privileges.present', { ...schema, privileges: ['USAGE'] }, granted);
    const database = { name: 'jane', object_name: 'my shop', object_type: 'database' };
    await converges(place, 'postgres_privileges.present', { ...database, privileges: ['CONNECT'] }, granted);
    await converges(
      place,
      'postgres_privileges.absent',
      { ...table, object_name: 'a', privileges: ['SELECT', 'INSERT'] },
      { jane: 'Absent' },
    );
    expect(
      await call('postgres.privileges_list', ['b', 'table'], { prepend: 'salt_test', maintenance_db: 'salt' }),
    ).toMatchObject({
      jane: { SELECT: true, INSERT: false },
    });
    await converges(
      place,
      'postgres_database.present',
      { name: 'my shop', owner: 'jane', owner_recurse: true },
      {
        'my shop': 'Parameters changed',
      },
    );
    expect(await call('postgres.schema_get', ['my shop', 'sales'])).toMatchObject({ owner: 'jane' });
    await converges(place, 'postgres_schema.absent', { name: 'sales', dbname: 'my shop' }, { sales: 'Absent' });
    await converges(place, 'postgres_database.absent', { name: 'my shop' }, { 'my shop': 'Absent' });
  });

  it('has tablespaces as wanted', async (test) => {
    if (!server) return test.skip();
    const directory = join(server.folder, 'data', 'space');
    mkdirSync(directory);
    const { uid, gid } = statSync(join(server.folder, 'data'));
    chownSync(directory, uid, gid);
    const fast = { name: 'fast', directory };
    await converges(place, 'postgres_tablespace.present', fast, { fast: 'Present' });
    const options = { options: { random_page_cost: 3 }, owner: 'salt' };
    await converges(
      place,
      'postgres_tablespace.present',
      { ...fast, ...options },
      {
        fast: { owner: 'salt', options: { random_page_cost: 3 } },
      },
    );
    await converges(place, 'postgres_tablespace.absent', { name: 'fast' }, { fast: 'Absent' });
  });
});

describe('Redis', () => {
  it('has keys as wanted', async (test) => {
    const server = await startRedis({ password: 'secret' });
    if (!server) return test.skip();
    try {
      const opts = { 'redis.host': '127.0.0.1', 'redis.port': server.port, 'redis.password': 'secret' };
      const place: Place = { modules: [redis, config], states: [redisState], opts };
      const call = (fun: string, args: Value[] = [], kwargs: PlainDict = {}): Promise<Value> =>
        testContext(place).callWith(fun, args, kwargs);
      await converges(place, 'redis.string', { name: 'colour', value: 'blue' }, { colour: 'Value updated' });
      expect(await call('redis.get_key', ['colour'])).toBe('blue');
      expect(await call('redis.hmset', ['h'], { a: 1, b: 'two' })).toBe(true);
      expect(await call('redis.hgetall', ['h'])).toEqual({ a: '1', b: 'two' });
      expect(await call('redis.hscan', ['h'])).toEqual([0, { a: '1', b: 'two' }]);
      expect(await call('redis.config_get', ['appendonly'])).toEqual({ appendonly: 'yes' });
      expect(await call('redis.info')).toMatchObject({ tcp_port: server.port });
      expect(await call('redis.expire', ['h', 100])).toBe(true);
      await converges(
        place,
        'redis.absent',
        { name: 'x', keys: ['colour', 'h', 'none'] },
        { deleted: ['colour', 'h'] },
      );
      expect(await call('redis.dbsize')).toBe(0);
      expect(await call('redis.ping', [], { password: 'wrong' })).toBe(false);
      await expect(call('redis.keys', [], { port: 1 })).rejects.toThrow(/ECONNREFUSED/);
    } finally {
      await server.stop();
    }
  });
});
