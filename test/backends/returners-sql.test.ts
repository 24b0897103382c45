// Returners over MariaDB, PostgreSQL, SQLite and files: the common suite, and what is particular to their tables.
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadJson } from '../../src/base/codec/json/index.ts';
import { newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import type { StoredEvent } from '../../src/extend/sdk/index.ts';
import {
  nextJid,
  openForTest,
  type ReturnerUnderTest,
  returnerSuite,
  someLoad,
  someReturn,
} from '../support/returner-suite.ts';
import { type MariaDb, startMariaDb } from '../support/servers/mariadb.ts';
import { type PostgreSql, startPostgreSql } from '../support/servers/postgres.ts';

const dict = (value: Record<string, Value>): PlainDict => newDict(Object.entries(value));
const fixture = (name: string) => readFileSync(new URL(`../fixtures/returners/${name}.sql`, import.meta.url), 'utf8');
const certificate = (name: string) => join(import.meta.dirname, `../fixtures/wire-tls/${name}.pem`);
const folder = mkdtempSync(join(tmpdir(), 'halite-returners-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Sql = (...statements: string[]) => Promise<Record<string, unknown>[]>;
const storedIn =
  (sql: () => Sql, column: string) =>
  async (jid: string): Promise<PlainDict[]> => {
    const rows = await sql()(`SELECT ${column} AS kept FROM salt_returns WHERE jid = '${jid}'`);
    return rows.map((row) => (typeof row['kept'] === 'string' ? loadJson(row['kept']) : row['kept']) as PlainDict);
  };
const eventsIn = (sql: () => Sql) => async (): Promise<StoredEvent[]> => {
  const rows = await sql()('SELECT tag, data, master_id FROM salt_events ORDER BY id');
  expect(rows.every((row) => row['master_id'] === 'suite-master')).toBe(true);
  return rows.map(({ tag, data }) => ({
    tag: String(tag),
    data: (typeof data === 'string' ? loadJson(data) : data) as PlainDict,
  }));
};

describe('MariaDB', () => {
  let server: MariaDb | undefined;
  beforeAll(async () => {
    server = await startMariaDb();
    await server?.sql(
      ...fixture('mysql')
        .split(/;\s*\n/)
        .filter((text) => text.trim() !== ''),
    );
  });
  afterAll(() => server?.stop());
  const sql = () => server!.sql;

  returnerSuite({
    name: 'mysql',
    options: () => server!.options,
    start: async () => server !== undefined,
    stored: storedIn(sql, 'full_ret'),
    events: eventsIn(sql),
    eventsOnce: true,
    server: () => server!,
  });

  it('fills the columns of the story, with success right also for runners', async (context) => {
    if (!server) return context.skip();
    const session = await openForTest('mysql', server.options);
    const jid = nextJid();
    await session.save(someReturn(jid, 'minion', { return: 'a\nb', fun: 'cmd.run', fun_args: ['ls /root/'] }));
    await session.save(someReturn(jid, 'failed', { success: false, retcode: 1 }));
    const runner = { fun: 'runner.jobs.lookup_jid', jid, success: true, return: newDict() };
    await session.save(dict({ jid, id: 'master_master', fun: runner.fun, tgt: 'master_master', return: dict(runner) }));
    await session.save(someReturn(jid, 'two', { fun: ['a.b', 'c.d'], success: dict({ 'a.b': true, 'c.d': false }) }));
    await session.close?.();
    const rows = await server.sql(
      `SELECT fun, \`return\`, id, success FROM salt_returns WHERE jid = '${jid}' ORDER BY id`,
    );
    expect(rows).toEqual([
      { fun: 'test.ping', return: 'true', id: 'failed', success: '0' },
      {
        fun: 'runner.jobs.lookup_jid',
        return: expect.stringContaining('"success": true'),
        id: 'master_master',
        success: '1',
      },
      { fun: 'cmd.run', return: '"a\\nb"', id: 'minion', success: '1' },
      { fun: 'a.b,c.d', return: 'true', id: 'two', success: '0' },
    ]);
  });

  it('stores runners as Salt does, and returns them unchanged', async (context) => {
    if (!server) return context.skip();
    const session = await openForTest('mysql', server.options);
    const jid = nextJid();
    const fun = 'runner.test.arg';
    const load = dict({
      ...{ jid, id: 'm_master', fun, fun_args: ['x'], user: 'root' },
      return: 'answer',
      success: false,
    });
    await session.save(load);
    const [row] = await server.sql(`SELECT \`return\`, success FROM salt_returns WHERE jid = '${jid}'`);
    expect(row?.['success']).toBe('0');
    expect(JSON.parse(String(row?.['return']))).toEqual({
      ...{ fun_args: ['x'], jid, return: 'answer', success: false, user: 'root', fun },
    });
    expect((await session.jobCache!.returns(jid)).get('m_master')).toEqual(load);
    await session.close?.();
  });

  it('uses another profile and options of the job', async (context) => {
    if (!server) return context.skip();
    await server.sql('CREATE DATABASE IF NOT EXISTS other', "GRANT ALL ON other.* TO salt@'%'");
    await server.sql('CREATE TABLE other.salt_returns LIKE salt.salt_returns');
    const jid = nextJid();
    const opts = { ...server.options, 'alternative.mysql.db': 'other' };
    for (const more of [{ config: 'alternative' }, { kwargs: dict({ db: 'other' }) }]) {
      const session = await openForTest('mysql', opts, more);
      await session.save(someReturn(jid, Object.keys(more)[0]!));
      await session.close?.();
    }
    const rows = await server.sql(`SELECT id FROM other.salt_returns WHERE jid = '${jid}' ORDER BY id`);
    expect(rows.map((row) => row['id'])).toEqual(['config', 'kwargs']);
  });

  it('reports errors: password, tables, data that never fits', async (context) => {
    if (!server) return context.skip();
    const attempt = async (opts: Record<string, Value>, ret = someReturn(nextJid(), 'x')) => {
      const session = await openForTest('mysql', { ...server!.options, ...opts });
      return session
        .save(ret)
        .then(
          () => undefined,
          (error: { code: string; message: string }) => [error.code, error.message] as const,
        )
        .finally(() => session.close?.());
    };
    expect(await attempt({ 'mysql.pass': 'wrong' })).toEqual([
      'store.unavailable',
      expect.stringContaining('Access denied'),
    ]);
    await server.sql('CREATE DATABASE IF NOT EXISTS empty', "GRANT ALL ON empty.* TO salt@'%'");
    expect(await attempt({ 'mysql.db': 'empty' })).toEqual([
      'store.unavailable',
      expect.stringContaining('finds no tables'),
    ]);
    expect(await attempt({}, someReturn(nextJid(), 'x'.repeat(300)))).toEqual([
      'call.failed',
      expect.stringContaining('cannot keep this'),
    ]);
  });

  it('uses TLS with a server that requires it', async (context) => {
    if (!server) return context.skip();
    await server.sql("GRANT ALL ON salt.* TO secure@'%' IDENTIFIED BY 'salt' REQUIRE SSL");
    const save = async (more: Record<string, Value>) => {
      const session = await openForTest('mysql', { ...server!.options, 'mysql.user': 'secure', ...more });
      await session.save(someReturn(nextJid(), 'tls')).finally(() => session.close?.());
    };
    await expect(save({})).rejects.toThrow('Access denied');
    await expect(save({ 'mysql.ssl_ca': certificate('minion') })).rejects.toThrow(/certificate/);
    await save({ 'mysql.ssl_ca': certificate('ca') });
  });

  it('cleans old jobs, into archive tables if configured', async (context) => {
    if (!server) return context.skip();
    const session = await openForTest('mysql', { ...server.options, archive_jobs: true });
    const [old, fresh] = ['20200101000000000001', nextJid()];
    for (const jid of [old, fresh]) {
      await session.jobCache!.saveLoad(jid, someLoad(jid), []);
      await session.save(someReturn(jid, 'cleaned'));
    }
    await server.sql(`UPDATE salt_returns SET alter_time = '2020-01-01 00:00:00' WHERE jid = '${old}'`);
    expect(await session.jobCache!.clean!(3600)).toBe(1);
    expect(await session.jobCache!.load(old)).toBeUndefined();
    expect((await session.jobCache!.returns(old)).size).toBe(0);
    expect((await session.jobCache!.returns(fresh)).size).toBe(1);
    expect(await server.sql('SELECT jid FROM salt_returns_archive')).toEqual([{ jid: old }]);
    await session.close?.();
  });
});

describe('PostgreSQL', () => {
  let server: PostgreSql | undefined;
  beforeAll(async () => {
    server = await startPostgreSql();
  });
  afterAll(() => server?.stop());
  const sql = () => server!.sql;
  /** Each returner has tables of its own shape: the schema is made anew. */
  const tables = (name: string) => async () => {
    await server?.sql('DROP SCHEMA public CASCADE', 'CREATE SCHEMA public AUTHORIZATION salt');
    await server?.sql('SET ROLE salt', fixture(name));
    return server !== undefined;
  };
  const target = (name: string, prefix: string, more: Partial<ReturnerUnderTest>): ReturnerUnderTest => ({
    name,
    options: () => server!.options(prefix),
    start: tables(name === 'pgsql' ? 'postgres' : name),
    events: eventsIn(sql),
    eventsOnce: true,
    ...more,
  });
  returnerSuite(target('postgres', 'returner.postgres', { stored: storedIn(sql, 'full_ret'), server: () => server! }));
  returnerSuite(target('pgsql', 'pgsql', {}));
  returnerSuite(target('pgjsonb', 'returner.pgjsonb', { stored: storedIn(sql, 'full_ret') }));
  returnerSuite(
    target('postgres_local_cache', 'master_job_cache.postgres', {
      stored: storedIn(sql, 'return'),
      loadFields: ['jid', 'tgt', 'tgt_type', 'fun', 'user', 'arg'],
    }),
  );

  it('uses TLS when configured', async (context) => {
    if (!server) return context.skip();
    await tables('postgres')();
    const session = async (more: Record<string, Value>) =>
      openForTest('pgsql', server!.options('pgsql'), { kwargs: dict(more) });
    const works = async (more: Record<string, Value>) => {
      const open = await session(more);
      return open.save(someReturn(nextJid(), 'tls')).finally(() => open.close?.());
    };
    await works({ sslmode: 'require' });
    await works({ sslmode: 'verify-ca', sslrootcert: certificate('ca') });
    await expect(works({ sslmode: 'verify-ca', sslrootcert: certificate('minion') })).rejects.toThrow(/certificate/);
    await works({ sslmode: 'verify-full', sslrootcert: certificate('ca'), host: 'localhost' });
  });

  it('keeps characters that JSONB refuses', async (context) => {
    if (!server) return context.skip();
    await tables('pgjsonb')();
    const session = await openForTest('pgjsonb', server.options('returner.pgjsonb'));
    const jid = nextJid();
    await session.save(someReturn(jid, 'nul', { return: 'a\0b \\u0000' }));
    expect((await session.jobCache!.returns(jid)).get('nul')?.['return']).toBe('a\ufffdb \\u0000');
    expect(await session.jobCache!.clean!(3600)).toBe(0);
    await session.close?.();
  });
});

describe('files', () => {
  const lines = (file: string) =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => loadJson(line) as PlainDict);
  const raw = join(folder, 'raw.json');

  returnerSuite({ name: 'sqlite3', options: () => ({ 'sqlite3.database': join(folder, 'salt.db') }) });
  returnerSuite({ name: 'local_cache', options: () => ({ cachedir: folder }) });
  returnerSuite({
    name: 'rawfile_json',
    options: () => ({ 'rawfile_json.filename': raw }),
    jobCache: false,
    appends: true,
    stored: async (jid) => lines(raw).filter((line) => line['jid'] === jid),
    events: async () => lines(raw).filter((line) => 'tag' in line) as unknown as StoredEvent[],
  });
  returnerSuite({
    name: 'multi_returner',
    options: () => ({
      multi_returner: ['sqlite3', 'local_cache', 'rawfile_json'],
      'sqlite3.database': join(folder, 'multi.db'),
      'rawfile_json.filename': join(folder, 'multi.json'),
      cachedir: join(folder, 'multi'),
    }),
    events: async () => lines(join(folder, 'multi.json')).filter((line) => 'tag' in line) as unknown as StoredEvent[],
  });

  it('are stored where Salt expects them', async () => {
    const cachedir = join(folder, 'layout');
    const session = await openForTest('local_cache', { cachedir, hash_type: 'sha256' });
    const jid = '20190724155612509222';
    await session.jobCache!.saveLoad(jid, someLoad(jid), ['web1']);
    await session.save(someReturn(jid, 'web1', { out: 'nested' }));
    const digest = createHash('sha256').update(jid).digest('hex');
    const real = join(cachedir, 'jobs', digest.slice(0, 2), digest.slice(2));
    expect(readdirSync(real).sort()).toEqual(['.load.p', '.minions.p', 'jid', 'web1']);
    expect(readdirSync(join(real, 'web1')).sort()).toEqual(['out.p', 'return.p']);
    expect(readFileSync(join(real, 'jid'), 'utf8')).toBe(jid);
    await expect(session.save(someReturn(jid, '../evil'))).rejects.toThrow('cannot keep a result');
    expect(await session.jobCache!.load(jid)).toMatchObject({ Minions: ['web1'] });
    expect(await session.jobCache!.clean!(3600)).toBe(0);
    expect(await session.jobCache!.clean!(-60)).toBe(1);
    expect(await session.jobCache!.load(jid)).toBeUndefined();
  });

  it('needs the file of a database to be named', async () => {
    await expect(openForTest('sqlite3', {})).rejects.toThrow('needs the option sqlite3.database');
  });
});
