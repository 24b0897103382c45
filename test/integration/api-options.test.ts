// Options of the API and forms of its answers: other APIs in front of the same master, each with options of its own.
import { createHmac, type X509Certificate } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeFrame, opcodes, WsReader } from '../../src/protocol/wire/ws/codec.ts';
import { ApiFleet, type SecondApi } from '../support/api.ts';
import { runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let api: ApiFleet;
let other: SecondApi;
let ann: string;
const secret = 'of the hook';
beforeAll(async () => {
  api = await ApiFleet.start();
  // Its user may not create files in the folder.
  await runProgram('install', ['-o', 'nobody', '/dev/null', api.fleet.path('log/access')]);
  other = await api.second([
    ...['disable_ssl: True', 'root_prefix: /salt', 'log_access_file: "@ROOT@/log/access"', 'collect_stats: True'],
    ...['webhook_disable_auth: True', 'cors_origin: ["https://gui.example"]', 'trusted_proxies: [127.0.0.1]'],
    `webhook_secrets: {/github: {header: X-Hub-Signature-256, secret: ${secret}, type: hmac-sha256}}`,
    'api_acl: {users: {ann: ["*"], "*": ["192.0.2.0/24"]}}',
  ]);
  ann = await api.login('ann');
});
afterAll(async () => {
  await other?.stop();
  await api?.fleet.destroy();
});

const ping = { client: 'local', tgt: 'm1', fun: 'test.ping' };

describe('answers', () => {
  it('are compressed when the client asks for it and they are worth it', async () => {
    const large = { client: 'local', tgt: 'm1', fun: 'test.echo', arg: ['x'.repeat(5_000)] };
    for (const [accepted, coding, unpack] of [
      ['gzip, deflate', 'gzip', gunzipSync],
      ['gzip, br', 'br', brotliDecompressSync],
      ['gzip;q=0, *', 'br', brotliDecompressSync],
    ] as const) {
      const reply = await api.ask('POST', '/', { token: ann, json: large, headers: { 'Accept-Encoding': accepted } });
      expect(reply.headers).toMatchObject({
        'content-encoding': coding,
        vary: expect.stringContaining('Accept-Encoding'),
      });
      expect(Number(reply.headers['content-length'])).toBeLessThan(1_000);
      expect(JSON.parse(unpack(Buffer.from(reply.text, 'latin1')).toString()).return[0].m1).toHaveLength(5_000);
    }
    for (const [json, accepted] of [
      [large, 'identity'],
      [large, 'gzip;q=0'],
      [ping, 'gzip'],
    ] as const) {
      const reply = await api.ask('POST', '/', { token: ann, json, headers: { 'Accept-Encoding': accepted } });
      expect(reply.headers['content-encoding']).toBeUndefined();
      expect(reply.json.return[0].m1).toBeTruthy();
    }
  });

  it('of errors: JSON, YAML, or a page for a browser', async () => {
    const ask = (accept: string) => api.ask('GET', '/nope<b>', { headers: { Accept: accept } });
    expect((await ask('application/json')).json).toEqual({
      status: 404,
      return: "The path '/nope<b>' was not found.",
      request: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect((await ask('application/x-yaml')).text).toContain('status: 404');
    const page = await ask('text/html,application/xhtml+xml,*/*;q=0.8');
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.text).toContain('The path &#39;/nope&#60;b&#62;&#39; was not found.');
  });

  it('of HEAD have no body, and those of unknown methods name the right ones', async () => {
    const head = await api.ask('HEAD', '/stats', { token: ann });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(10);
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      expect(await api.ask(method, '/', {})).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, POST' } });
  });

  it('of a runner that takes too long name its job', async () => {
    const late = await api.run(ann, { client: 'runner', fun: 'test.sleep', arg: ['20'], timeout: 1 });
    expect(late).toMatchObject({ status: 504, json: { hint: expect.stringMatching(/job \d{20}/) } });
  });
});

describe('the first complaint about a call', () => {
  const run = async (chunk: object): Promise<string> => (await api.ask('POST', '/run', { json: chunk })).json.return;
  it('is about the token, then the client, then missing credentials', async () => {
    expect(await run({ client: 'zzz', token: '../x' })).toBe('Invalid token');
    expect(await run({ client: 'zzz' })).toBe("Invalid client specified: 'zzz'");
    expect(await run({ client: 'ssh' })).toContain("Client disabled: 'ssh'");
    expect(await run({ client: 'local' })).toBe('No authentication credentials given');
    // The token of the request counts on `/`, and no other.
    expect((await api.run(ann, { ...ping, token: '../x' })).json).toEqual({ return: [{ m1: true }] });
  });
});

describe('options', () => {
  it('root_prefix: everything is below it', async () => {
    expect((await other.api.ask('GET', '/')).status).toBe(404);
    expect((await other.api.ask('GET', '/saltx/')).status).toBe(404);
    expect((await other.api.ask('GET', '/salt')).json.return).toBe('Welcome');
    const chunk = { ...ping, fun: 'test.echo', arg: ['x'] };
    const { json } = await other.api.ask('POST', '/salt/minions', { token: ann, json: chunk });
    expect(json._links.jobs[0].href).toMatch(/^\/jobs\/\d{20}$/);
  });

  it('api_acl: who may log in from where', async () => {
    const login = (username: string, from: string) =>
      other.api.ask('POST', '/salt/login', {
        json: { username, password: 'of all', eauth: 'sharedsecret' },
        headers: { 'X-Forwarded-For': from },
      });
    expect((await login('ann', '203.0.113.9')).status).toBe(200);
    expect((await login('fred', '192.0.2.9')).status).toBe(200);
    expect((await login('fred', '203.0.113.9')).status).toBe(401);
    const { headers } = await login('ann', '203.0.113.9');
    expect(headers['set-cookie']?.[0]).toContain('Path=/salt;');
  });

  it('cors_origin: the pages of a list, with the cookie, and no others', async () => {
    const cookie = { Cookie: `session_id=${ann}` };
    const post = (origin: string) =>
      other.api.ask('POST', '/salt/', { json: ping, headers: { ...cookie, Origin: origin } });
    const listed = await post('https://gui.example');
    expect(listed).toMatchObject({ status: 200, headers: { 'access-control-allow-credentials': 'true' } });
    const foreign = await post('https://evil.example');
    expect(foreign.status).toBe(403);
    for (const method of ['OPTIONS', 'GET']) {
      const { headers } = await other.api.ask(method, '/salt/', { headers: { Origin: 'https://evil.example' } });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('webhook_secrets: only with the right signature', async () => {
    const body = '{"action": "push"}';
    const sign = (key: string): string => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
    const post = (path: string, signature?: string) =>
      other.api.ask('POST', `/salt/hook/${path}`, {
        text: body,
        headers: {
          'Content-Type': 'application/json',
          ...(signature === undefined ? {} : { 'X-Hub-Signature-256': signature }),
        },
      });
    for (const wrong of [
      undefined,
      '',
      'sha256=',
      sign('another'),
      sign(secret).slice(0, -2),
      `sha256=${'zz'.repeat(32)}`,
    ]) {
      expect((await post('github', wrong)).status, String(wrong)).toBe(401);
      expect((await post('github/sub', wrong)).status).toBe(401);
    }
    expect((await post('github/sub', sign(secret))).json).toEqual({ success: true });
    expect((await post('others')).json).toEqual({ success: true });
  });

  it('collect_stats: the form of the applications', async () => {
    const { json } = await other.api.ask('GET', '/salt/stats', { token: ann });
    const found = json['CherryPy Applications'];
    expect(found).toMatchObject({ Enabled: true, Requests: {}, 'Slow Queries': [] });
    expect(found['Total Requests']).toBeGreaterThan(0);
    expect(found['Total Bytes Written']).toBeGreaterThan(0);
  });

  it('log_access_file: a line for each request, without tokens and without forged lines', async () => {
    const log = (): string => readFileSync(api.fleet.path('log/access'), 'utf8');
    await other.api.ask('GET', `/salt/events?token=${ann}`, { headers: { 'User-Agent': 'evil" \\x1b[2J' } });
    await other.api.ask('GET', `/salt/ws/${ann}?x=1`);
    await eventually('the lines', () => log().includes('/salt/ws/…'));
    expect(log()).not.toContain(ann);
    expect(log()).toMatch(
      /^127\.0\.0\.1 - - \[\d\d\/[A-Z][a-z]{2}\/\d{4}:[\d:]{8} \+0000\] "GET \/salt\/events\?token=… HTTP\/1\.1" \d{3} \d+ "-" "evil\\" \\\\x1b\[2J"$/m,
    );
    expect(log()).toMatch(/ - ann \[/);
    renameSync(api.fleet.path('log/access'), api.fleet.path('log/access.1'));
    await runProgram('install', ['-o', 'nobody', '/dev/null', api.fleet.path('log/access')]);
    process.kill(other.pid, 'SIGHUP');
    await eventually('the new file', async () => {
      await other.api.ask('GET', '/salt');
      return log().includes('GET /salt HTTP/1.1');
    });
  });
});

it('wrong passwords do not take the places of calls', async () => {
  const { api: small, stop } = await api.second(['disable_ssl: True', 'thread_pool: 1', 'socket_queue_size: 0']);
  let failing = 6;
  const wrong = { username: 'nobody', password: 'wrong', eauth: 'sharedsecret' };
  const paths = ['/login', '/token', '/halite/v1/session'];
  const logins = Array.from({ length: failing }, async (_, at) => {
    const { status } = await small.ask('POST', paths[at % paths.length]!, { json: wrong });
    failing -= 1;
    return status;
  });
  for (let done = 0; failing > 0 || done === 0; done++)
    expect((await small.run(ann, ping)).json).toEqual({ return: [{ m1: true }] });
  for (const status of await Promise.all(logins)) expect([401, 429]).toContain(status);
  await stop();
});

describe('TLS', () => {
  async function certificate(name: string): Promise<void> {
    const files = ['-keyout', api.fleet.path('new.key'), '-out', api.fleet.path('new.crt')];
    const made = await runProgram('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', `/CN=${name}`, ...files],
    ]);
    expect(made.code, made.stderr).toBe(0);
    chmodSync(api.fleet.path('new.key'), 0o644);
    for (const kind of ['key', 'crt']) renameSync(api.fleet.path(`new.${kind}`), api.fleet.path(`tls.${kind}`));
  }
  const nameAt = (port: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request(
        { port, host: '127.0.0.1', path: '/', rejectUnauthorized: false, agent: false },
        (answer) => {
          const found = (answer.socket as TLSSocket).getPeerX509Certificate() as X509Certificate;
          answer.resume().on('end', () => resolve(found.subject));
        },
      );
      sent.on('error', reject).end();
    });

  it('takes a renewed certificate, not a broken one, and speaks no plain HTTP', async () => {
    await certificate('first');
    const files = [`ssl_crt: ${api.fleet.path('tls.crt')}`, `ssl_key: ${api.fleet.path('tls.key')}`];
    const {
      api: tls,
      pid,
      stop,
    } = await api.second([...files, 'enable_sessions: False', 'authorized_ips: [127.0.0.0/8]']);
    expect(await nameAt(tls.port)).toBe('CN=first');
    await certificate('second');
    process.kill(pid, 'SIGHUP');
    await eventually('the new certificate', async () => (await nameAt(tls.port)) === 'CN=second');
    await runProgram('sh', ['-c', `echo broken > '${api.fleet.path('tls.crt')}'`]);
    process.kill(pid, 'SIGHUP');
    await eventually('the complaint', () =>
      readFileSync(api.fleet.path(`log/api-${tls.port}`), 'utf8').includes('cannot be read again'),
    );
    expect(await nameAt(tls.port)).toBe('CN=second');
    expect(await tls.raw('GET / HTTP/1.1\r\nHost: x\r\n\r\n')).not.toContain('Welcome');
    await stop();
  });

  it('enable_sessions: False has no cookie and none of four paths; authorized_ips refuses others', async () => {
    const { api: plain, stop } = await api.second(['disable_ssl: True', 'enable_sessions: False']);
    for (const path of ['/login', '/logout', '/minions', '/jobs'])
      expect((await plain.ask('POST', path, { token: ann, json: {} })).status, path).toBe(404);
    expect((await plain.ask('GET', '/stats', { headers: { Cookie: `session_id=${ann}` } })).status).toBe(401);
    expect((await plain.run(ann, ping)).json).toEqual({ return: [{ m1: true }] });
    await stop();
    const { api: closed, stop: end } = await api.second(['disable_ssl: True', 'authorized_ips: [192.0.2.1]']);
    expect(await closed.ask('GET', '/')).toMatchObject({ status: 403, json: { return: 'Bad IP' } });
    await end();
  });
});

it('/ws?format_events tells jobs and minions as they are', async () => {
  const socket = connect(api.port, '127.0.0.1');
  const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n';
  socket.write(`GET /ws?format_events HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${ann}\r\n${upgrade}\r\n`);
  const reader = new WsReader(1 << 22, false);
  const texts: string[] = [];
  let begun = false;
  socket.on('data', (chunk: Buffer) => {
    const end = begun ? 0 : chunk.indexOf('\r\n\r\n') + 4;
    begun = true;
    for (const { opcode, data } of reader.feed(chunk.subarray(end)))
      if (opcode === opcodes.text) texts.push(data.toString());
  });
  await eventually('the handshake', () => begun);
  socket.write(encodeFrame(opcodes.text, Buffer.from('websocket client ready'), true));
  await eventually('the answer', () => texts.includes('server received message'));
  const { jid } = (await api.run(ann, { client: 'local_async', tgt: '*', fun: 'grains.items' })).json.return[0];
  type Seen = {
    jobs?: Record<string, { state: string; minions: Record<string, { success: boolean }> }>;
    minions?: { id: string }[];
  };
  const seen = (): Seen[] => texts.flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as Seen] : []));
  await eventually('the job to be complete', () => seen().some(({ jobs }) => jobs?.[jid]?.state === 'complete'));
  expect(seen().findLast(({ jobs }) => jobs?.[jid])?.jobs?.[jid]).toMatchObject({
    ...{ jid, fun: 'grains.items', tgt: '*', tgt_type: 'glob', state: 'complete' },
    minions: { m1: { success: true, retcode: 0, return: { id: 'm1' } }, m2: { success: true } },
  });
  await eventually('the minions', () => seen().some(({ minions }) => minions?.length === 2));
  expect(seen().findLast(({ minions }) => minions)?.minions).toEqual(
    expect.arrayContaining([expect.objectContaining({ id: 'm1', grains: expect.objectContaining({ id: 'm1' }) })]),
  );
  socket.destroy();
});

describe('what is wrong with a request', () => {
  it('is said before how the answer would have looked', async () => {
    const headers = { Accept: 'text/html' };
    const login = (password: string) =>
      api.ask('POST', '/login', { json: { username: 'ann', password, eauth: 'sharedsecret' }, headers });
    const { length: before } = readdirSync(api.fleet.path('cache/master/tokens'));
    expect([(await login('no')).status, (await login('of all')).status]).toEqual([401, 406]);
    expect(readdirSync(api.fleet.path('cache/master/tokens'))).toHaveLength(before);
    const asked = (token: string | undefined, text: string) =>
      api.ask('POST', '/', {
        ...(token ? { token } : {}),
        ...{ text, headers: { ...headers, 'Content-Type': 'application/json' } },
      });
    const statuses = [await asked(undefined, '{}'), await asked(ann, '{'), await asked(ann, JSON.stringify(ping))];
    expect(statuses.map(({ status }) => status)).toEqual([401, 400, 406]);
  });

  it.each([
    ['a number as the client', { client: 3 }, "Invalid client specified: '3'"],
    ['a list as the client', { client: ['local'] }, "Invalid client specified: '['local']'"],
    [
      'an empty batch',
      { client: 'local_batch', tgt: '*', fun: 'test.ping', batch: '0%' },
      /^Invalid batch specification '0%'/,
    ],
    ['no name of a runner', { client: 'runner', fun: '' }, 'Must specify a function to run!\nex: manage.up'],
    ['no function for runner_async', { client: 'runner_async' }, 'runner_async takes at least 1 argument (0 given)'],
  ])('is named: %s', async (_, json, text) => {
    const reply = await api.run(ann, json);
    expect([reply.status, reply.json.return]).toEqual([
      400,
      typeof text === 'string' ? text : expect.stringMatching(text),
    ]);
  });

  it('is the method before the token at /events, and a part too many at /keys', async () => {
    expect((await api.ask('PUT', '/events', { json: {} })).status).toBe(405);
    expect((await api.ask('POST', '/keys/m1', { json: {} })).status).toBe(404);
  });

  it('is a time that is no number, from a user who may choose it', async () => {
    const login = (username: string, token_expire: unknown) =>
      api.ask('POST', '/login', { json: { username, password: 'of all', eauth: 'sharedsecret', token_expire } });
    expect([(await login('fred', 60)).status, (await login('fred', 'soon')).status]).toEqual([200, 401]);
    expect((await login('limited', 'soon')).status).toBe(200);
  });
});

describe('chunks as Salt reads them', () => {
  it('have keys that are arguments of a runner, and others that are not', async () => {
    const chunk = {
      client: 'runner',
      fun: 'test.arg',
      a: 1,
      user: 'root',
      key: 'k',
      print_event: false,
      password: 'x',
    };
    expect((await api.run(ann, chunk)).json.return[0].kwargs).toEqual({ a: 1, print_event: false });
  });

  it('fails a wheel function with an argument that it does not have, except match', async () => {
    const listed = async (more: object) =>
      (await api.run(ann, { client: 'wheel', fun: 'key.list_all', ...more })).json.return[0].data;
    expect((await listed({ match: '*' })).success).toBe(true);
    expect(await listed({ colour: 'red' })).toMatchObject({
      success: false,
      return: expect.stringContaining('colour'),
    });
  });

  it('the keys of the master are among those that a pattern fits, and a weak key is refused', async () => {
    const { json } = await api.ask('GET', '/keys/*', { token: ann });
    expect(Object.keys(json.return)).toEqual(['local', 'minions']);
    expect((await api.ask('GET', '/keys/m1', { token: ann })).json.return).toEqual({ minions: expect.any(Object) });
    for (const keysize of [512, 'x']) {
      const body = { mid: 'new1', keysize, username: 'ann', password: 'of all', eauth: 'sharedsecret' };
      expect((await api.ask('POST', '/keys', { json: body })).status).toBe(400);
    }
  });

  it('every text asks for the whole return, and a percent sign may stand for itself', async () => {
    const text = 'client=local&tgt=m1&fun=test.echo&arg=%zz&full_return=false';
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const { json } = await api.ask('POST', '/', { token: ann, text, headers });
    expect(json.return[0].m1).toMatchObject({ ret: '%zz', retcode: 0 });
  });

  it('a list of names without keys matches nobody, one among others is a minion without an answer', async () => {
    const asked = async (tgt: string, tgt_type: string, client = 'local') =>
      (await api.run(ann, { ...ping, client, tgt, tgt_type })).json.return;
    expect(await asked('gone', 'list')).toEqual([{}]);
    expect(await asked('gone', 'list', 'local_async')).toEqual([{}]);
    expect(await asked('L@gone,m1', 'compound')).toEqual([{ gone: false, m1: true }]);
  });
});
