// salt-api as a process of its own user, with a real master and minions: every endpoint.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeFrame, opcodes, WsReader } from '../../src/protocol/wire/ws/codec.ts';
import { ApiFleet } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';

let api: ApiFleet;
let ann: string;
let fred: string;
beforeAll(async () => {
  api = await ApiFleet.start(['app: "@ROOT@/www/index.html"', 'static: "@ROOT@/www/static"']);
  [ann, fred] = await Promise.all([api.login('ann'), api.login('fred')]);
});
afterAll(async () => {
  await api?.fleet.destroy();
});

const denied = { status: 401, json: { status: 401 } };

describe('the process', () => {
  it('runs as its own user, who can read no key of the master', async () => {
    const pid = readFileSync(api.fleet.path('run/api.pid'), 'utf8').trim();
    expect(statSync(`/proc/${pid}`).uid).toBe(65_534);
    expect(statSync(api.fleet.path('cache/master/.root_key')).mode & 0o077).toBe(0);
  });
});

describe('logging in and out', () => {
  it('gives a token with the rules of the user, and a cookie that only this site can send', async () => {
    const { json, headers } = await api.ask('POST', '/login', {
      text: 'username=ann&password=of+all&eauth=sharedsecret',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    const [made] = json.return;
    expect(made).toMatchObject({ user: 'ann', eauth: 'sharedsecret', perms: ['.*', '@runner', '@wheel'] });
    expect(made.expire - made.start).toBeCloseTo(43_200, 0);
    expect(headers['x-auth-token']).toBe(made.token);
    expect(headers['set-cookie']?.[0]).toMatch(
      /^session_id=[0-9a-f]{64}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/,
    );
    expect(headers['cache-control']).toContain('no-store');
  });

  it('refuses what is no login, and always makes a new token', async () => {
    for (const login of [{}, { username: 'ann', password: null, eauth: 'sharedsecret' }, { username: 'ann' }])
      expect(await api.ask('POST', '/login', { json: login })).toMatchObject(denied);
    const refused = await api.ask('POST', '/login', {
      json: { username: 'ann', password: 'wrong', eauth: 'sharedsecret', service: 'other' },
    });
    expect(refused.json.return).toBe('Could not authenticate using provided credentials');
    expect(refused.headers['set-cookie']).toBeUndefined();
    expect(await api.login('fred')).not.toBe(fred);
  });

  it('ends the token at once, and only with the token', async () => {
    const token = await api.login('fred');
    expect((await api.ask('GET', '/stats', { token })).status).toBe(200);
    expect((await api.ask('POST', '/logout', { token, json: {} })).json).toEqual({
      return: 'Your token has been cleared',
    });
    expect(await api.ask('GET', '/stats', { token })).toMatchObject(denied);
    expect(await api.ask('POST', '/logout', { token })).toMatchObject(denied);
    expect(await api.ask('GET', '/stats', { headers: { Authorization: `Bearer ${ann}` } })).toMatchObject({
      status: 200,
    });
  });

  it('/token answers a bare list', async () => {
    const login = { username: 'fred', password: 'of all', eauth: 'sharedsecret', token_expire: 60 };
    const { json } = await api.ask('POST', '/token', { json: [login] });
    expect(json).toEqual([
      {
        token: expect.stringMatching(/^[0-9a-f]{64}$/),
        name: 'fred',
        eauth: 'sharedsecret',
        start: expect.any(Number),
        expire: expect.any(Number),
      },
    ]);
    expect(json[0].expire - json[0].start).toBeCloseTo(60, 0);
    expect((await api.ask('POST', '/token', { json: { username: 'fred' } })).status).toBe(400);
  });
});

describe('calls', () => {
  it('local in its forms', async () => {
    expect((await api.run(ann, { client: 'local', tgt: '*', fun: 'test.ping' })).json).toEqual({
      return: [{ m1: true, m2: true }],
    });
    const full = await api.run(ann, [
      { client: 'local', tgt: ['m1'], tgt_type: 'list', fun: 'cmd.run', arg: ['exit 3'], full_return: true },
    ]);
    expect(full.json.return[0].m1).toMatchObject({ retcode: 3, jid: expect.stringMatching(/^\d{20}$/) });
    expect((await api.run(ann, { client: 'local', tgt: 'nope*', fun: 'test.ping' })).json).toEqual({ return: [{}] });
    expect(
      (await api.run(ann, { client: 'local_batch', tgt: '*', fun: 'test.ping', batch: '1' })).json.return,
    ).toHaveLength(2);
    expect(
      (await api.run(ann, { client: 'local_subset', tgt: '*', fun: 'test.ping', subset: 1 })).json.return[0],
    ).toSatisfy((found: object) => Object.keys(found).length === 1);
    const several = await api.run(ann, {
      client: 'local',
      tgt: 'm1',
      fun: ['test.ping', 'test.echo'],
      arg: [[], ['x']],
    });
    expect(several.json).toEqual({ return: [{ m1: { 'test.ping': true, 'test.echo': 'x' } }] });
    expect(
      (await api.run(ann, { client: 'local', tgt: 'role:web', fun: 'test.ping', expr_form: 'grain' })).json,
    ).toEqual({ return: [{ m1: true }] });
  });

  it('runner and wheel, and without waiting', async () => {
    expect(
      (await api.run(ann, { client: 'runner', fun: 'test.arg', arg: ['x'], colour: 'red' })).json.return[0],
    ).toMatchObject({
      args: ['x'],
      kwargs: { colour: 'red' },
    });
    expect((await api.run(ann, { client: 'runner', fun: 'no.such' })).status).toBe(400);
    expect((await api.run(ann, { client: 'runner', fun: 'test.sleep', arg: ['20'], timeout: 1 })).status).toBe(504);
    const { json } = await api.run(ann, { client: 'wheel', fun: 'key.list_all', match: '*' });
    expect(json.return[0].data).toMatchObject({ user: 'ann', success: true, return: { minions: ['m1', 'm2'] } });
    const values = await api.run(ann, { client: 'wheel', fun: 'config.values' });
    expect(values.json.return[0].data.return.sharedsecret).toBe('**********');
    expect(values.text).not.toContain('of all');
    expect((await api.run(ann, { client: 'runner', fun: 'config.get', arg: ['sharedsecret'] })).text).not.toContain(
      'of all',
    );
    expect((await api.run(ann, { client: 'wheel_async', fun: 'no.such' })).status).toBe(400);
    expect((await api.run(fred, { client: 'wheel_async', fun: 'key.delete', match: 'm1' })).status).toBe(401);
    expect((await api.run(ann, { client: 'runner_async', fun: 'manage.up' })).json.return[0]).toEqual({
      tag: expect.stringMatching(/^salt\/run\/\d{20}$/),
      jid: expect.stringMatching(/^\d{20}$/),
    });
  });

  it('only within the rules of the user', async () => {
    expect((await api.run(fred, { client: 'local', tgt: 'm1', fun: 'test.ping' })).json).toEqual({
      return: [{ m1: true }],
    });
    for (const chunk of [
      { client: 'local', tgt: 'm2', fun: 'test.ping' },
      { client: 'local', tgt: '*', fun: 'test.ping' },
      { client: 'local', tgt: 'm1', fun: ['test.ping', 'cmd.run'], arg: [[], ['id']] },
      { client: 'local_async', tgt: 'm2', fun: 'test.ping' },
      { client: 'local_batch', tgt: 'm2', fun: 'test.ping', batch: 1 },
      { client: 'local_subset', tgt: 'm2', fun: 'test.ping' },
      { client: 'local', tgt: 'm2', fun: 'test.ping', username: 'ann', password: 'of all', eauth: 'sharedsecret' },
      { client: 'local', tgt: 'm2', fun: 'test.ping', user: 'root', __user__: 'root', key: 'x' },
    ]) {
      const { status, json } = await api.run(fred, chunk);
      expect({ status, text: json.return }, JSON.stringify(chunk)).toEqual({
        status: 401,
        text: 'Authorization error occurred.',
      });
    }
    const { json } = await api.run(fred, [
      { client: 'local', tgt: 'm1', fun: 'test.ping' },
      { client: 'runner', fun: 'salt.cmd', arg: ['cmd.run', 'id'] },
    ]);
    expect(json).toMatchObject({
      status: 401,
      return: 'Authentication failure of type "token" occurred for user fred.',
      done: 1,
    });
  });

  it('/run takes the credentials of each call', async () => {
    const call = { client: 'local', tgt: 'm1', fun: 'test.ping' };
    const run = (fields: object) => api.ask('POST', '/run', { json: { ...call, ...fields } });
    expect((await run({ token: fred })).json).toEqual({ return: [{ m1: true }] });
    expect((await run({ eauth: 'sharedsecret', username: 'fred', password: 'of all' })).json).toEqual({
      return: [{ m1: true }],
    });
    expect((await run({})).json.return).toBe('No authentication credentials given');
    expect((await run({ token: '../../etc/passwd' })).json.return).toBe('Invalid token');
    expect((await run({ token: '0'.repeat(64) })).json.return).toBe('Authentication error occurred.');
    // The token of the header is for other paths.
    expect((await api.ask('POST', '/run', { token: ann, json: call })).status).toBe(401);
  });
});

describe('minions, jobs and keys', () => {
  it('/minions shows grains and starts jobs, /jobs shows them', async () => {
    expect((await api.ask('GET', '/minions/m1', { token: ann })).json.return[0].m1.id).toBe('m1');
    const started = await api.ask('POST', '/minions', { token: ann, json: { tgt: '*', fun: 'test.echo', arg: ['x'] } });
    expect(started.status).toBe(202);
    const [{ jid }] = started.json.return;
    expect(started.json._links).toEqual({ jobs: [{ href: `/jobs/${jid}` }] });
    await eventually('both results', async () => {
      const { json } = await api.ask('GET', `/jobs/${jid}`, { token: ann });
      return Object.keys(json.return[0]).length === 2 && json.info[0].Function === 'test.echo';
    });
    expect((await api.ask('GET', '/jobs', { token: ann })).json.return[0][jid]).toMatchObject({ User: 'ann' });
    expect((await api.ask('GET', '/jobs/', { token: fred })).status).toBe(200);
    expect((await api.ask('GET', '/minions', { token: fred })).status).toBe(401);
    expect((await api.ask('GET', '/jobs')).json.return).toBe('No permission -- see authorization schemes');
  });

  it('/keys lists, and makes keys in an archive', async () => {
    expect((await api.ask('GET', '/keys', { token: ann })).json.return).toMatchObject({ minions: ['m1', 'm2'] });
    expect((await api.ask('GET', '/keys/m1', { token: ann })).json.return.minions.m1).toMatch(/^[0-9a-f:]{95}$/);
    const asked = { mid: 'm7', username: 'clerk', password: 'of all', eauth: 'sharedsecret' };
    const tar = await api.ask('POST', '/keys', { json: asked });
    expect(tar.headers['content-type']).toBe('application/x-tar');
    expect(tar.text).toContain('minion.pem');
    expect(tar.text).toMatch(/BEGIN (RSA )?PRIVATE KEY/);
    expect(readdirSync(api.fleet.path('etc/pki/master/minions'))).toContain('m7');
    expect((await api.ask('POST', '/keys', { json: asked })).status).toBe(409);
    for (const mid of ['../../evil', '', 'a\r\nb', 'a/b', '.'])
      expect((await api.ask('POST', '/keys', { json: { ...asked, mid } })).status, mid).toBe(400);
    expect((await api.ask('POST', '/keys', { json: { ...asked, mid: 'm8', username: 'fred' } })).status).toBe(401);
    expect((await api.run(ann, { client: 'wheel', fun: 'key.delete', match: 'm7' })).status).toBe(200);
  });
});

describe('events', () => {
  it('are filtered by rights, and continue where a reader was interrupted', async () => {
    const [all, some] = [api.events(ann), api.events(fred)];
    await eventually('the streams to begin', () => all.begun && some.begun, {
      describe: () => `${all.text}${some.text}`,
    });
    const own = (await api.run(fred, { client: 'local_async', tgt: 'm1', fun: 'test.ping' })).json.return[0].jid;
    const other = (await api.run(ann, { client: 'local_async', tgt: '*', fun: 'grains.items' })).json.return[0].jid;
    const tags = (reader: typeof all): string[] => reader.records.map(({ tag }) => tag);
    await eventually('all results', () =>
      [`salt/job/${own}/ret/m1`, `salt/job/${other}/ret/m1`, `salt/job/${other}/ret/m2`].every((tag) =>
        tags(all).includes(tag),
      ),
    );
    await api.run(fred, { client: 'local', tgt: 'm1', fun: 'test.ping' });
    expect(tags(some)).toContain(`salt/job/${own}/ret/m1`);
    expect(some.text).not.toContain(other);
    expect(some.text).not.toContain('salt/auth');
    all.close();
    const last = all.records.at(-1)!.id;
    const missed = (
      await api.run(ann, { client: 'local', tgt: 'm1', fun: 'test.echo', arg: ['meanwhile'], full_return: true })
    ).json.return[0].m1.jid;
    const again = api.events(ann, { 'Last-Event-ID': last });
    await eventually('what was missed', () => tags(again).includes(`salt/job/${missed}/ret/m1`));
    expect(again.text).not.toContain(last);
    const stranger = api.events(ann, { 'Last-Event-ID': '0123456789ab-5' });
    await eventually('the gap', () => tags(stranger).includes('halite/events/gap'));
    expect((await api.ask('GET', '/events?x=1', { token: ann })).status).toBe(400);
    for (const reader of [some, again, stranger]) reader.close();
  });

  it('end with the token', async () => {
    const token = await api.login('fred');
    const reader = api.events(token);
    await eventually('the stream to begin', () => reader.begun);
    await api.ask('POST', '/logout', { token });
    await eventually('the stream to end', () => reader.ended);
    expect(reader.text).toContain(': closed: Authentication failure');
  });

  it('/ws sends them when the client is ready', async () => {
    const socket = connect(api.port, '127.0.0.1');
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(
      `GET /ws/${ann} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    const reader = new WsReader(1 << 20, false);
    const texts: string[] = [];
    let head: string | undefined;
    socket.on('data', (chunk: Buffer) => {
      let rest = chunk;
      if (head === undefined) {
        const end = chunk.indexOf('\r\n\r\n');
        head = chunk.subarray(0, end).toString();
        rest = chunk.subarray(end + 4);
      }
      for (const { opcode, data } of reader.feed(rest)) if (opcode === opcodes.text) texts.push(data.toString());
    });
    await eventually('the handshake', () => head !== undefined);
    expect(head).toContain('101 Switching Protocols');
    expect(head).toContain('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    socket.write(encodeFrame(opcodes.text, Buffer.from('websocket client ready'), true));
    await eventually('the answer', () => texts.includes('server received message'));
    await eventually('an event', async () => {
      await api.run(ann, { client: 'local', tgt: 'm1', fun: 'test.ping' });
      return texts.some((text) => /^data: \{"tag": "salt\/job\/\d+\/ret\/m1".*\}\n\n$/s.test(text));
    });
    socket.destroy();
    expect(
      await api.raw(
        'GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n\r\n',
      ),
    ).toContain('401');
    const foreign = `Cookie: session_id=${ann}\r\nOrigin: http://evil.example\r\n`;
    expect(
      await api.raw(
        `GET /ws HTTP/1.1\r\nHost: x\r\n${foreign}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n\r\n`,
      ),
    ).toContain('403');
  });

  it('/hook fires one without secrets of the caller', async () => {
    const reader = api.events(ann);
    await eventually('the stream to begin', () => reader.begun);
    expect((await api.ask('POST', '/hook/ci/build', { json: { a: 1 } })).status).toBe(401);
    const sent = await api.ask('POST', '/hook/ci/build?x=1', {
      token: fred,
      json: { rev: 'abc' },
      headers: { 'X-My-Key': 'k', Cookie: 'session_id=abc' },
    });
    expect(sent.json).toEqual({ success: true });
    await eventually('the event', () => reader.records.some(({ tag }) => tag === 'salt/netapi/hook/ci/build'));
    const { data } = reader.records.find(({ tag }) => tag === 'salt/netapi/hook/ci/build')!;
    expect(data).toMatchObject({
      body: '{"rev":"abc"}',
      post: { rev: 'abc' },
      headers: { 'X-My-Key': 'k', 'Remote-Addr': '127.0.0.1' },
    });
    expect(JSON.stringify(data)).not.toContain(fred);
    expect(Object.keys(data.headers)).not.toContain('Cookie');
    reader.close();
  });
});

describe('files and pages', () => {
  it('are served from their folder only', async () => {
    expect(await api.ask('GET', '/static/app.js')).toMatchObject({
      status: 200,
      text: '0123456789',
      headers: { 'content-type': 'text/javascript; charset=utf-8' },
    });
    expect(await api.ask('GET', '/static/app.js', { headers: { Range: 'bytes=2-4' } })).toMatchObject({
      status: 206,
      text: '234',
    });
    expect((await api.ask('GET', '/', { headers: { Accept: 'text/html,*/*;q=0.8' } })).text).toContain('the app');
    expect((await api.ask('GET', '/app/any/where')).text).toContain('the app');
    writeFileSync(api.fleet.path('www/secret'), 'secret');
    for (const path of [
      '../secret',
      '%2e%2e/secret',
      '..%2fsecret',
      '%2e%2e%2f%2e%2e%2fetc/master',
      './/../secret',
      '..\\secret',
      'app.js%00.txt',
      '/etc/passwd',
      '',
    ]) {
      const reply = await api.ask('GET', `/static/${path}`);
      expect([403, 404], path).toContain(reply.status);
      expect(reply.text).not.toContain('secret"');
    }
  });

  it('other origins read answers, but do not use the cookie', async () => {
    const origin = { Origin: 'http://evil.example' };
    const read = await api.ask('GET', '/', { headers: origin });
    expect(read.headers['access-control-allow-origin']).toBe('http://evil.example');
    expect(read.headers['access-control-allow-credentials']).toBeUndefined();
    const preflight = await api.ask('OPTIONS', '/login', {
      headers: { ...origin, 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight).toMatchObject({ status: 200, headers: { 'access-control-allow-methods': 'GET, POST' } });
    const cookie = { Cookie: `session_id=${ann}` };
    const chunk = { client: 'local', tgt: 'm1', fun: 'test.ping' };
    expect((await api.ask('POST', '/', { json: chunk, headers: { ...cookie, ...origin } })).status).toBe(403);
    expect(
      (await api.ask('POST', '/', { json: chunk, headers: { ...cookie, 'Sec-Fetch-Site': 'cross-site' } })).status,
    ).toBe(403);
    expect(
      (await api.ask('POST', '/', { json: chunk, headers: { ...cookie, Origin: `http://127.0.0.1:${api.port}` } }))
        .status,
    ).toBe(200);
  });
});

it('returners and executors are for those who may run everything', async () => {
  const ping = { client: 'local', tgt: 'm1', fun: 'test.ping' };
  const file = api.fleet.path('returned');
  const written = { ...ping, ret: 'rawfile_json', ret_kwargs: { filename: file } };
  for (const more of [{ ret: 'rawfile_json' }, { module_executors: ['direct_call'] }, { executor_opts: { a: 1 } }])
    expect(await api.run(await api.login('limited'), { ...ping, ...more })).toMatchObject({
      status: 401,
      json: { return: 'Authorization error occurred.' },
    });
  expect((await api.run(ann, { ...ping, module_executors: ['direct_call'] })).json).toEqual({ return: [{ m1: true }] });
  expect((await api.run(ann, written)).json).toEqual({ return: [{ m1: true }] });
  await eventually('the result in the file', () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ id: 'm1', fun: 'test.ping', return: true });
});

it('writes no token and no password to its log', () => {
  const log = readFileSync(api.fleet.path('log/api.out'), 'utf8');
  for (const secret of [ann, fred, 'of all']) expect(log).not.toContain(secret);
});
