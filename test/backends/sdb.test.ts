// Secret stores: drivers against real servers where available, and references in configuration files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { dictOf, newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { createContext, execProgram } from '../../src/engine/exec/index.ts';
import { resolveLinks } from '../../src/engine/exec/sdb-links.ts';
import { Loader } from '../../src/extend/loader/index.ts';
import type { MinionServices, ModuleContext } from '../../src/extend/sdk/index.ts';
import { startEtcd } from '../support/servers/etcd.ts';
import { startMemcached } from '../support/servers/memcached.ts';
import { startRecorder } from '../support/servers/recorder.ts';
import { startRedis } from '../support/servers/redis.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-sdb-'));
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true, force: true });
});
const kept = <S extends { stop(): Promise<unknown> } | undefined>(server: S): S => {
  if (server) stops.push(() => server.stop());
  return server;
};

const logged: string[] = [];
const note = (text: string): void => void logged.push(text);
const log = { debug: note, info: note, warn: note, error: note };

function contextOf(opts: PlainDict, pillar: PlainDict = newDict()): ModuleContext {
  const all = newDict([['cachedir', folder], ...Object.entries(opts)]);
  const loader = new Loader({ opts: () => all, grains: () => newDict(), log, userCode: 'names' });
  return createContext(
    {
      ...{ id: 'm1', loader, log, minion: { hasMaster: false } as unknown as MinionServices },
      ...{ opts: () => all, grains: () => newDict(), pillar: () => pillar },
      exec: (file, args, options, signal) => execProgram(file, args, options, signal),
      match: async () => false,
    },
    { signal: new AbortController().signal, progress: () => undefined, retcode: 0 },
  );
}

const profile = (entries: Record<string, Value>): PlainDict => newDict(Object.entries(entries));
const storeOf = (entries: Record<string, Value>): ModuleContext => contextOf(newDict([['store', profile(entries)]]));

/** Sets, reads, and reads what is not there. */
async function roundTrip(ctx: ModuleContext): Promise<void> {
  expect(await ctx.call('sdb.get', 'sdb://store/none')).toBeNull();
  expect(await ctx.call('sdb.set', 'sdb://store/some/key', 'a välue')).toBeTruthy();
  expect(await ctx.call('sdb.get', 'sdb://store/some/key')).toBe('a välue');
  const made = await ctx.call('sdb.get_or_set_hash', 'sdb://store/hash', 20, 'ab');
  expect(made).toMatch(/^[ab]{20}$/);
  expect(await ctx.call('sdb.get_or_set_hash', 'sdb://store/hash')).toBe(made);
}

describe('addresses', () => {
  it('are returned unchanged unless they refer to a profile, of the options or of the pillar', async () => {
    process.env['HALITE_SDB_TEST'] = 'from the environment';
    const ctx = contextOf(newDict([['plain', 'x']]), newDict([['osenv', profile({ driver: 'env' })]]));
    expect(await ctx.call('sdb.get', 'sdb://osenv/HALITE_SDB_TEST')).toBe('from the environment');
    for (const uri of ['text', 'sdb://none/x', 'sdb://osenv', 'sdb://osenv/', 'sdb://plain/x']) {
      expect(await ctx.call('sdb.get', uri)).toBe(uri);
      expect(await ctx.call('sdb.set', uri, 'x')).toBe(false);
      expect(await ctx.call('sdb.delete', uri)).toBe(false);
    }
    await expect(ctx.call('sdb.get', 'sdb://none/x', true)).rejects.toThrow('SDB profile "none" wasnt found');
    await expect(ctx.call('sdb.get', 'text', true)).rejects.toThrow('SDB uri must start with "sdb://"');
    await expect(ctx.call('sdb.delete', 'sdb://osenv/x')).rejects.toThrow("'env.delete' is not available");
    await expect(storeOf({ driver: 'keyring' }).call('sdb.get', 'sdb://store/x')).rejects.toThrow("'keyring.get'");
  });
  it('are resolved by config.get', async () => {
    const ctx = contextOf(
      newDict([
        ['osenv', profile({ driver: 'env' })],
        ['secret', 'sdb://osenv/HALITE_SDB_TEST'],
      ]),
    );
    expect(await ctx.call('config.get', 'secret')).toBe('from the environment');
  });
});

describe('files', () => {
  it('yaml: joined files and paths with colons', async () => {
    writeFileSync(join(folder, 'a.yaml'), 'db: {user: u, pass: old}\nlist: [1]\n');
    writeFileSync(join(folder, 'b.yaml'), 'db: {pass: new}\n');
    const ctx = storeOf({ driver: 'yaml', files: ['a.yaml', 'b.yaml', 'none.yaml'].map((name) => join(folder, name)) });
    expect(await ctx.call('sdb.get', 'sdb://store/db:pass')).toBe('new');
    expect(await ctx.call('sdb.get', 'sdb://store/db:user')).toBe('u');
    expect(await ctx.call('sdb.get', 'sdb://store/db:none')).toBeNull();
    expect(logged.join('\n')).toContain('none.yaml');
    await expect(ctx.call('sdb.set', 'sdb://store/x', 1)).rejects.toThrow('edit the files');
  });
  it('sqlite3: its own table, or statements of the profile', async () => {
    await roundTrip(storeOf({ driver: 'sqlite3', database: join(folder, 's.db') }));
    const own = storeOf({
      ...{ driver: 'sqlite3', database: join(folder, 'own.db') },
      create_statements: ['CREATE TABLE advanced (a text PRIMARY KEY, d blob)'],
      get_query: 'SELECT d FROM advanced WHERE a=:key',
      set_query: 'INSERT OR REPLACE INTO advanced (a, d) VALUES (:key, :value)',
    });
    await own.call('sdb.set', 'sdb://store/k', dictOf([['n', [1, 2]]]));
    expect(await own.call('sdb.get', 'sdb://store/k')).toEqual({ n: [1, 2] });
  });
  it('cache: banks of the cache folder, and nothing outside it', async () => {
    const ctx = storeOf({ driver: 'cache', bank: 'cloud/active' });
    expect(await ctx.call('sdb.get', 'sdb://store/none')).toEqual({});
    expect(await ctx.call('sdb.set', 'sdb://store/ip?bank=other', ['10.0.0.1'])).toEqual(['10.0.0.1']);
    expect(await ctx.call('sdb.get', 'sdb://store/ip?bank=other')).toEqual(['10.0.0.1']);
    expect(await ctx.call('sdb.delete', 'sdb://store/ip?bank=other')).toBe(true);
    expect(await ctx.call('sdb.get', 'sdb://store/ip?bank=other')).toEqual({});
    await expect(ctx.call('sdb.get', 'sdb://store/../../../etc/passwd')).rejects.toThrow('not acceptable');
  });
});

describe('servers', () => {
  it('redis', async (context) => {
    const server = kept(await startRedis({ password: 'pw' }));
    if (!server) return context.skip();
    const ctx = storeOf({ driver: 'redis', host: '127.0.0.1', port: server.port, password: 'pw', db: 1 });
    await roundTrip(ctx);
    expect(await ctx.call('sdb.delete', 'sdb://store/hash')).toBe(1);
    expect(await ctx.call('sdb.get', 'sdb://store/hash')).toBeNull();
  });
  it('memcached', async (context) => {
    const server = kept(await startMemcached());
    if (!server) return context.skip();
    await roundTrip(storeOf({ driver: 'memcached', 'memcached.host': '127.0.0.1', 'memcached.port': server.port }));
  });
  it.each([true, false])('etcd, version 2: %s', async (v2) => {
    const server = kept(await startEtcd({ v2: true }));
    if (!server) return;
    const ctx = storeOf({ driver: 'etcd', 'etcd.host': '127.0.0.1', 'etcd.port': server.port, 'etcd.require_v2': v2 });
    await roundTrip(ctx);
    expect(await ctx.call('sdb.delete', 'sdb://store/hash')).toBe(true);
    expect(await ctx.call('sdb.get', 'sdb://store/hash')).toBeNull();
  });
  it('consul, as its interface is documented', async () => {
    const consul = kept(await startRecorder());
    const keys = new Map<string, string>();
    consul.answer(({ method, path, headers, body }) => {
      if (headers['x-consul-token'] !== 'tok') return [403, 'Permission denied'];
      const url = new URL(path, consul.url);
      if (url.searchParams.get('dc') !== 'dev') return [500, 'No path to datacenter'];
      if (method === 'PUT') return keys.set(url.pathname, body) && [200, 'true'];
      const value = keys.get(url.pathname);
      return value === undefined ? [404] : [200, JSON.stringify([{ Value: Buffer.from(value).toString('base64') }])];
    });
    const options = { driver: 'consul', host: '127.0.0.1', port: consul.port, token: 'tok', dc: 'dev' };
    await roundTrip(storeOf(options));
    expect(consul.requests.map(({ path }) => path)).toContain('/v1/kv/some/key?dc=dev');
    const refused = storeOf({ ...options, token: 'wrong-token' }).call('sdb.get', 'sdb://store/x');
    await expect(refused).rejects.toThrow(/answered 403(?!.*wrong-token)/);
  });
  it('rest: a template for the address, the answer decoded', async () => {
    const server = kept(await startRecorder());
    server.answer(({ path }) => [200, JSON.stringify({ path })]);
    const ctx = storeOf({ driver: 'rest', keys: profile({ url: `${server.url}/users/{{user}}/keys` }) });
    expect(await ctx.call('sdb.get', 'sdb://store/keys?user=ann')).toEqual({ path: '/users/ann/keys' });
    await expect(ctx.call('sdb.get', 'sdb://store/none?x=1')).rejects.toThrow('no item "none"');
  });
});

describe('configuration', () => {
  it('has its references resolved, also nested ones', async () => {
    process.env['HALITE_SDB_TEST'] = 'deep';
    const opts = newDict([
      ['osenv', profile({ driver: 'env' })],
      ['vault', newDict([['auth', newDict([['token', 'sdb://osenv/HALITE_SDB_TEST']])]])],
      ['list', ['a', 'sdb://osenv/HALITE_SDB_TEST', 'sdb://none/x']],
    ]);
    expect(await resolveLinks(opts, ['vault', 'list', 'default'], opts, log)).toEqual({
      vault: { auth: { token: 'deep' } },
      list: ['a', 'deep', 'sdb://none/x'],
    });
    const broken = newDict([
      ['s', profile({ driver: 'sqlite3' })],
      ['x', 'sdb://s/k'],
    ]);
    await expect(resolveLinks(broken, ['x'], broken, log)).rejects.toThrow(/The option x .*lacks "database"/);
  });
});
