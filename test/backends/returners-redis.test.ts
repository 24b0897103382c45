// The returners redis and memcache against real servers.
import { afterEach, describe, expect, it } from 'vitest';
import { nextJid, openForTest, returnerSuite, someLoad, someReturn } from '../support/returner-suite.ts';
import { startMemcached } from '../support/servers/memcached.ts';
import { type RedisServer, startRedis, startSentinel } from '../support/servers/redis.ts';
import type { RunningServer } from '../support/servers/server.ts';

let redis: RedisServer | undefined;
const redisOptions = () => ({ 'redis.host': '127.0.0.1', 'redis.port': redis!.port, keep_jobs_seconds: 5000 });
returnerSuite({
  name: 'redis',
  options: redisOptions,
  start: async () => {
    redis = await startRedis();
    return redis !== undefined;
  },
  stop: async () => redis?.stop(),
  server: () => redis!,
});

let cluster: RedisServer | undefined;
returnerSuite({
  name: 'redis_return',
  options: () => ({
    redis: { cluster_mode: true, 'cluster.startup_nodes': [{ host: '127.0.0.1', port: cluster!.port }] },
  }),
  start: async () => {
    cluster = await startRedis({ cluster: true });
    return cluster !== undefined;
  },
  stop: async () => cluster?.stop(),
});

let memcached: RunningServer | undefined;
returnerSuite({
  name: 'memcache',
  options: () => ({ 'memcache.host': '127.0.0.1', 'memcache.port': memcached!.port }),
  start: async () => {
    memcached = await startMemcached();
    return memcached !== undefined;
  },
  stop: async () => memcached?.stop(),
  server: () => memcached!,
});

/** Servers of single tests, stopped whatever becomes of those. */
const single: RunningServer[] = [];
const kept = <S extends RunningServer>(server: S | undefined): S | undefined => {
  if (server) single.push(server);
  return server;
};
afterEach(async () => {
  await Promise.all(single.splice(0).map((server) => server.stop()));
});

describe('keys in redis', () => {
  it('are those of Salt, and expire', async (context) => {
    const server = kept(await startRedis());
    if (!server) return context.skip();
    const opts = { 'redis.host': '127.0.0.1', 'redis.port': server.port, keep_jobs: 2 };
    const session = await openForTest('redis', opts);
    const jid = nextJid();
    await session.save(someReturn(jid, 'web1'));
    await session.jobCache!.saveLoad(jid, someLoad(jid), ['web1']);
    await server.ask(async (client) => {
      expect((await client.keys('*')).sort()).toEqual([`load:${jid}`, 'minions', `ret:${jid}`, 'web1:test.ping']);
      expect(JSON.parse((await client.hget(`ret:${jid}`, 'web1'))!)).toMatchObject({ id: 'web1', return: true });
      expect(await client.get('web1:test.ping')).toBe(jid);
      for (const key of [`load:${jid}`, `ret:${jid}`, 'web1:test.ping'])
        expect(await client.ttl(key)).toBeGreaterThan(7000);
      expect(await client.ttl('minions')).toBe(-1);
      await client.hset('ret:20010101000000000000', 'web1', '{}');
    });
    expect(await session.jobCache!.clean!(7200)).toBe(1);
    await session.close!();
  });
});

it('a wrong password is reported, and not shown', async (context) => {
  const server = kept(await startRedis({ password: 'geheim' }));
  if (!server) return context.skip();
  const opts = { 'redis.host': '127.0.0.1', 'redis.port': server.port, 'redis.password': 'falsch' };
  const wrong = openForTest('redis', opts).then((session) => session.save(someReturn(nextJid(), 'web1')));
  const text = await wrong.then(String, (error: Error) => error.message);
  expect(text).toMatch(/redis at 127\.0\.0\.1:\d+ .*(WRONGPASS|NOAUTH)/);
  expect(text).not.toContain('falsch');
});

it('sentinels give the address of the server', async (context) => {
  const server = kept(await startRedis());
  const sentinel = server && kept(await startSentinel(server.port));
  if (!server || !sentinel) return context.skip();
  const session = await openForTest('redis', { redis: { sentinels: [`127.0.0.1:${sentinel.port}`] } });
  const jid = nextJid();
  await session.save(someReturn(jid, 'web1'));
  await session.close!();
  expect(await server.ask((client) => client.hkeys(`ret:${jid}`))).toEqual(['web1']);
  const unknown = openForTest('redis', {
    redis: { sentinels: [`127.0.0.1:${sentinel.port}`], sentinel_name: 'other' },
  });
  await expect(unknown).rejects.toThrow('redis at other of 1 sentinels cannot be reached');
});
