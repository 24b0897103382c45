// Login tokens in a real Redis: shared by several masters, gone at their end, and refused but not lost while it is away.
import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { TokenRedis, type TokenRedisParts } from '../../src/store/tokens/redis.ts';
import { digestOf } from '../../src/store/tokens/tokens.ts';
import { ApiFleet } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { type RedisServer, startRedis } from '../support/servers/redis.ts';
import { freePort } from '../support/servers/server.ts';

const opened: { close(): void }[] = [];
const servers: RedisServer[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) each.close();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function serverWith(options: Parameters<typeof startRedis>[0] = {}): Promise<RedisServer | undefined> {
  const server = await startRedis(options);
  if (server) servers.push(server);
  return server;
}

function open(port: number, more: Partial<TokenRedisParts> = {}): TokenRedis {
  const plain = { username: undefined, password: undefined, cluster: false, hashType: 'sha256' };
  const tokens = new TokenRedis({ host: '127.0.0.1', port, ...plain, ...more });
  opened.push(tokens);
  return tokens;
}

const nowSeconds = (): number => Date.now() / 1000;
const data = (seconds: number) => ({
  ...{ name: 'fred', eauth: 'pam', start: nowSeconds(), expire: nowSeconds() + seconds },
  ...{ groups: ['ops'], rules: ['test.*'] },
});

describe.each([
  ['one server', {}],
  ['a cluster', { cluster: true }],
])('tokens in %s', (_, options) => {
  it('are seen by every master, and deleted for all', async (context) => {
    const server = await serverWith(options);
    if (!server) return context.skip();
    const [one, two] = [open(server.port, options), open(server.port, options)];
    const made = await one.create(data(60));
    expect(await two.get(made.token)).toEqual(made);
    const [listed] = await two.list();
    expect(listed).toMatchObject({ name: 'fred', token: digestOf(made.token) });
    expect(await one.get(listed!.token), 'a digest is no token').toBeUndefined();
    const other = await one.create(data(60));
    expect(await two.delete(made.token)).toBe(true);
    expect(await two.delete(made.token)).toBe(false);
    expect(await one.get(made.token)).toBeUndefined();
    expect(await one.delete(digestOf(other.token)), 'by the name in the list').toBe(true);
    expect(await one.list()).toEqual([]);
  });

  it('are not readable there, and end by themselves', async (context) => {
    const server = await serverWith(options);
    if (!server) return context.skip();
    const tokens = open(server.port, options);
    const { token } = await tokens.create(data(3600));
    const short = await tokens.create(data(0.05));
    await server.ask(async (client) => {
      for (const key of await client.keys('*')) expect(key).not.toContain(token);
      const value = await client.getBuffer(`{halite}:token:${digestOf(token)}`);
      expect(value?.includes(token)).toBe(false);
      const left = await client.pttl(`{halite}:token:${digestOf(token)}`);
      expect(left).toBeGreaterThan(3_000_000);
      expect(left).toBeLessThanOrEqual(3_601_000);
      await eventually('the end of the short one', async () => (await client.dbsize()) === 2);
      expect(await client.zcard('{halite}:tokens')).toBe(2);
      await tokens.sweep();
      expect(await client.zcard('{halite}:tokens')).toBe(1);
    });
    expect(await tokens.get(short.token)).toBeUndefined();
    expect(await tokens.list()).toHaveLength(1);
  });
});

describe('a hostile or absent Redis', () => {
  it('values that others have written open nothing', async (context) => {
    const server = await serverWith();
    if (!server) return context.skip();
    const tokens = open(server.port);
    const [one, two] = [await tokens.create(data(60)), await tokens.create({ ...data(60), name: 'ann' })];
    const key = (token: string): string => `{halite}:token:${digestOf(token)}`;
    await server.ask(async (client) => {
      // The value of another token, and what is none.
      await client.copy(key(two.token), key(one.token), 'REPLACE');
      expect(await tokens.get(one.token)).toBeUndefined();
      await client.set(key(one.token), 'nonsense');
      expect(await tokens.get(one.token)).toBeUndefined();
      await client.rpush(key(one.token), 'a list');
      await expect(tokens.get(one.token)).rejects.toMatchObject({ code: 'store.unavailable' });
    });
    expect(await tokens.get(two.token)).toMatchObject({ name: 'ann' });
  });

  it('a password: the right one works, a wrong one is said and not shown', async (context) => {
    const server = await serverWith({ password: 'geheim' });
    if (!server) return context.skip();
    const made = await open(server.port, { password: 'geheim' }).create(data(60));
    expect(made.token).toHaveLength(64);
    const wrong = await open(server.port, { password: 'falsch' })
      .get(made.token)
      .then(String, (error: Error) => error.message);
    expect(wrong).toMatch(/redis at 127\.0\.0\.1:\d+: .*(WRONGPASS|NOAUTH)/);
    expect(wrong).not.toContain('falsch');
  });

  it.each([{}, { cluster: true }])('nobody listens there: refused at once (%j)', async (options) => {
    const tokens = open(await freePort(), options);
    for (const call of [
      () => tokens.get('ab'.repeat(32)),
      () => tokens.create(data(60)),
      () => tokens.list(),
      () => tokens.sweep(),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'store.unavailable' });
  });
});

it('a master: tokens are refused without being lost while Redis is away, and survive a killed master', async (context) => {
  const server = await serverWith({ password: 'geheim' });
  if (!server) return context.skip();
  const api = await ApiFleet.start([], (fleet) => {
    const lines = ['eauth_tokens: redis', 'eauth_redis_host: 127.0.0.1', `eauth_redis_port: ${server.port}`];
    writeFileSync(fleet.path('etc/master.d/tokens.conf'), `${lines.join('\n')}\neauth_redis_password: geheim\n`);
  });
  try {
    const token = await api.login('fred');
    const ask = () => api.ask('GET', '/stats', { token });
    expect((await ask()).status).toBe(200);
    const reader = api.events(token);
    await eventually('the stream', () => reader.status === 200);
    await server.pause();
    const away = await ask();
    expect(away.status).toBe(503);
    expect(away.text).not.toMatch(/127\.0\.0\.1|redis/i);
    expect((await api.ask('GET', '/halite/v1/session', { token })).status).toBe(503);
    const json = { username: 'fred', password: 'of all', eauth: 'sharedsecret' };
    expect((await api.ask('POST', '/login', { json })).status).toBe(503);
    await server.start();
    await eventually('the token', async () => (await ask()).status === 200);
    await api.fleet.master.stop('SIGKILL');
    await api.fleet.startMaster();
    await api.fleet.answering('m1');
    await eventually('the token', async () => (await ask()).status === 200);
    // The reader has outlived both.
    const ping = await api.run(token, { client: 'local', tgt: 'm1', fun: 'test.ping' });
    expect(ping.json).toEqual({ return: [{ m1: true }] });
    await eventually('the event', () => reader.records.some(({ tag }) => /\/ret\/m1$/.test(tag)));
    reader.close();
    expect((await api.ask('POST', '/logout', { token, json: {} })).status).toBe(200);
    expect((await ask()).status).toBe(401);
  } finally {
    await api.fleet.destroy();
  }
});
