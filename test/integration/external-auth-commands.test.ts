// External authentication in the commands and on the request port.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Request } from 'zeromq';
import { pack, unpack } from '../../src/base/codec/msgpack/index.ts';
import { isDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { type CommandResult, type Deployment, halite, runProgram } from '../support/deployment.ts';
import { as, type Fields, startUsers } from '../support/users.ts';

let fleet: Deployment;
beforeAll(async () => {
  fleet = await startUsers();
});
afterAll(async () => {
  await fleet?.destroy();
});

const tokens = (): string[] => readdirSync(fleet.path('cache/master/tokens'));

describe('the commands', () => {
  /** An account of every Linux system, with a home of its own. */
  const nobody = { uid: 65_534, gid: 65_534 };
  const home = (): string => fleet.path('home');
  const asNobody = (command: string, args: string[], env: NodeJS.ProcessEnv = {}): CommandResult => {
    const { status, stdout, stderr } = spawnSync(join(halite.bin, command), ['-c', fleet.masterConfigDir, ...args], {
      ...nobody,
      encoding: 'utf8',
      cwd: '/',
      env: { ...process.env, HOME: home(), NO_COLOR: '1', ...env },
      timeout: 60_000,
    });
    return { stdout, stderr, code: status };
  };
  beforeAll(() => {
    chmodSync(fleet.root, 0o755);
    mkdirSync(home(), { mode: 0o777 });
    chmodSync(home(), 0o777);
  });

  const given = ['--username', 'fred', '--password', 'of all'];

  it('salt -a, and a warning about the password', async () => {
    const { stdout, stderr, code } = await fleet.salt('-a', 'sharedsecret', ...given, 'm1', 'test.ping', '--out=json');
    expect(JSON.parse(stdout)).toEqual({ m1: true });
    expect(stderr).toContain('can be seen by every user');
    expect(code).toBe(0);
  });

  it('salt without a key: password from the environment, from standard input, and refusals with their codes', async () => {
    const env = { SALT_EAUTH_PASSWORD: 'of all' };
    const user = ['-a', 'sharedsecret', '--username', 'fred'];
    expect(asNobody('salt', [...user, 'm1', 'test.ping', '--out=json'], env)).toMatchObject({ code: 0, stderr: '' });
    const denied = asNobody('salt', [...user, '*', 'test.ping'], env);
    expect(denied).toMatchObject({ code: 77 });
    expect(denied.stderr).toContain('Authorization error occurred.');
    const failed = asNobody('salt', [...user, 'm1', 'test.ping'], { SALT_EAUTH_PASSWORD: 'wrong' });
    expect(failed).toMatchObject({ code: 2 });
    expect(failed.stderr).toContain('Authentication failure of type "eauth" occurred for user fred.');
    const typed = await runProgram(
      join(halite.bin, 'salt'),
      ['-c', fleet.masterConfigDir, '-a', 'sharedsecret', 'm1', 'test.ping'],
      { input: 'fred\nof all\n' },
    );
    expect(typed).toMatchObject({ code: 0 });
  });

  it('an unknown system', async () => {
    const { stdout, stderr, code } = await fleet.salt('-a', 'wizard', 'm1', 'test.ping');
    expect(stdout).toContain('The specified external authentication system "wizard" is not available');
    expect(stdout).toMatch(/Available eauth types: auto, .*file.*sharedsecret/);
    expect(stderr).toContain('ERROR: Authentication failed');
    expect(code).toBe(2);
  });

  it('-T stores a token that later commands use, but not those of root', async () => {
    const env = { SALT_EAUTH_PASSWORD: 'of all' };
    const first = asNobody('salt', ['-T', '-a', 'sharedsecret', '--username', 'fred', 'm1', 'test.ping'], env);
    expect(first).toMatchObject({ code: 0 });
    expect(statSync(join(home(), 'salt_token')).mode & 0o777).toBe(0o600);
    expect(asNobody('salt', ['m1', 'test.ping'])).toMatchObject({ code: 0 });
    expect(asNobody('salt', ['m2', 'test.ping'])).toMatchObject({ code: 77 });
    expect(asNobody('salt-run', ['-a', 'sharedsecret', 'jobs.list_jobs'])).toMatchObject({ code: 0 });
    expect(asNobody('salt-run', ['jobs.list_jobs']).code).not.toBe(0);
    const refused = asNobody('salt-run', ['-a', 'sharedsecret', 'manage.down']);
    expect(refused.stderr).toContain('Authentication failure of type "token" occurred for user fred.');
    expect(refused.code).toBe(77);
    const root = await runProgram(join(halite.bin, 'salt'), ['-c', fleet.masterConfigDir, 'm2', 'test.ping'], {
      env: { HOME: home() },
    });
    expect(root).toMatchObject({ code: 0 });
    rmSync(join(home(), 'salt_token'));
  });

  it('salt-key lists and changes keys through the master', async () => {
    const env = { SALT_EAUTH_PASSWORD: 'of all' };
    const clerk = ['--eauth', 'sharedsecret', '--username', 'clerk'];
    const before = tokens().length;
    expect(JSON.parse(asNobody('salt-key', [...clerk, '-L', '--out=json'], env).stdout)).toMatchObject({
      minions: ['m1', 'm2'],
    });
    expect(asNobody('salt-key', [...clerk, '-p', 'm1'], env).stdout).toContain('BEGIN PUBLIC KEY');
    writeFileSync(fleet.path('etc/pki/master/minions_pre/m9'), readFileSync(fleet.path('m1/pki/minion.pub')));
    const accepted = asNobody('salt-key', [...clerk, '-y', '-a', 'm9'], env);
    expect(accepted.stdout).toContain('Key for minion m9 accepted.');
    expect(existsSync(fleet.path('etc/pki/master/minions/m9'))).toBe(true);
    expect(asNobody('salt-key', [...clerk, '-y', '-d', 'm9'], env).stdout).toContain('Key for minion m9 deleted.');
    expect(existsSync(fleet.path('etc/pki/master/minions/m9'))).toBe(false);
    const limited = asNobody('salt-key', ['--eauth', 'sharedsecret', '--username', 'fred', '-y', '-d', 'm1'], env);
    expect(limited.stderr).toContain('occurred for user fred.');
    expect(existsSync(fleet.path('etc/pki/master/minions/m1'))).toBe(true);
    expect(tokens().length).toBe(before);
  });

  it('write no password anywhere', () => {
    for (const file of ['log/master', 'log/master.out', 'log/key'])
      if (existsSync(fleet.path(file))) expect(readFileSync(fleet.path(file), 'utf8'), file).not.toContain('of all');
  });
});

describe('the request port', () => {
  async function send(load: Fields): Promise<Value> {
    const socket = new Request({ linger: 0, receiveTimeout: 20_000 });
    socket.connect(`tcp://127.0.0.1:${fleet.ports.requests}`);
    try {
      await socket.send(pack({ enc: 'clear', load, version: 3 }));
      const [reply] = await socket.receive();
      return unpack(reply!);
    } finally {
      socket.close();
    }
  }
  const job = (kwargs: Fields, more: Fields = {}): Promise<Value> =>
    send({
      cmd: 'publish',
      user: 'x',
      tgt: 'm1',
      tgt_type: 'glob',
      fun: 'test.ping',
      arg: [],
      ret: '',
      jid: '',
      kwargs,
      ...more,
    });

  it('publishes for a login, and says no more than Salt when it does not', async () => {
    expect(await job(as('ann'))).toMatchObject({ load: { minions: ['m1'] } });
    expect(await job(as('ann', 'wrong'))).toEqual({
      error: { name: 'AuthenticationError', message: 'Authentication error occurred.' },
    });
    expect(await job(as('fred'), { fun: 'cmd.run' })).toEqual({
      error: { name: 'AuthorizationError', message: 'Authorization error occurred.' },
    });
    expect(await job({ token: '../x' })).toEqual({
      error: { name: 'AuthenticationError', message: 'Authentication error occurred.' },
    });
  });

  it('makes and shows tokens', async () => {
    expect(await send({ cmd: 'mk_token', ...as('fred', 'wrong') })).toBe('');
    const made = await send({ cmd: 'mk_token', ...as('fred') });
    expect(made).toMatchObject({ name: 'fred', eauth: 'sharedsecret', token: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const { token } = made as PlainDict;
    expect(await send({ cmd: 'get_token', token: token! })).toEqual(made);
    expect(await send({ cmd: 'get_token', token: '../../users' })).toEqual({});
    expect(await job({ token: token! })).toMatchObject({ load: { minions: ['m1'] } });
    expect(await send({ cmd: 'runner', fun: 'jobs.list_jobs', token: token! })).toMatchObject({
      tag: expect.stringContaining('salt/run/'),
    });
    expect(await send({ cmd: 'runner', fun: 'salt.cmd', token: token! })).toEqual({
      error: {
        name: 'TokenAuthenticationError',
        message: 'Authentication failure of type "token" occurred for user fred.',
      },
    });
    expect(await send({ cmd: 'wheel', fun: 'key.accept', match: '*', ...as('fred') })).toEqual({
      error: {
        name: 'EauthAuthenticationError',
        message: 'Authentication failure of type "eauth" occurred for user fred.',
      },
    });
    const listed = await send({ cmd: 'wheel', fun: 'key.list_all', ...as('fred'), user: 'root', __user__: 'root' });
    expect(listed).toMatchObject({ data: { success: true, user: 'fred' } });
    expect(JSON.stringify(listed)).not.toContain('of all');
  });

  it('refuses guesses after some, from the same address, and nobody else', async () => {
    const guess = (at: number): Promise<Value> => send({ cmd: 'mk_token', ...as('victim', `guess ${at}`) });
    expect(new Set(await Promise.all(Array.from({ length: 12 }, (_, at) => guess(at))))).toEqual(new Set(['']));
    // The right password is not even tried now.
    expect(await send({ cmd: 'mk_token', ...as('victim') })).toBe('');
    expect(isDict(await send({ cmd: 'mk_token', ...as('fred') }))).toBe(true);
  });
});
