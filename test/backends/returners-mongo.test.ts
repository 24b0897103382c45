// The returners mongo and mongo_return: against the part of the protocol that is used, or against a real server by hand.
import type { Db } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { dictOf, newDict, type PlainDict, PyFloat, type Value } from '../../src/base/codec/value.ts';
import { nextJid, openForTest, returnerSuite, someLoad, someReturn } from '../support/returner-suite.ts';
import { type MongoLike, startMongoLike } from '../support/servers/mongo-like.ts';

/** `HALITE_TEST_MONGODB=127.0.0.1:27017`: a real one instead of the imitation. */
const real = process.env['HALITE_TEST_MONGODB'] || undefined;
const db = `halite_suite_${process.pid}_${Date.now()}`;
let imitation: MongoLike | undefined;

async function inServer<T>(work: (db: Db) => Promise<T>): Promise<T> {
  const { MongoClient } = await import('mongodb');
  const client = new MongoClient(`mongodb://${real ?? `127.0.0.1:${imitation!.port}`}/`);
  return work(client.db(db)).finally(() => client.close());
}

returnerSuite({
  name: 'mongo',
  options: () => {
    const [host = '', port = ''] = real?.split(':') ?? ['127.0.0.1', String(imitation?.port)];
    return { mongo: { host, port: Number(port), db, indexes: true } };
  },
  start: async () => {
    if (!real) imitation = await startMongoLike();
    return true;
  },
  stop: async () => {
    if (real) await inServer((at) => at.dropDatabase());
    await imitation?.stop();
  },
  renamed: (key) => key.replaceAll('.', '-'),
  stored: (jid) =>
    inServer(async (at) => (await at.collection('saltReturns').find({ jid }).toArray()) as unknown as PlainDict[]),
  events: () =>
    inServer(async (at) => {
      const found = await at.collection('events').find({}).toArray();
      return found.map(({ tag, data }) => ({ tag: String(tag), data: data as PlainDict }));
    }),
});

it('numbers of mongo keep their type', async () => {
  const server = await startMongoLike();
  const [host = '', port = ''] = real?.split(':') ?? ['127.0.0.1', String(server.port)];
  const session = await openForTest('mongo', { mongo: { host, port: Number(port), db } });
  const jid = nextJid();
  const values: Value[] = [
    1,
    new PyFloat(1),
    1.5,
    2 ** 40,
    2n ** 62n,
    -(2 ** 31),
    new PyFloat(2 ** 40),
    new Uint8Array([0, 255]),
  ];
  await session.save(someReturn(jid, 'web1', { return: values }));
  expect((await session.jobCache!.returns(jid)).get('web1')?.['return']).toEqual(values);
  await session.close!();
  await server.stop();
});

describe('documents of mongo', () => {
  it("writes and reads Salt's collections", async () => {
    const server = await startMongoLike();
    const opts = { mongo: { host: '127.0.0.1', port: server.port, db: 'salt', indexes: true } };
    const session = await openForTest('mongo', opts);
    const [jid, later] = [nextJid(), nextJid()];
    const ret = someReturn(jid, 'web1', { return: { 'a.b': { 'c.d': 1 }, list: [{ 'e.f': 2 }] } });
    await session.save(ret);
    await session.saveMany!([ret, someReturn(jid, 'web2'), someReturn(later, 'web1', { return: 'new', out: 'txt' })]);
    expect(server.collection('saltReturns').map(({ _id, ...item }) => item)).toEqual([
      {
        ...{ minion: 'web1', jid, fun: 'test.ping', return: { 'a-b': { 'c-d': 1 }, list: [{ 'e.f': 2 }] } },
        full_ret: expect.objectContaining({ id: 'web1', jid, return: { 'a-b': { 'c-d': 1 }, list: [{ 'e.f': 2 }] } }),
      },
      expect.objectContaining({ minion: 'web2', jid }),
      expect.objectContaining({ minion: 'web1', jid: later, out: 'txt' }),
    ]);
    const cache = session.jobCache!;
    const load = someLoad(jid, { arg: [newDict([['50%.$x', 'v']])], kwargs: newDict() });
    await cache.saveLoad(jid, load, ['web1']);
    await cache.saveLoad(jid, load, ['web1']);
    expect(server.collection('jobs')).toMatchObject([{ jid, arg: [{ '50%25%2e%24x': 'v' }] }]);
    expect(await cache.load(jid)).toEqual(load);
    expect(await cache.load('20010101000000000000')).toBeUndefined();
    expect([...(await cache.jids()).keys()]).toEqual([jid]);
    expect([...(await cache.returns(jid)).keys()]).toEqual(['web1', 'web2']);
    expect((await cache.lastOf('test.ping')).get('web1')).toMatchObject({ return: 'new' });
    expect(await cache.minions()).toEqual(['web1', 'web2']);
    const event = { tag: 'salt/x', data: newDict([['map', dictOf([[1, 'one']])]]) };
    await session.saveEvents!([event, { ...event, tag: 'salt/y' }]);
    await session.saveEvents!([event]);
    expect(server.collection('events')).toMatchObject([
      { tag: 'salt/x', data: { map: { 1: 'one' } } },
      { tag: 'salt/y' },
    ]);
    expect(server.commands.filter((name) => name === 'createIndexes')).toHaveLength(4);
    await session.close!();
    await server.stop();
  });

  it('accepts a URI, and reports errors without showing it', async () => {
    const server = await startMongoLike();
    const session = await openForTest('mongo', { 'mongo.uri': `mongodb://127.0.0.1:${server.port}/other` });
    await session.save(someReturn(nextJid(), 'web1'));
    await session.close!();
    const old = await openForTest('mongo_return', { 'mongo.host': '127.0.0.1', 'mongo.port': server.port });
    expect(old.saveEvents).toBeUndefined();
    await old.save(someReturn(nextJid(), 'web2'));
    await old.close!();
    expect(server.collection('saltReturns')).toHaveLength(2);
    await server.stop();
    const both = openForTest('mongo', { mongo: { uri: 'mongodb://u:geheim@h/x', host: 'h' } });
    await expect(both).rejects.toThrow('mongo.uri or mongo.host, not both');
    const wrong = openForTest('mongo', { 'mongo.uri': 'mango://u:geheim@h/x' });
    await expect(wrong).rejects.toThrow(/^mongo\.uri is not an address of MongoDB$/);
  });
});
