// The returners etcd and influxdb against real servers.
import { afterAll, describe, expect, it } from 'vitest';
import { loadJson } from '../../src/base/codec/json/index.ts';
import { dictGet, isDict } from '../../src/base/codec/value.ts';
import { plainDict } from '../../src/ext/returners/shared/loads.ts';
import { etcdV3 } from '../../src/ext/shared/etcd/store.ts';
import { nextJid, openForTest, returnerSuite, someReturn } from '../support/returner-suite.ts';
import { startEtcd } from '../support/servers/etcd.ts';
import { startInfluxDb } from '../support/servers/influxdb.ts';
import type { RunningServer } from '../support/servers/server.ts';

let etcd: RunningServer | undefined;
const rawStore = (encodeValues: boolean) => {
  const signal = new AbortController().signal;
  return etcdV3({
    host: '127.0.0.1',
    port: etcd!.port,
    username: null,
    password: null,
    tls: undefined,
    encodeValues,
    signal,
  });
};
returnerSuite({
  name: 'etcd',
  options: () => ({ 'etcd.host': '127.0.0.1', 'etcd.port': etcd!.port }),
  start: async () => {
    etcd = await startEtcd({ v2: true });
    return etcd !== undefined;
  },
  server: () => etcd!,
  async events() {
    const found = [...(await rawStore(true).list('/salt/return/events/')).values()];
    return found.map((text) => {
      const event = loadJson(text);
      if (!isDict(event)) throw new Error(`no event: ${text}`);
      return { tag: String(dictGet(event, 'tag')), data: plainDict(dictGet(event, 'data'))! };
    });
  },
});

// The suite leaves its server running for what follows.
afterAll(async () => etcd?.stop());

describe('etcd', () => {
  it("has Salt's keys, in a named set of options", async (context) => {
    if (!etcd) return context.skip();
    const jid = nextJid();
    const session = await openForTest('etcd', {
      'etcd.returner': 'my_etcd',
      'etcd.returner_root': '/other/root',
      my_etcd: { 'etcd.host': '127.0.0.1', 'etcd.port': etcd.port, 'etcd.encode_values': false, 'etcd.ttl': 600 },
    });
    await session.save(someReturn(jid, 'web1', { return: 'ü' }));
    const found = await rawStore(false).list('/other/root/');
    expect(found.get('/other/root/minions/web1')).toBe(jid);
    expect(found.get(`/other/root/jobs/${jid}/web1/return`)).toBe('"ü"');
    expect(found.get(`/other/root/jobs/${jid}/web1/fun_args`)).toBe('[]');
  });

  it('is written through the old interface when that is asked for', async (context) => {
    if (!etcd) return context.skip();
    const jid = nextJid();
    const opts = { 'etcd.host': '127.0.0.1', 'etcd.port': etcd.port, 'etcd.require_v2': true, 'etcd.ttl': 600 };
    const session = await openForTest('etcd', opts);
    await session.save(someReturn(jid, 'web1', { return: ['a & b', 'ü'] }));
    expect((await session.jobCache!.returns(jid)).get('web1')).toMatchObject({
      return: ['a & b', 'ü'],
      fun: 'test.ping',
    });
    expect((await session.jobCache!.lastOf('test.ping')).get('web1')).toMatchObject({ jid });
    expect(await session.jobCache!.load(jid)).toBeUndefined();
    const answer = await fetch(`http://127.0.0.1:${etcd.port}/v2/keys/salt/return/minions/web1`);
    expect(await answer.json()).toMatchObject({ node: { value: jid, ttl: expect.any(Number) } });
  });
});

let influx: RunningServer | undefined;
returnerSuite({
  name: 'influxdb',
  options: () => ({ 'influxdb.host': '127.0.0.1', 'influxdb.port': influx!.port }),
  start: async () => {
    influx = await startInfluxDb();
    return influx !== undefined;
  },
  stop: async () => influx?.stop(),
  server: () => influx!,
});
