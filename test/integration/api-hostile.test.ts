// salt-api against strangers, hijackers and accidents: with real daemons, over real connections.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pack } from '../../src/base/codec/msgpack/index.ts';
import { ApiFleet } from '../support/api.ts';
import { halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { askAs, type Fields } from '../support/users.ts';

let api: ApiFleet;
let ann: string;
let fred: string;
beforeAll(async () => {
  api = await ApiFleet.start(['webhook_disable_auth: True', 'login_throttle: False']);
  [ann, fred] = await Promise.all([api.login('ann'), api.login('fred')]);
});
afterAll(async () => {
  await api?.fleet.destroy();
});

const ping = { client: 'local', tgt: 'm1', fun: 'test.ping' };
const tokenFiles = (): string[] => readdirSync(api.fleet.path('cache/master/tokens'));
const works = async (): Promise<void> => expect((await api.run(ann, ping)).json).toEqual({ return: [{ m1: true }] });

describe('bodies', () => {
  it('of wrong types, too deep, too many and too large are refused with a sentence', async () => {
    const json = { 'Content-Type': 'application/json' };
    const cases: [number, string, Record<string, string>][] = [
      [400, '{', json],
      [400, 'null', json],
      [400, '{}', json],
      [400, '"text"', json],
      [400, '[1]', json],
      [400, '[[]]', json],
      [400, '{"client": {"a": 1}}', json],
      [400, '{"client": "__proto__", "tgt": "*", "fun": "test.ping"}', json],
      [400, '{"client": "constructor"}', json],
      [400, '{"client": "destroy"}', json],
      [
        400,
        '{"client": "ssh", "tgt": "*", "fun": "test.ping", "ssh_priv": "x|id", "roster_file": "/etc/passwd"}',
        json,
      ],
      [400, '{"client": "local", "tgt": "m1", "fun": 5}', json],
      [400, '{"client": "local", "tgt": "m1", "fun": ["test.ping", ""]}', json],
      [400, '{"client": "local", "tgt": "nope", "tgt_type": "nodegroup", "fun": "test.ping"}', json],
      [400, '{"client": "local_batch", "tgt": "m1", "fun": "test.ping", "batch": "-1"}', json],
      [400, '{"client": "local_subset", "tgt": "m1", "fun": "test.ping", "subset": 0}', json],
      [400, '{"client": "runner", "fun": "__proto__.constructor"}', json],
      [400, '{"client": "runner", "fun": "a.b.c"}', json],
      [400, '{"client": "wheel", "fun": ["key.list_all"]}', json],
      [401, '{"client": "local", "tgt": "m1", "fun": "test.ping", "raw_shell": true}', json],
      [400, `${'['.repeat(100_000)}${']'.repeat(100_000)}`, json],
      [400, `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, json],
      [400, JSON.stringify(Array.from({ length: 10_001 }, () => ({}))), json],
      [400, `[${'1,'.repeat(250_000)}1]`, json],
      [413, `"${'x'.repeat(1_100_000)}"`, json],
      [400, 'a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n', { 'Content-Type': 'application/x-yaml' }],
      [
        400,
        `a: &a ["x","x","x","x","x","x","x","x","x"]\n${'bcdefghi'
          .split('')
          .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`).join(',')}]`)
          .join('\n')}`,
        { 'Content-Type': 'application/x-yaml' },
      ],
      [400, '!!python/object/apply:os.system ["id"]', { 'Content-Type': 'application/x-yaml' }],
      [400, '\xff\xfe', json],
      [400, 'client=%zz', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      [406, '--x--', { 'Content-Type': 'multipart/form-data; boundary=x' }],
      [415, '{}', { ...json, 'Content-Encoding': 'gzip' }],
    ];
    for (const [status, body, headers] of cases) {
      const bytes = body.startsWith('\xff') ? undefined : body;
      const reply =
        bytes === undefined
          ? await api
              .raw(
                `POST / HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${ann}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 4\r\n\r\n\xff\xfe`,
              )
              .then((text) => ({ status: Number(text.split(' ')[1]), json: { return: 'x' }, text }))
          : await api.ask('POST', '/', { token: ann, text: bytes, headers });
      expect(reply.status, `${body.slice(0, 90)} → ${reply.text.slice(0, 200)}`).toBe(status);
      expect(typeof reply.json?.return, body.slice(0, 90)).toBe('string');
    }
    await works();
  });

  it('with a mistake in the target match nobody, as in Salt, once the token is known', async () => {
    const compounds = ['E@(((', '( m1', 'm1 and', 'm1 m2', 'X@m1', 'S@x', 'not'];
    const targets: [unknown, unknown][] = [
      ...compounds.map((tgt): [unknown, unknown] => [tgt, 'compound']),
      ['(', 'pcre'],
      ['x', 'range'],
      ['300.1.1.1', 'ipcidr'],
      ['role:(', 'grain_pcre'],
      ['m1', '__proto__'],
      ['m1', ['glob']],
      ['m1', null],
      [5, 'glob'],
      [{ m1: 1 }, 'glob'],
      [[], 'list'],
      ['', 'glob'],
    ];
    for (const [tgt, tgt_type] of targets) {
      const ask = (client: string) => api.run(ann, { ...ping, client, tgt, tgt_type });
      expect((await ask('local')).json, JSON.stringify([tgt, tgt_type])).toEqual({ return: [{}] });
      expect((await ask('local_batch')).json).toEqual({ return: [] });
      const chunk = { ...ping, tgt, tgt_type, token: '0'.repeat(64) };
      expect((await api.ask('POST', '/run', { json: chunk })).status).toBe(401);
    }
    expect((await api.run(ann, { ...ping, client: 'local_async', tgt: '(', tgt_type: 'pcre' })).json.return).toEqual([
      {},
    ]);
  });

  it('with names of prototypes change nothing', async () => {
    const text =
      '{"client": "local", "tgt": "m1", "fun": "test.arg", "kwarg": {"__proto__": {"polluted": 1}, "constructor": 2}}';
    const { json } = await api.ask('POST', '/', { token: ann, text, headers: { 'Content-Type': 'application/json' } });
    expect(json.return[0].m1.kwargs.constructor).toBe(2);
    await works();
  });
});

describe('tokens', () => {
  it('that are no tokens touch no file, and all fail alike', async () => {
    const before = tokenFiles();
    for (const token of [
      '../../etc/passwd',
      '/etc/passwd',
      '%00',
      'zz',
      '0'.repeat(64),
      'A'.repeat(64),
      'a'.repeat(8000),
    ]) {
      const header = await api.ask('POST', '/', { token, json: ping });
      expect(header, token.slice(0, 20)).toMatchObject({
        status: 401,
        json: { return: 'No permission -- see authorization schemes' },
      });
      expect((await api.ask('POST', '/run', { json: { ...ping, token } })).status).toBe(401);
    }
    for (const token of [null, 5, [], {}, ['a'], true])
      expect((await api.ask('POST', '/run', { json: { ...ping, token } })).json.return).toBe('Invalid token');
    expect(tokenFiles()).toEqual(before);
  });

  it('that are expired, revoked or stolen from others give nothing', async () => {
    const { json } = await api.ask('POST', '/token', {
      json: { username: 'fred', password: 'of all', eauth: 'sharedsecret', token_expire: 1 },
    });
    const [{ token, expire }] = json;
    await eventually('the token to expire', () => Date.now() / 1000 > expire);
    expect((await api.run(token, ping)).status).toBe(401);
    expect(tokenFiles()).not.toContain(token);
    const dead = await api.login('fred');
    await api.ask('POST', '/logout', { token: dead });
    expect((await api.run(dead, ping)).status).toBe(401);
    // A header beats the cookie, and a wrong one is not replaced by it.
    const both = await api.ask('POST', '/', { json: ping, token: dead, headers: { Cookie: `session_id=${ann}` } });
    expect(both.status).toBe(401);
    expect((await api.ask('GET', `/stats?token=${ann}`)).status).toBe(401);
  });

  it('no login by swapped patterns, unset secrets or injected parts', async () => {
    for (const [username, password, eauth] of [
      ['*', 'of all', 'file'],
      ['.*', 'pw', 'file'],
      ['ops1|root', 'pw', 'file'],
      ['^filename', 'pw', 'file'],
      ['ann', null, 'sharedsecret'],
      ['ann', 0, 'sharedsecret'],
      ['ann', [], 'sharedsecret'],
      ['ann', '', 'sharedsecret'],
      [{ $ne: 1 }, 'of all', 'sharedsecret'],
      ['ann', 'of all', '__proto__'],
      ['ann', 'of all', 'pki'],
      ['ann\r\nX: y', 'of all', 'nope'],
    ])
      expect((await api.ask('POST', '/login', { json: { username, password, eauth } })).status, String(username)).toBe(
        401,
      );
  });
});

describe('connections', () => {
  it('that smuggle, inject and lie about lengths are refused', async () => {
    const head = `Host: x\r\nX-Auth-Token: ${ann}\r\nContent-Type: application/json\r\n`;
    const inner = `GET /stats HTTP/1.1\r\n${head}\r\n`;
    for (const text of [
      `POST / HTTP/1.1\r\n${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `POST / HTTP/1.1\r\n${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef`,
      `POST / HTTP/1.1\r\n${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
      `POST / HTTP/1.1\r\n${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
      `GET / HTTP/1.1\r\n${'X-A: b\r\n'.repeat(5_000)}\r\n`,
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    ]) {
      const answer = await api.raw(text);
      expect(answer, text.slice(0, 80)).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
      expect(answer).not.toContain('Halite HTTPServer');
    }
    const injected = await api.raw(
      'GET /nope%0d%0aSet-Cookie:%20a=b HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\nConnection: close\r\n\r\n',
    );
    expect(injected).toMatch(/^HTTP\/1\.1 404/);
    expect(injected).not.toMatch(/^Set-Cookie/im);
    await works();
  });

  it('that are slow do not hold others up', async () => {
    const slow = Array.from({ length: 100 }, () => connect(api.port, '127.0.0.1'));
    let closed = 0;
    for (const socket of slow) {
      socket.on('error', () => undefined).on('close', () => closed++);
      socket.resume();
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Le');
    }
    await works();
    await eventually('slow connections to be closed', () => closed === slow.length);
    await works();
  });

  it('hooks: control characters and endless paths', async () => {
    for (const path of ['/hook/a%0d%0ab', `/hook/${'x'.repeat(200)}`, `/hook${'/a'.repeat(40)}`, '/hook/a%00b'])
      expect([400, 404], path).toContain((await api.ask('POST', path, { json: {} })).status);
    expect((await api.ask('POST', '/hook/open', { json: {} })).status).toBe(200);
  });
});

describe('a hijacked process of the API', () => {
  it('gets nothing from the socket without the token of somebody', async () => {
    const { fleet } = api;
    const hookKey = readFileSync(fleet.path('cache/master/.api_hook_key'), 'utf8');
    const nothing = { items: [], error: expect.stringContaining('Authentication failure') };
    const publish = { tgt: 'm1', tgt_type: 'glob', fun: 'test.ping', arg: [] };
    const callers: Fields[] = [
      {},
      { user: 'root' },
      { user: 'nobody' },
      { user: 'root', key: hookKey },
      { hook_key: hookKey },
      { token: hookKey },
    ];
    const calls: [string, Fields][] = [
      ['publish', publish],
      ['runner', { fun: 'manage.up' }],
      ['wheel', { fun: 'key.list_all' }],
      ['events', {}],
      ['preview', { tgt: '*' }],
      ['keys-changed', { changes: [], rotate: true }],
    ];
    for (const who of callers)
      for (const [verb, args] of calls)
        expect(await askAs(fleet, verb, { ...who, ...args }), `${verb} ${Object.keys(who)}`).toEqual(nothing);
    expect(await askAs(fleet, 'hook', { path: 'x', data: {} })).toEqual(nothing);
    // The key for hooks fires below its tag, and nowhere else.
    for (const path of ['../../job', 'a//b', 'x\ny'])
      expect(
        (await askAs(fleet, 'hook', { hook_key: hookKey, path, data: {} })).items.length === 0 || path === '../../job',
      ).toBe(true);
    expect(
      await askAs(fleet, 'runner', {
        token: fred,
        fun: 'salt.cmd',
        arg: ['cmd.run', 'id'],
        detached: true,
        known: true,
      }),
    ).toMatchObject({ items: [] });
  });

  it('cannot read the keys of the master as its own user', () => {
    const read = (path: string) => spawnSync('/bin/cat', [api.fleet.path(path)], { uid: 65_534, gid: 65_534 }).status;
    expect(read('cache/master/.root_key')).not.toBe(0);
    expect(read('etc/pki/master/master.pem')).not.toBe(0);
    expect(read('cache/master/.api_hook_key')).toBe(0);
    for (const token of tokenFiles()) expect(read(`cache/master/tokens/${token}`)).not.toBe(0);
  });

  it('and frames that are no calls do not harm the master', async () => {
    const socket = connect(api.fleet.path('run/master/halite.ipc'));
    socket.on('error', () => undefined);
    const body = pack([1, 'call', 'events', { token: 'x'.repeat(10_000), since: {} }]);
    const frame = Buffer.alloc(4 + body.length);
    frame.writeUInt32BE(body.length);
    body.copy(frame, 4);
    socket.write(Buffer.concat([frame, Buffer.from([0xff, 0xff, 0xff, 0xff])]));
    await eventually('the connection to be closed', () => socket.destroyed);
    await works();
  });
});

describe('faults', () => {
  it('the API is killed: tokens live on, the job was run once', async () => {
    const mark = api.fleet.path('once');
    const hanging = api
      .run(ann, {
        client: 'local',
        tgt: 'm1',
        fun: 'cmd.run',
        arg: [`echo x >> ${mark}; until test -e ${mark}.go; do sleep 0.1; done`],
      })
      .catch((error: Error) => error.message);
    await eventually('the job to begin', () => spawnSync('test', ['-s', mark]).status === 0);
    const pid = Number(readFileSync(api.fleet.path('run/api.pid'), 'utf8'));
    process.kill(pid, 'SIGKILL');
    expect(await hanging).toMatch(/hang up|ECONNRESET|aborted/);
    await api.fleet.startApi();
    writeFileSync(`${mark}.go`, '');
    await works();
    expect(readFileSync(mark, 'utf8')).toBe('x\n');
  });

  it('the master is killed: 503 until it is back, streams continue, tokens live on', async () => {
    const reader = api.events(ann);
    await eventually('the stream to begin', () => reader.begun);
    const hanging = api.run(ann, { client: 'local', tgt: 'm1', fun: 'test.sleep', arg: [20] });
    await eventually('the job to be announced', () => reader.records.some(({ tag }) => tag.endsWith('/new')));
    await api.fleet.master.stop('SIGKILL');
    expect(await hanging).toMatchObject({ status: 503, json: { return: 'Salt Master is not available.' } });
    expect((await api.run(ann, ping)).status).toBe(503);
    expect(
      (await api.ask('POST', '/login', { json: { username: 'ann', password: 'of all', eauth: 'sharedsecret' } }))
        .status,
    ).toBe(503);
    await api.fleet.startMaster();
    await api.fleet.answering('m1', 'm2');
    await works();
    await eventually('the stream to say that something is missing', () =>
      reader.records.some(({ tag }) => tag === 'halite/events/gap'),
    );
    const { jid } = (await api.run(ann, { ...ping, client: 'local_async' })).json.return[0];
    await eventually('an event of the new master', () =>
      reader.records.some(({ tag }) => tag === `salt/job/${jid}/ret/m1`),
    );
    expect(reader.ended).toBe(false);
    reader.close();
  });
});

describe('load', () => {
  it('200 streams of events get what is theirs, and no more are accepted', async () => {
    const users = Array.from({ length: 13 }, (_, at) => `reader${at}`);
    // Any name may log in there; what it may see is a matter of rules.
    const logins = await Promise.all(
      users.map((username) => api.ask('POST', '/login', { json: { username, password: 'x', eauth: 'auto' } })),
    );
    const tokens = logins.map(({ json }) => json.return[0].token as string);
    const readers = Array.from({ length: 199 }, (_, at) => api.events(tokens[at % tokens.length]!));
    const own = api.events(ann);
    await eventually('all streams to begin', () => [own, ...readers].every(({ begun }) => begun), {
      timeoutMs: 120_000,
    });
    expect((await api.ask('GET', '/events', { token: fred })).status).toBe(503);
    const started = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        api.run(ann, { client: 'local', tgt: 'm1', fun: 'test.echo', arg: [String(at)], full_return: true }),
      ),
    );
    const jids = started.map(({ json }) => json.return[0].m1.jid as string);
    await eventually('all results in the stream', () =>
      jids.every((jid) => own.records.some(({ tag }) => tag === `salt/job/${jid}/ret/m1`)),
    );
    // They have no rules: nothing of others reaches them.
    for (const reader of readers) expect(reader.records).toEqual([]);
    for (const reader of [own, ...readers]) reader.close();
    await eventually(
      'the places to be free',
      async () => (await api.ask('GET', '/stats', { token: ann })).json['Halite HTTPServer']['Event Streams'] === 0,
    );
    expect(spawnSync(`${halite.bin}/salt`, ['-c', api.fleet.masterConfigDir, 'm1', 'test.ping']).status).toBe(0);
  });
});

it('refuses to start without its options, and says which', () => {
  const run = (lines: string): { status: number | null; stderr: string } => {
    writeFileSync(
      api.fleet.path('etc/master.d/api.conf'),
      `api_pidfile: ${api.fleet.path('run/other.pid')}\napi_logfile: ${api.fleet.path('log/other')}\n${lines}`,
    );
    const { status, stderr } = spawnSync(`${halite.bin}/salt-api`, ['-c', api.fleet.masterConfigDir], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    return { status, stderr };
  };
  expect(run('')).toMatchObject({
    stderr: expect.stringContaining('Did not find any netapi configurations, nothing to start'),
  });
  expect(run('rest_cherrypy: {port: 8000}\n').stderr).toContain("Options 'ssl_crt' and 'ssl_key' are required");
  const broken = run('rest_cherrypy: {port: many, disable_ssl: True}\n');
  expect(broken.stderr).toContain('rest_cherrypy: port must be a number');
  expect(broken.status).not.toBe(0);
});
