// The returner elasticsearch: against an imitation that refuses requests nobody documented, or a real server by hand.
import { expect, it } from 'vitest';
import { newDict, type Value } from '../../src/base/codec/value.ts';
import { nextJid, openForTest, returnerSuite, someLoad, someReturn } from '../support/returner-suite.ts';
import { type ElasticLike, startElasticLike } from '../support/servers/elastic-like.ts';

/** `HALITE_TEST_ELASTICSEARCH=127.0.0.1:9200`: a real one instead of the imitation. */
const real = process.env['HALITE_TEST_ELASTICSEARCH'] || undefined;
let elastic: ElasticLike;
const address = () => real ?? `127.0.0.1:${elastic.port}`;

async function eventsOfServer(): Promise<Record<string, Value>[]> {
  if (!real) return elastic.documents('salt-master-event-cache') as Record<string, Value>[];
  const index = `http://${real}/salt-master-event-cache`;
  await fetch(`${index}/_refresh`, { method: 'POST' });
  const found = (await (await fetch(`${index}/_search?size=10000`)).json()) as {
    hits: { hits: { _source: Record<string, Value> }[] };
  };
  return found.hits.hits.map((hit) => hit._source);
}

returnerSuite({
  name: 'elasticsearch',
  // The first server cannot be reached.
  options: () => ({ elasticsearch: { hosts: ['127.0.0.1:1', address()] } }),
  start: async () => {
    if (!real) elastic = await startElasticLike();
    return true;
  },
  stop: async () => elastic?.stop(),
  events: async () =>
    (await eventsOfServer()).map(({ tag, data }) => ({
      tag: String(tag),
      data: newDict(Object.entries(data as Record<string, Value>)),
    })),
});

it('keeps what an index refuses, because its fields are of other types, as text', async () => {
  const server = await startElasticLike();
  const session = await openForTest('elasticsearch', { 'elasticsearch.host': real ?? server.url });
  const [jid, fun] = [nextJid(), `suite.mixed${nextJid()}`];
  const kinds: Value[] = [newDict([['a.b', 1]]), 'text', newDict([['c', [newDict([['d', 'x']])]]]), [1, 2]];
  for (const [i, value] of kinds.entries()) await session.save(someReturn(jid, `one${i}`, { fun, return: value }));
  await session.saveMany!(kinds.map((value, i) => someReturn(jid, `many${i}`, { fun, return: value })));
  const returns = await session.jobCache!.returns(jid);
  for (const [i, value] of kinds.entries()) {
    expect(returns.get(`one${i}`)?.['return']).toEqual(value);
    expect(returns.get(`many${i}`)?.['return']).toEqual(value);
  }
  const loads = [[newDict([['a', 1]])], ['text']].map((arg) => someLoad(nextJid(), { arg }));
  for (const load of loads) await session.jobCache!.saveLoad(String(load['jid']), load, ['one0']);
  for (const load of loads)
    expect(await session.jobCache!.load(String(load['jid']))).toMatchObject({ arg: load['arg'] });
  await server.stop();
});

it('needs no right to ask for the version', async () => {
  const server = await startElasticLike('');
  const session = await openForTest('elasticsearch', { 'elasticsearch.host': server.url });
  await session.save(someReturn(nextJid(), 'web1'));
  expect(server.documents('salt-test_ping')).toHaveLength(1);
  await server.stop();
});

it('old servers get types, and states what they were asked for', async () => {
  const server = await startElasticLike('6.8.0');
  const jid = nextJid();
  const rules = { states_count: true, states_order_output: true, states_single_index: true, number_of_shards: 5 };
  const session = await openForTest('elasticsearch', {
    elasticsearch: { host: server.url, ...rules, functions_blacklist: ['test.ping'], username: 'u', password: 'p' },
  });
  await session.save(someReturn(jid, 'web1'));
  expect(server.take()).toEqual([]);
  const uid = 'file_|-a.conf_|-/etc/a.conf_|-managed';
  const ret = someReturn(jid, 'web1', { fun: 'state.sls', return: { [uid]: { result: true, __run_num__: 0 } } });
  await session.save(ret);
  const requests = server.take();
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'HEAD /salt-state_apply-ordered',
    'PUT /salt-state_apply-ordered-v1',
    'PUT /salt-state_apply-ordered-v1/_alias/salt-state_apply-ordered',
    'GET /',
    `PUT /salt-state_apply-ordered/default/${jid}-web1`,
  ]);
  expect(requests[0]!.headers['authorization']).toBe('Basic dTpw');
  expect(JSON.parse(requests[1]!.body)).toEqual({ settings: { number_of_shards: 5, number_of_replicas: 0 } });
  expect(server.documents('salt-state_apply-ordered')).toEqual([
    {
      '@timestamp': expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/),
      ...{ success: true, retcode: 0, minion: 'web1', fun: 'state.sls', jid, counts: { succeeded: 1, failed: 0 } },
      data: {
        _orig_key: `0_|-${uid}`,
        [`0_|-${uid}`.replaceAll('.', '_')]: { result: true, __run_num__: 0, _func: 'file.managed' },
      },
    },
  ]);
  await session.save(someReturn(jid, 'web2', { fun: 'state.sls', return: ['no such file'], retcode: 1 }));
  expect(server.documents('salt-state_apply')).toMatchObject([
    { counts: { succeeded: 0, failed: 1 }, data: { return: ['no such file'] }, success: false },
  ]);
  await session.jobCache!.saveLoad(jid, someLoad(jid), ['web1']);
  expect(server.documents('salt-master-job-cache')).toEqual([{ jid, load: { ...someLoad(jid), kwargs: {} } }]);
  await server.stop();
});
