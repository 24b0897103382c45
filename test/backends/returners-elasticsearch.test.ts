// The returner elasticsearch against a server that knows the requests Elasticsearch documents, and refuses all others.
import { expect, it } from 'vitest';
import { newDict } from '../../src/base/codec/value.ts';
import { nextJid, openForTest, returnerSuite, someLoad, someReturn } from '../support/returner-suite.ts';
import { type ElasticLike, startElasticLike } from '../support/servers/elastic-like.ts';

let elastic: ElasticLike;
returnerSuite({
  name: 'elasticsearch',
  // The first server cannot be reached.
  options: () => ({ elasticsearch: { hosts: ['127.0.0.1:1', `127.0.0.1:${elastic.port}`] } }),
  start: async () => {
    elastic = await startElasticLike();
    return true;
  },
  stop: async () => elastic.stop(),
  events: async () =>
    elastic.documents('salt-master-event-cache').map(({ tag, data }) => ({
      tag: String(tag),
      data: newDict(Object.entries(data as Record<string, string>)),
    })),
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
  await session.jobCache!.saveLoad(jid, someLoad(jid), ['web1']);
  expect(server.documents('salt-master-job-cache')).toEqual([{ jid, load: { ...someLoad(jid), kwargs: {} } }]);
  await server.stop();
});
