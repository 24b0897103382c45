// pepper as people use it: real commands against salt-api, over restarts, with TLS, and its library.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFleet } from '../support/api.ts';
import { type CommandResult, runProgram } from '../support/deployment.ts';
import { pepperBin, pepperVersions } from '../support/pepper.ts';
import { isMissing } from '../support/prepared.ts';
import { usersConfig } from '../support/users.ts';

let api: ApiFleet;
let service: Server;
beforeAll(async () => {
  service = createServer((request, response) => {
    let form = '';
    request.on('data', (chunk: Buffer) => {
      form += chunk.toString();
    });
    request.on('end', () => {
      const accepted = form.includes('username=rita') && form.includes('password=pw');
      response.writeHead(accepted ? 200 : 401).end(accepted ? '["test.*"]' : '');
    });
  });
  await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
  const { port } = service.address() as AddressInfo;
  api = await ApiFleet.start([]);
  // The master reads it at its next start.
  const rest = `  rest:\n    ^url: http://127.0.0.1:${port}/check\n`;
  writeFileSync(
    api.fleet.path('etc/master.d/eauth.conf'),
    usersConfig(api.fleet.root).replace('  auto:\n', `${rest}  auto:\n`),
  );
  await api.fleet.master.stop();
  await api.fleet.startMaster();
  await api.fleet.answering('m1', 'm2');
});
afterAll(async () => {
  service?.close();
  await api?.fleet.destroy();
});

describe.each(pepperVersions)('pepper %s', (version) => {
  const bin = pepperBin(version);
  if (!bin) {
    it.skip('is not prepared', () => isMissing(`pepper ${version}`));
    return;
  }
  const home = (): string => {
    const folder = api.fleet.path(`home-${version}`);
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  const login = (user = 'ann', password = 'of all', eauth = 'sharedsecret') => ({
    SALTAPI_URL: `http://127.0.0.1:${api.port}/`,
    SALTAPI_USER: user,
    SALTAPI_PASS: password,
    SALTAPI_EAUTH: eauth,
  });
  const pepper = (args: string[], env: Record<string, string> = login()): Promise<CommandResult> =>
    runProgram(join(bin, 'pepper'), args, {
      env: { HOME: home(), ...env },
    });
  const answer = async (args: string[], env?: Record<string, string>) => {
    const { stdout, stderr, code } = await pepper(args, env);
    expect(code, stdout + stderr).toBe(0);
    return JSON.parse(stdout).return[0];
  };
  /** 0.5.5 does not ask for whole answers. */
  const value = (found: unknown): unknown =>
    found !== null && typeof found === 'object' && 'ret' in found ? found.ret : found;

  it('logs in with every module that can be had here', async () => {
    const logins = [
      ['sharedsecret', 'ann', 'of all'],
      ['file', 'ops1', 'pw'],
      ['auto', 'late', 'anything'],
      ['rest', 'rita', 'pw'],
    ] as const;
    const found = await Promise.all(logins.map(([eauth, ...who]) => answer(['m1', 'test.ping'], login(...who, eauth))));
    expect(found.map(({ m1 }) => value(m1))).toEqual([true, true, true, true]);
  });

  it('is refused with a wrong password, and without the right', async () => {
    const wrong = await pepper(['m1', 'test.ping'], login('ann', 'wrong'));
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('Authentication denied') });
    expect(await pepper(['m2', 'test.ping'], login('fred'))).toMatchObject({ code: 1 });
  });

  it('targets with every letter', async () => {
    const targets: [string[], string[]][] = [
      [['m*'], ['m1', 'm2']],
      [['-E', 'm(1|9)'], ['m1']],
      [
        ['-L', 'm1,m2'],
        ['m1', 'm2'],
      ],
      [['-G', 'role:web'], ['m1']],
      [['--grain-pcre', 'role:w.b'], ['m1']],
      [['-I', 'class:gold'], ['m1']],
      [['--pillar-pcre', 'class:g.*'], ['m1']],
      [['-N', 'mine'], ['m1']],
      [['-C', 'm* and not G@role:web'], ['m2']],
    ];
    const asked = async ([target, ids]: (typeof targets)[number]): Promise<void> =>
      expect(Object.keys(await answer([...target, 'test.ping'])).sort(), target.join(' ')).toEqual(ids);
    await Promise.all(targets.map(asked));
  });

  it('passes arguments, and runs runners and wheel functions', async () => {
    const args = await answer(['m1', 'test.arg', '1', 'a=b']);
    expect(value(args.m1)).toMatchObject({ args: ['1'], kwargs: { a: 'b' } });
    const ran = await answer(['--client', 'runner', 'test.arg', 'x', 'colour=red']);
    // 0.7.6 asks for the whole event.
    expect(ran.data?.return ?? ran).toMatchObject({ kwargs: { colour: 'red' } });
    const keys = await answer(['--client', 'wheel', 'key.list_all']);
    expect(keys.data.return.minions).toEqual(['m1', 'm2']);
  });

  it('runs batches', async () => {
    const { stdout, code } = await pepper(['*', 'test.ping', '--client', 'local_batch', '--batch', '1']);
    if (version === '0.5.5' && code !== 0) return;
    const ids = JSON.parse(stdout).return.flatMap((item: object) => Object.keys(item));
    expect(ids.sort()).toEqual(['m1', 'm2']);
  });

  it('-r sends its token in each call', async () => {
    const found = await answer(['-r', 'm1', 'test.ping']);
    expect(value(found.m1)).toBe(true);
  });

  it('reads .pepperrc', async () => {
    const lines = ['[main]', `SALTAPI_URL=http://127.0.0.1:${api.port}/`];
    lines.push('SALTAPI_USER=ann', 'SALTAPI_PASS=of all', 'SALTAPI_EAUTH=sharedsecret', '');
    writeFileSync(join(home(), '.pepperrc'), lines.join('\n'));
    const found = await answer(['m1', 'test.ping'], {});
    expect(value(found.m1)).toBe(true);
  });

  it('-T keeps a token that outlives both daemons', async () => {
    const cache = join(home(), 'token');
    await answer(['-T', '-x', cache, 'm1', 'test.ping']);
    expect(statSync(cache).mode & 0o077).toBe(0);
    const { token } = JSON.parse(readFileSync(cache, 'utf8'));
    await api.fleet.master.stop('SIGKILL');
    process.kill(Number(readFileSync(api.fleet.path('run/api.pid'), 'utf8')), 'SIGKILL');
    await api.fleet.startMaster();
    await api.fleet.startApi();
    await api.fleet.answering('m1', 'm2');
    // The password is wrong now: only the token can have opened it.
    const found = await answer(['-T', '-x', cache, 'm1', 'test.ping'], login('ann', 'wrong'));
    expect(value(found.m1)).toBe(true);
    expect(JSON.parse(readFileSync(cache, 'utf8')).token).toBe(token);
  });

  it('--fail-if-incomplete waits for all minions, and names those that are missing', async () => {
    const all = await pepper(['--fail-if-incomplete', '*', 'test.ping']);
    expect(all.code, all.stdout + all.stderr).toBe(0);
    const admin = await api.login('ann');
    await api.run(admin, { client: 'wheel', fun: 'key.gen_accept', id_: 'away' });
    const some = await pepper(['--fail-if-incomplete', '-t', '2', '*', 'test.ping']);
    expect(some.code).not.toBe(0);
    expect(some.stdout + some.stderr).toContain('away');
    await api.run(admin, { client: 'wheel', fun: 'key.delete', match: 'away' });
  });

  it('--json sends calls as they are written', async () => {
    const { stdout, code } = await pepper([
      '--json',
      '[{"client": "local", "tgt": "m1", "fun": "test.echo", "arg": ["x"]}]',
    ]);
    if (version === '0.5.5' && code !== 0) return;
    expect(value(JSON.parse(stdout).return[0].m1)).toBe('x');
  });

  it('speaks TLS', async () => {
    const [crt, key] = [api.fleet.path('tls.crt'), api.fleet.path('tls.key')];
    const made = await runProgram('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', crt],
    ]);
    expect(made.code, made.stderr).toBe(0);
    await runProgram('chown', ['nobody', key, crt]);
    const { api: tls, stop } = await api.second([`ssl_crt: ${crt}`, `ssl_key: ${key}`]);
    const url = { SALTAPI_URL: `https://127.0.0.1:${tls.port}/` };
    const found = await answer(['--ignore-ssl-errors', 'm1', 'test.ping'], { ...login(), ...url });
    expect(value(found.m1)).toBe(true);
    await stop();
  });

  it('its library asks, and reads events', async () => {
    const program = [
      'import json, pepper',
      `client = pepper.Pepper("http://127.0.0.1:${api.port}/")`,
      'client.login("ann", "of all", "sharedsecret")',
      'print(json.dumps(client.local("m1", "test.ping")))',
      'print(json.dumps(client.req_get("/keys")))',
      'print(next(client.req_stream("/events").iter_lines()).decode())',
    ];
    const { stdout, stderr, code } = await runProgram(join(bin, 'python'), ['-c', program.join('\n')]);
    expect(code, stderr).toBe(0);
    const [ping = '', keys = '', first] = stdout.split('\n');
    expect(JSON.parse(ping).return[0].m1).toBe(true);
    expect(JSON.parse(keys).return.minions).toEqual(['m1', 'm2']);
    expect(first).toBe('retry: 400');
  });
});
