// Returners of services that are not available here, against a local server that checks every request.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { nextJid, openForTest, someReturn } from '../support/returner-suite.ts';
import { type Recorder, startRecorder } from '../support/servers/recorder.ts';
import { selfSigned } from '../support/servers/smtp.ts';

let server: Recorder;
beforeAll(async () => {
  server = await startRecorder();
});
afterAll(async () => server.stop());
beforeEach(() => {
  server.answer(() => undefined);
  server.take();
});
const form = (body: string) => Object.fromEntries(new URLSearchParams(body));
const text = (jid: string, returned: string) =>
  `id: web1\r\nfunction: test.ping\r\nfunction args: []\r\njid: ${jid}\r\nreturn: ${returned}\r\n`;
const states = {
  'file_|-motd_|-/etc/motd_|-managed': {
    ...{ result: true, changes: { diff: '+' }, duration: 1500, __run_num__: 1, __id__: 'motd', __sls__: 'web' },
  },
  'pkg_|-vim_|-vim_|-installed': {
    result: false,
    changes: {},
    duration: 20,
    __run_num__: 0,
    __id__: 'vim',
    __sls__: 'web',
  },
  'test_|-ok_|-ok_|-nop': { result: true, changes: {}, duration: 1, __run_num__: 2, __id__: 'ok', __sls__: 'web' },
};

describe('chat services', () => {
  it('slack', async () => {
    server.answer(() => [200, '{"ok": true}']);
    const jid = nextJid();
    const opts = {
      slack: { profile: 'work', channel: '#ops', username: 'salt', as_user: true, api_url: server.url },
      work: { 'slack.api_key': 'xoxb-1' },
    };
    const session = await openForTest('slack', opts);
    await session.save(someReturn(jid, 'web1', { return: { b: 1, a: 'ü' } }));
    const [request] = server.take();
    expect(request).toMatchObject({ method: 'POST', path: '/api/chat.postMessage' });
    expect(request!.headers).toMatchObject({
      authorization: 'Bearer xoxb-1',
      'content-type': 'application/x-www-form-urlencoded',
    });
    const fields = { channel: '#ops', username: 'salt', as_user: 'True' };
    expect(form(request!.body)).toEqual({ ...fields, text: `\`\`\`${text(jid, "{'a': 'ü', 'b': 1}")}\`\`\`` });

    const brief = await openForTest('slack', { ...opts, slack: { ...opts.slack, changes: true, yaml_format: true } });
    await brief.save(someReturn(jid, 'web1', { fun: 'state.apply', return: states }));
    const message = form(server.take()[0]!.body)['text']!;
    expect(message).toContain('pkg_|-vim_|-vim_|-installed:\n');
    expect(message).not.toContain('test_|-ok');

    server.answer(() => [200, '{"ok": false, "error": "channel_not_found"}']);
    await expect(session.save(someReturn(jid, 'web1'))).rejects.toThrow('slack refused the message: channel_not_found');
  });

  it('slack_webhook', async () => {
    server.answer(() => [200, 'ok']);
    const jid = nextJid();
    const opts = { slack_webhook: { webhook: `${server.url}/services/T0/B0/XX`, show_tasks: true } };
    const session = await openForTest('slack_webhook', opts);
    const failed = { fun: 'state.apply', fun_args: ['web'], return: states, retcode: 2 };
    await session.save(someReturn(jid, 'web1', failed));
    const [request] = server.take();
    expect(request).toMatchObject({ method: 'POST', path: '/services/T0/B0/XX' });
    const state = { short: false };
    expect(JSON.parse(form(request!.body)['payload']!)).toEqual({
      attachments: [
        {
          ...{ fallback: 'suite-master | Failed', color: '#272727', author_name: 'suite-master' },
          ...{ author_link: '', author_icon: '', title: 'Success: False' },
          text: `Function: state.apply\nFunction Args: ['web']\nJID: ${jid}\nTotal: 3\nDuration: 1.52 secs`,
        },
        { color: 'good', title: 'Unchanged: 1' },
        { color: 'warning', title: 'Changed: 1', fields: [{ value: 'web.sls | motd', ...state }] },
        { color: 'danger', title: 'Failed: 1', fields: [{ value: 'web.sls | vim', ...state }] },
      ],
    });
    const event = someReturn(jid, 'db1', { return: 'hello' });
    await session.saveEvents!([
      { tag: `salt/job/${jid}/ret/db1`, data: event },
      { tag: 'salt/auth', data: { id: 'db1', act: 'accept' } },
    ]);
    const [sent, ...more] = server.take().map(({ body }) => JSON.parse(form(body)['payload']!));
    expect(more).toEqual([]);
    expect(sent.attachments[0]).toMatchObject({ author_name: 'db1', title: 'Success: True' });
    expect(sent.attachments[1]).toEqual({ color: 'good', title: 'Return: hello' });
  });

  it('mattermost', async () => {
    const jid = nextJid();
    const opts = { mattermost: { hook: 'peWc', api_url: server.url, channel: 'town', username: 'salt' } };
    const session = await openForTest('mattermost', opts);
    await session.save(someReturn(jid, 'web1', { return: 'a&b=c' }));
    await session.saveEvents!([{ tag: 'salt/key', data: { id: 'db1', act: 'accept' } }]);
    const requests = server.take();
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /hooks/peWc', 'POST /hooks/peWc']);
    const payloads = requests.map(({ body }) => JSON.parse(form(body)['payload']!));
    expect(payloads).toEqual([
      { channel: 'town', username: 'salt', text: `\`\`\`${text(jid, 'a&b=c')}\`\`\`` },
      { channel: 'town', username: 'salt', text: '```tag: salt/key\r\nid: db1\r\nact: accept\r\n```' },
    ]);
  });

  it('telegram', async () => {
    server.answer(() => [200, '{"ok": true}']);
    const jid = nextJid();
    const opts = { 'telegram.chat_id': 4711, 'telegram.token': '000:xyz', 'telegram.api_url': server.url };
    const session = await openForTest('telegram', opts);
    await session.save(someReturn(jid, 'web1'));
    await session.save(someReturn(jid, 'web1', { return: 'x'.repeat(9000) }));
    const [first, long] = server.take();
    expect(first).toMatchObject({ method: 'POST', path: '/bot000:xyz/sendMessage' });
    expect(form(first!.body)).toEqual({ chat_id: '4711', text: text(jid, 'True') });
    expect(form(long!.body)['text']).toHaveLength(4096);
    server.answer(() => [401, '{"ok": false, "description": "bad token 000:xyz"}']);
    const said = await session.save(someReturn(jid, 'web1')).then(String, (error: Error) => error.message);
    expect(said).toBe(
      `telegram at 127.0.0.1:${server.port} answered 401: {"ok": false, "description": "bad token ***"}`,
    );
  });

  it('pushover', async () => {
    server.answer(() => [200, '{"status": 1}']);
    const jid = nextJid();
    const pushover = {
      user: 'u1',
      profile: 'push',
      title: 'Salt',
      priority: 2,
      expire: 60,
      retry: 30,
      api_url: server.url,
    };
    const session = await openForTest('pushover', { pushover, push: { 'pushover.token': 't1' } });
    await session.save(someReturn(jid, 'web1'));
    const [request] = server.take();
    expect(request).toMatchObject({ method: 'POST', path: '/1/messages.json' });
    const fields = { user: 'u1', token: 't1', title: 'Salt', priority: '2', expire: '60', retry: '30' };
    expect(form(request!.body)).toEqual({ ...fields, message: text(jid, 'True') });
    server.answer(() => [400, '{"status": 0, "errors": ["user identifier is invalid"]}']);
    await expect(session.save(someReturn(jid, 'web1'))).rejects.toThrow('user identifier is invalid');
    await expect(openForTest('pushover', { pushover: { user: 'u', token: 't', priority: 2 } })).rejects.toThrow(
      'Priority 2',
    );
  });

  it('hipchat', async () => {
    const jid = nextJid();
    const hipchat = { room_id: 'Ops', api_key: 'k1', from_name: 'salt', api_url: server.url, notify: true };
    await (await openForTest('hipchat', { hipchat })).save(someReturn(jid, 'web1'));
    await (await openForTest('hipchat', { hipchat: { ...hipchat, api_version: 'v2' } })).save(someReturn(jid, 'web1'));
    const [v1, v2] = server.take();
    expect(v1).toMatchObject({ method: 'POST', path: '/v1/rooms/message?format=json&auth_token=k1' });
    const fields = { from: 'salt', message: text(jid, 'True'), message_format: 'text', color: 'yellow' };
    expect(form(v1!.body)).toEqual({ room_id: 'Ops', ...fields, notify: '1' });
    expect(v2).toMatchObject({
      method: 'POST',
      path: '/v2/room/Ops/notification',
      headers: { authorization: 'Bearer k1' },
    });
    expect(JSON.parse(v2!.body)).toEqual({ ...fields, notify: true });
  });
});

describe('webhook', () => {
  it('sends JSON with headers and a signature', async () => {
    const jid = nextJid();
    const webhook = { url: `${server.url}/in?x=1`, headers: { 'X-Team': 'ops' }, secret: 'geheim', method: 'put' };
    const session = await openForTest('webhook', { webhook });
    await session.save(someReturn(jid, 'web1', { return: 'ü' }));
    await session.save(someReturn(jid, 'web1', { return: 'ü' }));
    await session.saveEvents!([{ tag: 'salt/key', data: { id: 'db1' } }]);
    const [first, again, event] = server.take();
    expect(first).toMatchObject({ method: 'PUT', path: '/in?x=1' });
    expect(JSON.parse(first!.body)).toMatchObject({ id: 'web1', jid, return: 'ü' });
    const signature = `sha256=${createHmac('sha256', 'geheim').update(first!.body).digest('hex')}`;
    expect(first!.headers).toMatchObject({
      'x-team': 'ops',
      'x-halite-signature': signature,
      'content-type': 'application/json',
    });
    expect(again!.headers['idempotency-key']).toBe(first!.headers['idempotency-key']);
    expect(event!.headers['idempotency-key']).not.toBe(first!.headers['idempotency-key']);
    expect(JSON.parse(event!.body)).toEqual({ tag: 'salt/key', data: { id: 'db1' } });
  });

  it('fills in a template and tries again', async () => {
    const answers: (readonly [number, string?])[] = [[503, 'busy'], [200]];
    server.answer(() => answers.shift());
    const webhook = {
      url: `http://u:pass%21word@127.0.0.1:${server.port}/`,
      body: '{{ id }} ran {{ fun }}',
      content_type: 'text/plain',
    };
    const session = await openForTest('webhook', { webhook });
    await session.save(someReturn(nextJid(), 'web1'));
    const requests = server.take();
    expect(requests.map(({ body }) => body)).toEqual(['web1 ran test.ping', 'web1 ran test.ping']);
    expect(requests[0]!.headers['authorization']).toBe(`Basic ${Buffer.from('u:pass!word').toString('base64')}`);
    server.answer(() => [403, 'pass!word is wrong']);
    const said = await session.save(someReturn(nextJid(), 'web1')).then(String, (error: Error) => error.message);
    expect(said).toBe(`webhook at 127.0.0.1:${server.port} answered 403: *** is wrong`);
    expect(server.take()).toHaveLength(1);
  });

  it('reports an unreachable server, in time', async () => {
    const gone = await openForTest('webhook', { webhook: { url: 'http://127.0.0.1:1/secret', retries: 0 } });
    const said = await gone.save(someReturn(nextJid(), 'web1')).then(String, (error: Error) => error.message);
    expect(said).toBe('webhook at 127.0.0.1:1 cannot be reached: connect ECONNREFUSED 127.0.0.1:1');
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const slow = await openForTest('webhook', {
      webhook: { url: `http://127.0.0.1:${port}/`, retries: 0, timeout: 0.2 },
    });
    await expect(slow.save(someReturn(nextJid(), 'web1'))).rejects.toThrow('no answer within 0.2 seconds');
    silent.close();
    await expect(openForTest('webhook', { webhook: { url: 'x', method: 'GET' } })).rejects.toThrow(
      'POST, PUT or PATCH',
    );
    const wrong = await openForTest('webhook', { webhook: { url: 'ftp://user:geheim@host/' } });
    const refused = await wrong.save(someReturn(nextJid(), 'web1')).then(String, (error: Error) => error.message);
    expect(refused).toBe('The address of webhook is not an http or https address');
  });
});

describe('splunk', () => {
  it('sends results and events over an encrypted connection', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'halite-tls-'));
    const certificate = selfSigned(folder);
    const secure = await startRecorder(certificate);
    try {
      const jid = nextJid();
      const given = { token: 'tok-1', indexer: `127.0.0.1:${secure.port}`, sourcetype: 'salt', index: 'main' };
      const careful = await openForTest('splunk', { splunk_http_forwarder: given });
      await expect(careful.save(someReturn(jid, 'web1'))).rejects.toThrow('self-signed certificate');
      for (const verify_ssl of [false, certificate.cert]) {
        const session = await openForTest('splunk', { splunk_http_forwarder: { ...given, verify_ssl } });
        await session.save(someReturn(jid, 'web1'));
        await session.saveEvents!([
          { tag: 'a', data: { n: 1 } },
          { tag: 'b', data: { n: 2 } },
        ]);
        const [result, events] = secure.take();
        expect(result).toMatchObject({
          method: 'POST',
          path: '/services/collector/event',
          headers: { authorization: 'Splunk tok-1' },
        });
        const frame = { index: 'main', sourcetype: 'salt', host: hostname(), time: expect.stringMatching(/^\d{10}$/) };
        expect(JSON.parse(result!.body)).toEqual({ ...frame, event: { ...someReturn(jid, 'web1') } });
        const sent = events!.body.split('\n').map((line) => JSON.parse(line));
        expect(sent[1]).toEqual({ ...frame, event: { tag: 'b', data: { n: 2 } } });
      }
    } finally {
      await secure.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
