// Our own API with a real master and minions: every route, what each user sees and may do, and what is refused.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFleet } from '../support/api.ts';
import { LiveReader, own, rowsOf } from '../support/api-v1.ts';
import { runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { preparedProgram } from '../support/servers/server.ts';

const promtool = preparedProgram('promtool', 'prometheus');

let api: ApiFleet;
/** Everything; test.ping and some more on m1, and @jobs; test.ping everywhere; keys only; nothing. */
let ann = '';
let fred = '';
let everyping = '';
let clerk = '';
let limited = '';
let nobody = '';
beforeAll(async () => {
  api = await ApiFleet.start();
  ann = await api.login('ann');
  fred = await api.login('fred');
  everyping = await api.login('everyping');
  clerk = await api.login('clerk');
  limited = await api.login('limited');
  const login = await api.ask('POST', '/login', { json: { username: 'reader1', password: 'x', eauth: 'auto' } });
  nobody = login.json.return[0].token;
});
afterAll(async () => {
  await api?.fleet.destroy();
});

const get = (path: string, token: string, headers: Record<string, string> = {}) =>
  own(api, 'GET', path, { token, headers });
const post = (path: string, token: string, json: unknown, headers: Record<string, string> = {}) =>
  own(api, 'POST', path, { token, json, headers });

/** Starts a job and waits until every minion has a verdict. */
async function run(token: string, body: object): Promise<string> {
  const reply = await post('/jobs', token, body);
  expect(reply, reply.text).toMatchObject({ status: 202 });
  const { jid } = reply.json;
  await eventually('the job to end', async () => (await get(`/jobs/${jid}`, ann)).json.state === 'done');
  return jid;
}

describe('the session', () => {
  it('logs in, says who the caller is, renews, and logs out', async () => {
    expect((await own(api, 'GET', '/auth-methods')).json.methods).toContainEqual({
      eauth: 'sharedsecret',
      label: 'Shared secret',
    });
    const login = await own(api, 'POST', '/session', {
      json: { username: 'fred', password: 'of all', eauth: 'sharedsecret' },
    });
    expect(login, login.text).toMatchObject({
      status: 200,
      json: { user: 'fred', eauth: 'sharedsecret', can: { everything: false, run: 'some', jobs: 'all', keys: 'ids' } },
    });
    expect(login.headers['set-cookie']?.[0]).toContain('HttpOnly');
    const { token, expire } = login.json;
    const renewed = await own(api, 'POST', '/session/renew', { token });
    expect(renewed.json.expire).toBe(expire);
    expect((await get('/session', token)).status).toBe(401);
    expect((await get('/session', renewed.json.token)).json).toMatchObject({ user: 'fred', expire });
    expect((await own(api, 'DELETE', '/session', { token: renewed.json.token })).status).toBe(204);
    expect((await get('/session', renewed.json.token)).status).toBe(401);
  });

  it('answers errors as problems that name the request', async () => {
    const wrong = { username: 'fred', password: 'guessed', eauth: 'sharedsecret' };
    const reply = await own(api, 'POST', '/session', { json: wrong });
    expect(reply.headers['content-type']).toBe('application/problem+json');
    expect(reply).toMatchObject({ status: 401, json: { status: 401, code: 'auth.failed' } });
    expect(reply.headers['x-request-id']).toBe(reply.json.request);
    expect(reply.text).not.toContain('guessed');
    expect((await get('/no/such/path', ann)).status).toBe(404);
    expect(await own(api, 'PUT', '/jobs', { token: ann })).toMatchObject({
      status: 405,
      headers: { allow: 'POST, GET' },
    });
    for (const path of ['/fleet', '/jobs', '/keys', '/live', '/events', '/doctor', '/functions'])
      expect(await own(api, 'GET', path), path).toMatchObject({ status: 401, json: { code: 'http.401' } });
  });
});

describe('the fleet', () => {
  it('is a list in columns, searched and sorted by the master, with an ETag', async () => {
    const reply = await get('/fleet?sort=-id', ann);
    expect(rowsOf(reply)).toMatchObject([
      { id: 'm2', state: 'connected', key: 'accepted', version: expect.stringMatching(/\d/) },
      { id: 'm1', state: 'connected', problem: '' },
    ]);
    expect((await get('/fleet?limit=1&offset=1', ann)).json).toMatchObject({
      total: 2,
      offset: 1,
      rows: [expect.arrayContaining(['m2'])],
    });
    expect(rowsOf(await get('/fleet?q=%40G%40role:web', ann)).map(({ id }) => id)).toEqual(['m1']);
    expect(rowsOf(await get('/fleet?q=m2', ann)).map(({ id }) => id)).toEqual(['m2']);
    const summary = await get('/fleet/summary', ann);
    expect(summary.json).toMatchObject({ total: 2, states: { connected: 2 }, keys: { accepted: 2, pending: 0 } });
    const keys = await get('/keys', ann);
    const again = await get('/keys', ann, { 'If-None-Match': String(keys.headers['etag']) });
    expect(again).toMatchObject({ status: 304, text: '' });
    expect((await get('/fleet?format=csv&sort=id', ann)).text).toMatch(/^id,state,.*\r\nm1,connected,/);
    expect((await get('/fleet?sort=nothing', ann)).status).toBe(400);
  });

  it('shows each user the minions of its rules, and denies the others', async () => {
    expect(rowsOf(await get('/fleet', limited)).map(({ id }) => id)).toEqual(['m1']);
    expect((await get('/fleet/summary', limited)).json).toMatchObject({ total: 1 });
    expect(rowsOf(await get('/fleet?q=%40*', limited)).map(({ id }) => id)).toEqual(['m1']);
    for (const token of [nobody, clerk])
      expect((await get('/fleet', token)).json).toMatchObject({ total: 0, rows: [] });
    // What is hidden and what does not exist look alike.
    const [hidden, missing] = [await get('/minions/m2', limited), await get('/minions/m99', limited)];
    expect(hidden.status).toBe(404);
    expect({ ...hidden.json, request: '' }).toEqual({ ...missing.json, request: '' });
    expect((await get('/minions/m1', limited)).json).toMatchObject({ id: 'm1', connections: [expect.any(Object)] });
    expect((await get('/minions/m1/grains', limited)).status).toBe(403);
    expect((await get('/minions/m1/grains', ann)).json).toMatchObject({ id: 'm1', role: 'web' });
    expect((await get('/minions/m1/pillar', limited)).json).toEqual({ keys: expect.any(Array) });
    expect((await get('/minions/m1/pillar?values=true', limited)).status).toBe(403);
    expect((await get('/minions/m1/explain', ann)).json).toMatchObject({ id: 'm1', connected: 'yes' });
    const preview = await post('/targets/preview', limited, { tgt: '*' });
    expect(preview.json).toMatchObject({ total: 1, classes: { connected: { m1: '' } } });
    expect(preview.text).not.toContain('m2');
  });
});

describe('jobs', () => {
  it('start, end, are grouped, searched and exported', async () => {
    const jid = await run(ann, { tgt: '*', fun: 'test.echo', arg: ['hello there'] });
    const job = (await get(`/jobs/${jid}`, ann)).json;
    expect(job).toMatchObject({
      fun: 'test.echo',
      user: 'ann',
      verdicts: 'oo',
      balance: { o: 2 },
      minions: ['m1', 'm2'],
    });
    expect(job.command).toBe("salt '*' test.echo 'hello there'");
    expect(job.groups).toMatchObject([{ count: 2, verdict: 'o', return: 'hello there', ids: ['m1', 'm2'] }]);
    expect(rowsOf(await get(`/jobs/${jid}/returns?q=hello`, ann))).toMatchObject([
      { id: 'm1', verdict: 'o', return: 'hello there' },
      { id: 'm2' },
    ]);
    expect((await get(`/jobs/${jid}/returns?verdict=f`, ann)).json.total).toBe(0);
    expect((await get(`/jobs/${jid}/returns/m2`, ann)).json).toMatchObject({ id: 'm2', return: 'hello there' });
    expect((await get(`/jobs/${jid}/returns?format=json`, ann)).json).toMatchObject({ m1: { return: 'hello there' } });
    expect((await get(`/jobs/${jid}/returns?format=csv`, ann)).text).toMatch(
      /^id,verdict,.*\r\nm1,o,0,\d+,hello there,\r\n/,
    );
    expect((await get(`/jobs/${jid}/returns?format=txt`, ann)).text).toBe(
      'm1:\n    hello there\nm2:\n    hello there\n',
    );
    expect((await get(`/jobs/${jid}/returns?format=yaml`, ann)).text).toContain('return: hello there');
    const listed = rowsOf(await get('/jobs?q=fun%3Dtest.echo+and+since+1h', ann));
    expect(listed[0]).toMatchObject({ jid, minions: 2, ok: 2, failed: 0, missing: 0, state: 'done' });
    expect((await get('/jobs?q=failed+fun%3Dtest.echo', ann)).json.total).toBe(0);
    expect((await get('/jobs?q=since+yesterday', ann)).status).toBe(400);
  });

  it('belong to who started them, and to those whose rules permit them', async () => {
    const [theirs, mine] = [
      await run(ann, { tgt: '*', fun: 'test.ping' }),
      await run(everyping, { tgt: '*', fun: 'test.ping' }),
    ];
    const secret = await run(ann, { tgt: 'm2', fun: 'test.echo', arg: ['for ann only'] });
    const jids = rowsOf(await get('/jobs', everyping)).map(({ jid }) => jid);
    expect(jids).toContain(mine);
    expect(jids).not.toContain(theirs);
    expect((await get(`/jobs/${theirs}`, everyping)).status).toBe(200);
    for (const path of [
      `/jobs/${secret}`,
      `/jobs/${secret}/returns`,
      `/jobs/${secret}/returns/m2`,
      `/jobs/${secret}/returns?format=txt`,
    ]) {
      const [hidden, missing] = [
        await get(path, everyping),
        await get(path.replace(secret, '20200101000000000000'), everyping),
      ];
      expect(hidden.status, path).toBe(404);
      expect({ ...hidden.json, request: '' }).toEqual({ ...missing.json, request: '' });
    }
    expect((await get('/jobs', nobody)).json.total).toBe(0);
    for (const [token, body] of [
      [everyping, { tgt: '*', fun: 'cmd.run', arg: ['id'] }],
      [fred, { tgt: '*', fun: 'test.ping' }],
      [fred, { tgt: 'm1', fun: ['test.ping', 'cmd.run'], arg: [[], ['id']] }],
      [nobody, { tgt: '*', fun: 'test.ping' }],
      [fred, { tgt: 'm1', fun: 'test.echo', arg: ['not ok'] }],
    ] as const)
      expect(await post('/jobs', token, body), JSON.stringify(body)).toMatchObject({ status: 403 });
    expect(await post(`/jobs/${secret}/again`, everyping, { on: 'all' })).toMatchObject({ status: 404 });
    expect(await post(`/jobs/${secret}/again`, fred, { on: 'all' })).toMatchObject({ status: 403 });
  });

  it('run once for a key, however often they are sent', async () => {
    const body = { tgt: 'm1', fun: 'test.ping' };
    const replies = await Promise.all([1, 2, 3].map(() => post('/jobs', ann, body, { 'Idempotency-Key': 'a-key' })));
    const jids = new Set(replies.map(({ json }) => json.jid));
    expect(jids.size).toBe(1);
    expect(replies[0]?.json).toEqual(replies[2]?.json);
    const other = await post('/jobs', ann, { ...body, tgt: '*' }, { 'Idempotency-Key': 'a-key' });
    expect(other.status).toBe(422);
    // The key of another user is another key.
    const foreign = await post('/jobs', everyping, body, { 'Idempotency-Key': 'a-key' });
    expect(jids.has(foreign.json.jid)).toBe(false);
    expect((await post('/jobs', ann, body, { 'Idempotency-Key': 'not valid' })).status).toBe(400);
  });

  it('are stopped and started again on the minions that need it', async () => {
    const failed = await run(ann, { tgt: '*', fun: 'cmd.run', arg: ['test "$(hostname)" = nowhere'] });
    expect((await get(`/jobs/${failed}`, ann)).json.verdicts).toBe('ff');
    const again = await post(`/jobs/${failed}/again`, ann, { on: 'failed' });
    expect(again).toMatchObject({ status: 202, json: { minions: ['m1', 'm2'] } });
    expect((await post(`/jobs/${failed}/again`, ann, { on: 'missing' })).status).toBe(422);
    const long = (await post('/jobs', ann, { tgt: 'm1', fun: 'test.sleep', arg: [300] })).json.jid;
    await eventually('the job to run', async () => (await get(`/jobs/${long}`, ann)).json.verdicts === 'r');
    expect((await post(`/jobs/${long}/stop`, everyping, { how: 'kill' })).status).toBe(404);
    expect((await post(`/jobs/${long}/stop`, fred, { how: 'kill' })).status).toBe(403);
    expect((await post(`/jobs/${long}/stop`, ann, { how: 'term' })).json).toMatchObject({ minions: ['m1'] });
    await eventually('the job to be stopped', async () => (await get(`/jobs/${long}`, ann)).json.state === 'done');
    const waits = (await post('/jobs', ann, { tgt: 'm1', fun: 'test.sleep', arg: [300] })).json.jid;
    expect((await post(`/jobs/${waits}/stop`, ann, { how: 'forget' })).json).toEqual({ minions: ['m1'] });
    expect((await get(`/jobs/${waits}`, ann)).json).toMatchObject({ state: 'done', verdicts: 'm' });
    await post('/jobs', ann, { tgt: 'm1', fun: 'saltutil.kill_job', arg: [waits] });
    const batch = await post('/jobs', ann, { tgt: '*', fun: 'test.ping', batch: { size: '1' } });
    expect(batch).toMatchObject({ status: 202 });
    await eventually(
      'the batch to end',
      async () => (await get(`/jobs/${batch.json.jid}`, ann)).json.verdicts === 'oo',
    );
    expect((await post('/jobs', ann, { tgt: 'nope*', fun: 'test.ping' })).status).toBe(422);
  });
});

describe('results', () => {
  it('come as a stream, of a new job and of one that runs', async () => {
    const all = await post('/jobs', ann, { tgt: '*', fun: 'test.echo', arg: ['hi'] }, { Accept: 'text/event-stream' });
    const items = all.text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)));
    expect(items[0]).toMatchObject({ type: 'job', minions: ['m1', 'm2'] });
    expect(items.filter(({ type }) => type === 'return').map(({ return: answer }) => answer)).toEqual(['hi', 'hi']);
    expect(items.at(-1)).toMatchObject({ type: 'end', balance: { returned: 2 } });
    const { jid } = items[0];
    const again = await get(`/jobs/${jid}/returns`, ann, { Accept: 'text/event-stream' });
    expect(again.text.match(/"return": "hi"/g)).toHaveLength(2);
    const hidden = await get(`/jobs/${jid}/returns`, everyping, { Accept: 'text/event-stream' });
    expect(hidden.status).toBe(404);
    expect((await post('/jobs', everyping, { tgt: '*', fun: 'cmd.run' }, { Accept: 'text/event-stream' })).status).toBe(
      403,
    );
  });
});

describe('keys', () => {
  it('are shown and changed with the rights on the wheel functions', async () => {
    const listed = rowsOf(await get('/keys', clerk));
    expect(listed).toMatchObject([
      { id: 'm1', state: 'accepted', fingerprint: expect.stringMatching(/^[0-9a-f:]{30,}$/) },
      { id: 'm2' },
    ]);
    expect(rowsOf(await get('/keys', fred))[0]).toMatchObject({ id: 'm1', fingerprint: null });
    expect((await get('/keys', everyping)).status).toBe(403);
    expect((await post('/keys/delete', fred, { ids: ['m1'] })).status).toBe(403);
    const wrong = await post('/keys/delete', clerk, { ids: ['m1'], fingerprints: { m1: 'aa:bb' } });
    expect(wrong.json).toEqual({ done: [], refused: { m1: 'its fingerprint is another one' } });
    // Rejected and accepted again, with the fingerprint that was shown.
    const { fingerprint } = listed[0]!;
    expect((await post('/keys/reject', clerk, { ids: ['m1'], fingerprints: { m1: fingerprint } })).json.done).toEqual([
      'm1',
    ]);
    expect((await post('/keys/accept', clerk, { ids: ['m1'] })).json.refused.m1).toContain('fingerprint is needed');
    expect((await post('/keys/accept', clerk, { ids: ['m1'], fingerprints: { m1: fingerprint } })).json.done).toEqual([
      'm1',
    ]);
    expect((await post('/keys/accept', clerk, { ids: ['../x'], fingerprints: { '../x': 'y' } })).json.done).toEqual([]);
    await api.fleet.answering('m1', 'm2');
  });
});

describe('functions and the master', () => {
  it('are listed with what the caller may run', async () => {
    const found = rowsOf(await get('/functions?q=test.echo', fred));
    expect(found[0]).toMatchObject({
      name: 'test.echo',
      kind: 'modules',
      may: 'some',
      args: [{ name: 'text', required: true, default: null }],
    });
    expect(rowsOf(await get('/functions?q=key.list_all&kind=wheel', fred))[0]).toMatchObject({ may: 'all' });
    expect(rowsOf(await get('/runners?q=manage.up', nobody))[0]).toMatchObject({ name: 'manage.up', may: 'none' });
  });

  it('run runners and wheel functions, also with their progress', async () => {
    expect((await post('/runners/test.arg', ann, { arg: ['x'], kwarg: { colour: 'red' } })).json).toMatchObject({
      success: true,
      return: { args: ['x'], kwargs: { colour: 'red' } },
    });
    expect((await post('/runners/manage.up', fred, {})).json.return).toEqual(['m1', 'm2']);
    expect((await post('/runners/test.arg', fred, { arg: ['bad'] })).status).toBe(403);
    expect((await post('/wheel/key.finger', fred, { arg: ['*'] })).status).toBe(403);
    expect((await post('/runners/no.such', ann, {})).status).toBe(404);
    const streamed = await post('/runners/manage.up', ann, {}, { Accept: 'text/event-stream' });
    expect(streamed.text).toMatch(/"type": "started"[\s\S]*"type": "result"[\s\S]*"success": true/);
  });

  it('shows operations to administrators only', async () => {
    for (const path of ['/doctor', '/tokens', '/audit', '/config', '/files', '/returners', '/metrics']) {
      expect(await get(path, ann), path).toMatchObject({ status: 200 });
      for (const token of [fred, nobody, clerk]) expect(await get(path, token), path).toMatchObject({ status: 403 });
    }
    expect((await get('/config?q=sharedsecret', ann)).text).not.toContain('of all');
    expect((await get('/tokens', ann)).text).not.toContain(ann);
    expect((await get('/metrics', ann)).text).toContain(
      'halite_http_requests_total{method="GET",route="/config",code="200"}',
    );
    if (promtool) {
      const checked = await runProgram(promtool, ['check', 'metrics'], { input: (await get('/metrics', ann)).text });
      expect(checked.code, checked.stdout + checked.stderr).toBe(0);
    }
    expect((await own(api, 'GET', '/healthz')).json).toEqual({ status: 'ok' });
    expect((await own(api, 'GET', '/readyz')).json).toEqual({ ready: true, why: {} });
  });

  it('writes down who did what', async () => {
    await post('/jobs', fred, { tgt: 'm2', fun: 'test.ping' });
    await eventually('the refusal in the audit', async () => {
      const rows = rowsOf(await get('/audit?q=fred', ann));
      return rows.some(
        ({ what, fun, target, result }) =>
          what === 'refused' && fun === 'test.ping' && target === 'm2' && result === 'auth.denied',
      );
    });
    const rows = rowsOf(await get('/audit?limit=1000', ann));
    expect(rows.find(({ what, target }) => what === 'keys' && target === 'm1')).toMatchObject({
      user: 'clerk',
      eauth: 'sharedsecret',
      target: 'm1',
    });
    expect(rows.find(({ what }) => what === 'runner')).toMatchObject({ origin: '127.0.0.1' });
    const text = JSON.stringify(rows);
    for (const hidden of [ann, fred, 'of all', 'guessed']) expect(text).not.toContain(hidden);
  });
});

it('describes itself with the schemas that it uses', async () => {
  const { json } = await own(api, 'GET', '/openapi.json');
  expect(json.openapi).toBe('3.1.0');
  expect(json.paths['/jobs'].post.requestBody.content['application/json'].schema).toMatchObject({
    type: 'object',
    required: ['tgt', 'fun'],
    additionalProperties: false,
  });
  expect(Object.keys(json.paths)).toEqual(
    expect.arrayContaining(['/fleet', '/jobs/{jid}/returns/{id}', '/live/{stream}', '/keys/accept']),
  );
});

describe('events', () => {
  it('reach those whose rules permit them, of the kind that they asked for', async () => {
    const readers = [ann, everyping, nobody].map((token) => new LiveReader(api, '/events?tag=salt/job/*', token));
    await eventually('the streams to begin', () => readers.every(({ text }) => text.startsWith('retry')));
    const jid = await run(ann, { tgt: 'm2', fun: 'test.echo', arg: ['private'] });
    const ping = await run(ann, { tgt: 'm2', fun: 'test.ping' });
    const tags = ({ records }: LiveReader): string[] => records.map(({ data }) => String(data.tag));
    const [all, some, none] = readers as [LiveReader, LiveReader, LiveReader];
    await eventually(
      'the results',
      () => tags(all).includes(`salt/job/${ping}/ret/m2`) && tags(some).includes(`salt/job/${ping}/ret/m2`),
    );
    expect(tags(all)).toContain(`salt/job/${jid}/ret/m2`);
    expect(some.text).not.toContain('private');
    expect(none.records).toEqual([]);
    for (const reader of readers) reader.close();
  });
});
