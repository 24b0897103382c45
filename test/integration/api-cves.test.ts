// What were vulnerabilities of Salt's API and its authentication, each as it was used. Those of PAM, LDAP, MySQL and OIDC
// are with their servers: test/backends/auth-*.test.ts.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Value } from '../../src/base/codec/value.ts';
import { encodeFrame, opcodes } from '../../src/protocol/wire/ws/codec.ts';
import { ApiFleet, type EventReader } from '../support/api.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { as, askAs } from '../support/users.ts';

const flood = Number(process.env['HALITE_API_FLOOD'] ?? 1_000);

let api: ApiFleet;
let ann: string;
let fred: string;
let nobody: string;
let bus: EventReader;
beforeAll(async () => {
  api = await ApiFleet.start(['trusted_proxies: [127.0.0.1]', 'static: "@ROOT@/www/static"']);
  [ann, fred, nobody] = await Promise.all([api.login('ann'), api.login('fred'), api.login('nobody')]);
  bus = api.events(ann);
  await eventually('the stream to begin', () => bus.begun);
});
afterAll(async () => {
  bus?.close();
  await api?.fleet.destroy();
});

const ping = { client: 'local', tgt: 'm1', fun: 'test.ping' };
const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
const apiPid = (): number => Number(readFileSync(api.fleet.path('run/api.pid'), 'utf8'));
const announced = (fun: string): number => bus.records.filter(({ data }) => data.fun === fun && data.minions).length;
/** After this job, everything that was published before it has been heard. */
async function heardAll(): Promise<void> {
  const { jid } = (await api.run(ann, { ...ping, client: 'local_async' })).json.return[0];
  await eventually('the bus to be read', () => bus.records.some(({ tag }) => tag === `salt/job/${jid}/new`));
}

describe('CVE-2016-3176: keys of a login that reach the module', () => {
  it('change nothing', async () => {
    const login = { username: 'ann', password: 'of all', eauth: 'sharedsecret' };
    const more = {
      service: 'x',
      'auth.pam.service': 'x',
      sharedsecret: 'y',
      user: 'root',
      groups: ['root'],
      name: 'root',
    };
    const { status, json } = await api.ask('POST', '/login', { json: { ...login, ...more } });
    expect(status).toBe(200);
    expect(json.return[0]).toMatchObject({ user: 'ann', perms: ['.*', '@runner', '@wheel'] });
    const wrong = await api.ask('POST', '/login', { json: { ...login, password: 'y', ...more } });
    expect(wrong.status).toBe(401);
  });
});

describe('CVE-2017-5192, -5200, CVE-2020-25592, CVE-2021-25281: clients that did not ask who calls', () => {
  const call = { tgt: '*', fun: 'test.fib', arg: [3] };
  const clients: [string, object][] = [
    ...['local', 'local_async', 'local_batch', 'local_subset'].map((client): [string, object] => [
      client,
      { ...call, client },
    ]),
    ...['runner', 'runner_async'].map((client): [string, object] => [
      client,
      { client, fun: 'salt.cmd', arg: ['test.fib', 3] },
    ]),
    ...['wheel', 'wheel_async'].map((client): [string, object] => [client, { client, fun: 'key.delete', match: 'm1' }]),
  ];
  it.each(clients)('%s', async (_name, chunk) => {
    const wrong = { username: 'ann', password: 'no', eauth: 'sharedsecret' };
    for (const who of [{}, { token: '0'.repeat(64) }, { token: nobody }, wrong])
      expect((await api.ask('POST', '/run', { json: { ...chunk, ...who } })).status, JSON.stringify(who)).toBe(401);
    expect((await api.ask('POST', '/', { json: chunk })).status).toBe(401);
    expect((await api.run(nobody, chunk)).status).toBe(401);
    await heardAll();
    expect(announced('test.fib')).toBe(0);
    expect(existsSync(api.fleet.path('etc/pki/master/minions/m1'))).toBe(true);
  });

  it('ssh, with options that ran programs on the master (CVE-2020-16846, CVE-2021-3197, -3148)', async () => {
    const mark = api.fleet.path('ssh-ran');
    const options = {
      ssh_priv: `x|touch ${mark}`,
      ssh_options: [`ProxyCommand=touch ${mark}`],
      roster_file: '/etc/passwd',
    };
    const chunk = { client: 'ssh', tgt: 'localhost', fun: 'test.ping', ...options };
    for (const token of [ann, nobody]) expect([400, 401]).toContain((await api.run(token, chunk)).status);
    expect((await api.ask('POST', '/run', { json: chunk })).status).toBeGreaterThanOrEqual(400);
    expect(existsSync(mark)).toBe(false);
  });
});

describe('CVE-2020-11652: files outside the folders of the master', () => {
  it.each<[string, object]>([
    ['file_roots.write', { data: 'x', path: '../../../evil' }],
    ['file_roots.write', { data: 'x', path: '/evil' }],
    ['pillar_roots.write', { data: 'x', path: '../../evil' }],
    ['config.update_config', { file_name: '../../evil', yaml_contents: { a: 1 } }],
    ['key.gen_accept', { id_: '../../evil' }],
    ['key.accept', { match: '../../evil' }],
  ])('%s %j', async (fun, more) => {
    const before = readdirSync(api.fleet.root);
    const { status, json } = await api.run(ann, { client: 'wheel', fun, ...more });
    const written = String(status === 200 ? json.return[0].data.return : json.return);
    expect(readdirSync(api.fleet.root), written).toEqual(before);
    for (const place of ['etc', 'srv', 'srv/salt', 'srv/pillar', 'etc/pki', 'etc/pki/master'])
      expect(readdirSync(api.fleet.path(place)).filter((name) => name.startsWith('evil'))).toEqual([]);
  });
});

describe('CVE-2022-22941: a target that matches nobody, for a user with a rule for some minions', () => {
  it.each(['nope*', 'm1 and m2', 'G@role:none'])('%s', async (tgt) => {
    for (const client of ['local', 'local_async', 'local_batch']) {
      const { status } = await api.run(fred, { client, tgt, tgt_type: 'compound', fun: 'test.ping' });
      expect(status).toBe(401);
    }
  });
});

describe('CVE-2024-38825 and logins that compare nothing with nothing', () => {
  it('a certificate is no password', async () => {
    const crt = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
    const login = { username: 'ann', password: crt, eauth: 'pki' };
    expect((await api.ask('POST', '/login', { json: login })).status).toBe(401);
  });

  it('an unset shared secret opens nothing', async () => {
    const other = await Deployment.create();
    try {
      writeFileSync(
        other.path('etc/master.d/eauth.conf'),
        'external_auth: {sharedsecret: {ann: [.*]}, file: {ann: [.*]}}\n',
      );
      await other.startMaster();
      const passwords: Value[] = [null, '', 0, [], {}, false, 'None'];
      const asked = passwords.flatMap((password) =>
        ['sharedsecret', 'file'].map((module) => as('ann', password, module)),
      );
      const answers = await Promise.all(asked.map((login) => askAs(other, 'login', login)));
      for (const { items, error } of answers)
        expect([items, error]).toEqual([[], expect.stringContaining('Authentication failure')]);
    } finally {
      await other.destroy();
    }
  });
});

describe('floods', () => {
  it(`${flood} wrong passwords: throttled, memory does not grow, other addresses still log in`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 24 });
    const login = (username: string, from: string, password = 'wrong'): Promise<number> =>
      new Promise((resolve, reject) => {
        const body = JSON.stringify({ username, password, eauth: 'sharedsecret' });
        const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': from, 'Content-Length': body.length };
        const sent = request(
          { port: api.port, host: '127.0.0.1', method: 'POST', path: '/login', agent, headers },
          (answer) => {
            answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
          },
        );
        sent.on('error', reject).end(body);
      });
    const before = [rssOf(apiPid()), rssOf(api.fleet.master.pid)];
    const counts = new Map<number, number>();
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < flood) {
        const at = next++;
        const status = await login(`name${at % 50}`, '192.0.2.1');
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 24 }, work));
    expect(counts.get(429) ?? 0).toBeGreaterThan(flood / 2);
    expect((counts.get(429) ?? 0) + (counts.get(401) ?? 0)).toBe(flood);
    const grown = [rssOf(apiPid()), rssOf(api.fleet.master.pid)].map((now, at) => now - before[at]!);
    for (const megabytes of grown) expect(megabytes).toBeLessThan(96);
    expect(await login('ann', '198.51.100.7', 'of all')).toBe(200);
    // Tokens are not touched by any of it.
    expect((await api.run(fred, ping)).status).toBe(200);
    agent.destroy();
  });

  it('hundreds of idle readers of events: as many as are allowed, the others are told so, everybody else is served', async () => {
    const sockets = Array.from({ length: 400 }, (_each, at) => {
      const socket = connect(api.port, '127.0.0.1');
      const token = [ann, fred, nobody][at % 3]!;
      let answer = '';
      socket
        .on('error', () => undefined)
        .on('data', (chunk: Buffer) => {
          answer += chunk.toString('latin1').slice(0, 64);
        });
      socket.write(`GET /events HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${token}\r\n\r\n`);
      return { socket, status: () => Number(answer.split(' ')[1] ?? 0) };
    });
    await eventually('all to be answered', () => sockets.every(({ status }) => status() > 0));
    const count = (wanted: number): number => sockets.filter(({ status }) => status() === wanted).length;
    // 16 for each of three users, one of which has a stream already.
    expect(count(200)).toBe(47);
    expect(count(200) + count(429) + count(503)).toBe(sockets.length);
    expect((await api.run(fred, ping)).json).toEqual({ return: [{ m1: true }] });
    for (const { socket } of sockets) socket.destroy();
    const key = 'Halite HTTPServer';
    const streams = async (): Promise<number> =>
      (await api.ask('GET', '/stats', { token: ann })).json[key]['Event Streams'];
    await eventually('their places to be free', async () => (await streams()) === 1);
  });

  it('half-closed connections get their answer, and end', async () => {
    const body = JSON.stringify(ping);
    const socket = connect({ port: api.port, host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    let closed = false;
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.on('close', () => {
      closed = true;
    });
    socket.on('end', () => socket.end());
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${ann}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually('the end', () => closed, { describe: () => answer });
    expect(answer).toContain('{"return": [{"m1": true}]}');
  });

  it('a request of many calls ends with its client', async () => {
    const chunks = JSON.stringify(
      Array.from({ length: 10_000 }, () => ({ ...ping, fun: 'test.echo', arg: ['of many'] })),
    );
    const socket = connect(api.port, '127.0.0.1');
    socket.on('error', () => undefined);
    const before = bus.records.length;
    const calls = (): number => bus.records.slice(before).filter(({ tag }) => tag.endsWith('/new')).length;
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${ann}\r\nContent-Type: application/json\r\nContent-Length: ${chunks.length}\r\n\r\n${chunks}`,
    );
    await eventually('a few of them to run', () => calls() >= 3);
    socket.destroy();
    await eventually('the call to be forgotten', async () => {
      const { json } = await api.ask('GET', '/stats', { token: ann });
      return json['Halite HTTPServer']['Current Requests'] <= 2;
    });
    await heardAll();
    const after = calls();
    expect(after).toBeLessThan(5_000);
    await heardAll();
    expect(calls()).toBe(after + 1);
  });

  it('WebSocket frames of 100 MB are refused by their length, before they come', async () => {
    const before = rssOf(apiPid());
    const socket = connect(api.port, '127.0.0.1');
    let answer = Buffer.alloc(0);
    let closed = false;
    socket
      .on('error', () => undefined)
      .on('close', () => {
        closed = true;
      });
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
    });
    const upgrade =
      'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n';
    socket.write(`GET /ws HTTP/1.1\r\nHost: x\r\nX-Auth-Token: ${ann}\r\n${upgrade}\r\n`);
    await eventually('the handshake', () => answer.includes('101 Switching'));
    const whole = encodeFrame(opcodes.text, Buffer.alloc(64), true);
    const head = Buffer.alloc(14);
    head[0] = whole[0]!;
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(100_000_000n, 2);
    socket.write(head);
    const piece = Buffer.alloc(1024 * 1024);
    for (let sent = 0; sent < 20 && !closed; sent++) socket.write(piece);
    await eventually('the connection to be closed', () => closed);
    expect(rssOf(apiPid()) - before).toBeLessThan(64);
    expect((await api.run(fred, ping)).status).toBe(200);
  });

  it('ranges of all kinds cost no more than the file', async () => {
    const many = Array.from({ length: 1_000 }, (_each, at) => `${at % 10}-`).join(',');
    for (const [range, statuses] of [
      [`bytes=${many}`, [200, 416]],
      ['bytes=5-2', [416, 200]],
      ['bytes=-0', [416, 200]],
      ['bytes=99999999999999-', [416]],
      ['bytes=0-99999999999999', [206]],
      ['bytes=-99999999999999', [206]],
      ['rows=1-2', [200]],
    ] as const) {
      const { status, text } = await api.ask('GET', '/static/app.js', { headers: { Range: range } });
      expect([...statuses], range.slice(0, 40)).toContain(status);
      expect(text.length, range.slice(0, 40)).toBeLessThanOrEqual(10);
    }
  });
});
