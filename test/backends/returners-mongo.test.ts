// The returners mongo, mongo_return and kafka: no such servers here, so against the parts of their protocols that are used.
import { describe, expect, it } from 'vitest';
import { dictOf, newDict } from '../../src/base/codec/value.ts';
import { nextJid, openForTest, someLoad, someReturn } from '../support/returner-suite.ts';
import { startKafkaLike } from '../support/servers/kafka-like.ts';
import { startMongoLike } from '../support/servers/mongo-like.ts';

describe('returner mongo', () => {
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

  it('takes an address, and says what is wrong without showing it', async () => {
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
    await expect(wrong).rejects.toThrow(/^mongo\.uri is no address of MongoDB$/);
  });
});

describe('returner kafka', () => {
  it('sends messages', async () => {
    const server = await startKafkaLike();
    const opts = { 'returner.kafka.bootstrap': [`127.0.0.1:${server.port}`], 'returner.kafka.topic': 'salt' };
    const session = await openForTest('kafka', opts);
    const jid = nextJid();
    await session.save(someReturn(jid, 'web1', { return: 'ü' }));
    await session.saveEvents!([{ tag: 'salt/x', data: { n: 1 } }]);
    const [message, event] = server.messages;
    expect(message).toMatchObject({ topic: 'salt', key: expect.stringMatching(/^\{'cmd': '_return', 'id': 'web1'/) });
    expect(JSON.parse(message!.value)).toEqual({ ...someReturn(jid, 'web1', { return: 'ü' }) });
    expect(JSON.parse(event!.value)).toEqual({ tag: 'salt/x', data: { n: 1 } });
    await session.close!();
    await server.stop();
  });

  it('says when nobody is there', async () => {
    const opts = { 'returner.kafka.bootstrap': ['127.0.0.1:1'], 'returner.kafka.topic': 'salt' };
    await expect(openForTest('kafka', opts)).rejects.toThrow('kafka at 127.0.0.1:1: ');
    await expect(openForTest('kafka', { 'returner.kafka.topic': 'salt' })).rejects.toThrow('returner.kafka.bootstrap');
  });
});
