// Every request that SaltGUI 1.34 makes, with its exact headers, and the parts of the answers that it reads. With
// SALTGUI_DIR=<a checkout of SaltGUI>, also its pages in Chromium.
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFleet, type Reply } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { describePages } from '../support/saltgui-pages.ts';

let api: ApiFleet;
let token: string;
beforeAll(async () => {
  api = await ApiFleet.start(['app: "@ROOT@/www/index.html"', 'static: "@ROOT@/www/static"'], (fleet) =>
    writeFileSync(
      fleet.path('etc/master.d/gui.conf'),
      'saltgui_templates:\n  ping: {description: a ping, target: "*", command: test.ping}\nsaltgui_preview_grains: [os]\nreactor: []\n',
    ),
  );
  const login = await post('/login', { eauth: 'sharedsecret', password: 'of all', username: 'ann' }, '');
  token = login.json.return[0].token;
});
afterAll(async () => {
  await api?.fleet.destroy();
});

const headers = { Accept: 'application/json', 'Cache-Control': 'no-cache' };
/** The browser names the type of a text body by itself. */
const post = (path: string, body: object, own = token): Promise<Reply> =>
  api.ask('POST', path, {
    token: own,
    text: JSON.stringify(body),
    headers: { ...headers, 'Content-Type': 'text/plain;charset=UTF-8', Origin: `http://127.0.0.1:${api.port}` },
  });
const call = async (body: object) => {
  const reply = await post('/', body);
  expect(reply.status, `${JSON.stringify(body)} → ${reply.text.slice(0, 300)}`).toBe(200);
  return reply.json.return[0];
};

describe('the session', () => {
  it('begins with an empty token in the header, and ends', async () => {
    const { json, status } = await post('/login', { eauth: 'sharedsecret', password: 'of all', username: 'fred' }, '');
    expect(status).toBe(200);
    const [made] = json.return;
    expect(made).toMatchObject({ user: 'fred', eauth: 'sharedsecret', token: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(made.perms.length).toBeGreaterThan(0);
    expect(typeof made.start).toBe('number');
    expect(typeof made.expire).toBe('number');
    expect((await api.ask('GET', '/stats', { token: made.token, headers })).status).toBe(200);
    expect((await post('/logout', {}, made.token)).status).toBe(200);
    expect((await api.ask('GET', '/stats', { token: made.token, headers })).status).toBe(401);
    expect((await post('/logout', {}, made.token)).status).toBe(401);
  });

  it('of a user without rights has no rules, and a wrong password is a 401', async () => {
    const nobody = await post('/login', { eauth: 'sharedsecret', password: 'of all', username: 'nobody' }, '');
    expect(nobody.json.return[0].perms).toEqual({});
    expect((await post('/login', { eauth: 'sharedsecret', password: 'no', username: 'ann' }, '')).status).toBe(401);
  });

  it('is watched with /stats: an object of objects', async () => {
    const { json } = await api.ask('GET', '/stats', { token, headers });
    for (const part of Object.values(json)) expect(part).toBeTypeOf('object');
  });
});

describe('files', () => {
  const file = (name: string, accept: string) =>
    api.ask('GET', `/static/${name}`, { token, headers: { ...headers, Accept: accept } });
  it('that nobody wrote are 404, except the login methods', async () => {
    expect((await file('minions.txt', 'text/plain')).status).toBe(404);
    expect((await file('salt-motd.txt', 'text/plain')).status).toBe(404);
    expect((await file('salt-motd.html', 'text/html')).status).toBe(404);
    expect((await file('salt-auth.txt', 'text/plain')).text).toBe('CLEAR\nsharedsecret\nfile\nauto\n');
  });

  it('that somebody wrote are served', async () => {
    writeFileSync(api.fleet.path('www/static/salt-auth.txt'), 'pam\n');
    expect((await file('salt-auth.txt', 'text/plain')).text).toBe('pam\n');
    writeFileSync(api.fleet.path('www/static/salt-motd.html'), '<b>hello</b>\n');
    expect((await file('salt-motd.html', 'text/html')).text).toBe('<b>hello</b>\n');
  });
});

describe('wheel', () => {
  it('config.values has the options of the pages, and masks secrets', async () => {
    const { data } = await call({ client: 'wheel', fun: 'config.values' });
    expect(data.return).toMatchObject({
      saltgui_templates: { ping: { description: 'a ping', target: '*', command: 'test.ping' } },
      saltgui_preview_grains: ['os'],
      state_verbose: expect.anything(),
      state_output: expect.any(String),
      nodegroups: { mine: 'm1' },
    });
    expect(JSON.stringify(data)).not.toContain('of all');
  });

  it('key.list_all, key.finger and minions.connected', async () => {
    const lists = (await call({ client: 'wheel', fun: 'key.list_all' })).data.return;
    expect(lists).toMatchObject({ minions: ['m1', 'm2'], minions_pre: [], minions_rejected: [], minions_denied: [] });
    const all = (await call({ client: 'wheel', fun: 'key.finger', match: '*' })).data.return;
    expect(Object.keys(all.minions)).toEqual(['m1', 'm2']);
    const one = (await call({ client: 'wheel', fun: 'key.finger', match: 'm1' })).data.return;
    expect(one.minions.m1).toMatch(/^[0-9a-f:]+$/);
    expect((await call({ client: 'wheel', fun: 'minions.connected' })).data.return.sort()).toEqual(['m1', 'm2']);
    // `match` is added to every call of a wheel function.
    expect((await call({ client: 'wheel', fun: 'key.list_all', match: 'm1' })).data.success).toBe(true);
  });

  it('accepts, rejects and deletes a key', async () => {
    const pem = readFileSync(api.fleet.path('etc/pki/master/minions/m1'), 'utf8');
    for (const [fun, more, list] of [
      ['key.accept', {}, 'minions'],
      ['key.reject', { include_accepted: true }, 'minions_rejected'],
      ['key.accept', { include_rejected: true }, 'minions'],
      ['key.delete', {}, undefined],
    ] as const) {
      if (fun === 'key.accept' && !('include_rejected' in more))
        writeFileSync(api.fleet.path('etc/pki/master/minions_pre/m9'), pem);
      await call({ client: 'wheel', fun, match: 'm9', ...more });
      const lists = (await call({ client: 'wheel', fun: 'key.list_all' })).data.return as Record<string, string[]>;
      const where = Object.keys(lists).filter((name) => lists[name]!.includes('m9'));
      expect(where, fun).toEqual(list === undefined ? [] : [list]);
    }
  });
});

describe('runners', () => {
  it('manage.versions, cache.grains, cache.pillar, state.orchestrate_show_sls', async () => {
    expect(await call({ client: 'runner', fun: 'manage.versions' })).toMatchObject({
      Master: expect.any(String),
      'Up to date': { m1: expect.any(String), m2: expect.any(String) },
    });
    expect((await call({ client: 'runner', fun: 'cache.grains', tgt: '*' })).m1.id).toBe('m1');
    expect(await call({ client: 'runner', fun: 'cache.pillar', tgt: 'm1' })).toHaveProperty('m1');
    writeFileSync(api.fleet.path('srv/salt/top.sls'), "base: {'*': [both]}\n");
    writeFileSync(
      api.fleet.path('srv/salt/both.sls'),
      "a step:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\n",
    );
    expect(await call({ client: 'runner', fun: 'state.orchestrate_show_sls', arg: ['*'] })).toBeTypeOf('object');
  });

  it('jobs.list_jobs, jobs.list_job and jobs.active, while a job runs and afterwards', async () => {
    // It ends when the test has seen it running.
    const gate = api.fleet.path('gate');
    const command = `until test -e ${gate}; do sleep 0.1; done`;
    const started = await call({ client: 'local_async', fun: 'cmd.shell', tgt: '*', arg: [command] });
    expect(started).toEqual({ jid: expect.stringMatching(/^\d{20}$/), minions: ['m1', 'm2'] });
    const { jid } = started;
    await eventually('the job to run', async () => {
      const active = await call({ client: 'runner', fun: 'jobs.active' });
      return active[jid]?.Running?.length > 0 && Array.isArray(active[jid].Returned);
    });
    writeFileSync(gate, '');
    await eventually('its results', async () => {
      const job = await call({ client: 'runner', fun: 'jobs.list_job', jid });
      return Object.keys(job.Result).length === 2;
    });
    const job = await call({ client: 'runner', fun: 'jobs.list_job', jid });
    expect(job).toMatchObject({
      ...{ Arguments: [command], Function: 'cmd.shell', Minions: ['m1', 'm2'], Target: '*', 'Target-type': 'glob' },
      ...{ User: 'ann', StartTime: expect.stringMatching(/^\d{4}, [A-Z][a-z]{2} \d\d /) },
      Result: { m1: { return: '', retcode: 0, success: true } },
    });
    const found = await call({ client: 'runner', fun: 'jobs.list_jobs', search_function: ['cmd.shell'] });
    expect(Object.keys(found)).toEqual([jid]);
    const unknown = await call({ client: 'runner', fun: 'jobs.list_job', jid: '20010101010101010101' });
    expect(unknown.Error).toBe('Cannot contact returner or no job with this jid');
  });
});

describe('minions', () => {
  const quiet = { kwarg: { return_yaml: false } };
  const asked: [string, object, (value: unknown) => void][] = [
    ['grains.items', {}, (value) => expect(value).toHaveProperty('os')],
    ['pillar.items', {}, (value) => expect(value).toBeTypeOf('object')],
    ['pillar.obfuscate', {}, (value) => expect(value).toBeTypeOf('object')],
    ['mine.valid', {}, (value) => expect(value).toBeTypeOf('object')],
    ['mine.get', { arg: ['m1', 'x'] }, (value) => expect(value).toEqual({})],
    ['beacons.list', quiet, (value) => expect(value).toBeTypeOf('object')],
    ['beacons.list_available', quiet, (value) => expect(value).toBeTypeOf('object')],
    ['schedule.list', quiet, (value) => expect(value).toBeTypeOf('object')],
    ['test.providers', {}, (value) => expect(value).toHaveProperty('test')],
  ];
  it.each(asked)('%s of all, and of one', async (fun, more, check) => {
    const all = await call({ client: 'local', fun, tgt: '*', tgt_type: 'glob', ...more });
    expect(Object.keys(all).sort()).toEqual(['m1', 'm2']);
    check(all.m1);
    const one = await call({ client: 'local', fun, tgt: 'm1', tgt_type: 'list', ...more });
    expect(Object.keys(one)).toEqual(['m1']);
  });

  it('a whole group, a compound target and one that is away', async () => {
    const group = await call({
      client: 'local',
      full_return: true,
      fun: 'test.version',
      tgt: 'N@mine',
      tgt_type: 'compound',
    });
    expect(group.m1).toMatchObject({ retcode: 0, ret: expect.any(String) });
    await call({ client: 'wheel', fun: 'key.gen_accept', id_: 'away' });
    const silent = await call({ client: 'local', fun: 'test.ping', tgt: '*', tgt_type: 'glob' });
    expect(silent).toEqual({ m1: true, m2: true, away: false });
    await call({ client: 'wheel', fun: 'key.delete', match: 'away' });
  });

  it('the functions of its menus', async () => {
    const menus: [string, unknown[]?, object?][] = [
      ['state.apply', [], { test: true }],
      ['saltutil.refresh_grains'],
      ['saltutil.refresh_pillar'],
      ['grains.setval', ['colour', 'red']],
      ['grains.append', ['list', 'x']],
      ['grains.delval', ['list']],
      ['grains.delkey', ['colour']],
      ['mine.update'],
      ['mine.flush'],
      ['beacons.add', ['load', [{ averages: { '1m': [0, 99] } }]]],
      ['beacons.disable_beacon', ['load']],
      ['beacons.enable_beacon', ['load']],
      ['beacons.disable'],
      ['beacons.enable'],
      ['beacons.delete', ['load']],
      ['beacons.reset'],
      ['schedule.add', ['j'], { function: 'test.ping', seconds: 3600 }],
      ['schedule.disable_job', ['j']],
      ['schedule.enable_job', ['j']],
      ['schedule.run_job', ['j']],
      ['schedule.delete', ['j']],
      ['ps.proc_info', [1]],
      ['saltutil.term_job', ['20010101010101010101']],
      ['sys.doc', ['test.ping']],
    ];
    for (const [fun, arg = [], kwarg = {}] of menus) {
      const found = await call({ client: 'local', fun, tgt: 'm1', tgt_type: 'glob', arg, kwarg });
      expect(String(found.m1), fun).not.toMatch(/is not available|not found|Passed invalid/);
    }
    for (const fun of ['doc.runner', 'doc.wheel']) expect(await call({ client: 'runner', fun })).toBeTypeOf('object');
  });
});

it('events come to a browser: by the cookie, with what the pages read', async () => {
  const login = await post('/login', { eauth: 'sharedsecret', password: 'of all', username: 'ann' }, '');
  const [cookie = ''] = (login.headers['set-cookie']?.[0] ?? '').split(';');
  const reader = api.events('', { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' });
  await eventually('the stream to begin', () => reader.begun);
  const { jid } = await call({ client: 'local_async', fun: 'test.echo', tgt: 'm1', arg: ['x'] });
  await eventually('the result', () => reader.records.some(({ tag }) => tag === `salt/job/${jid}/ret/m1`));
  const { data } = reader.records.find(({ tag }) => tag === `salt/job/${jid}/ret/m1`)!;
  expect(data).toMatchObject({
    jid,
    id: 'm1',
    return: 'x',
    retcode: 0,
    success: true,
    fun: 'test.echo',
    fun_args: ['x'],
  });
  reader.close();
});

const checkout = process.env['SALTGUI_DIR'];
if (checkout) describePages(checkout);
