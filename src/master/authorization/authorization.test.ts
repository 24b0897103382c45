// Authorization: root may do everything, others what publisher_acl allows, unauthenticated callers nothing.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import { Targets } from '../publish/targets.ts';
import { Authorization } from './authorization.ts';
import { UserKeys } from './user-keys.ts';

let dir: string;
let authorization: Authorization;
let withAcl: (acl: PlainDict) => Authorization;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'halite-authorization-'));
  const opts = {
    cachedir: dir,
    user: userInfo().username,
    sudo_acl: false,
    publisher_acl: {
      deploy: [
        'test.*',
        { 'web*': ['cmd.run', { 'pkg.install': [{ args: ['nginx.*'], kwargs: { refresh: null } }] }] },
      ],
      'ops-.*': ['.*'],
      'daemo?': ['test.ping'],
    },
    publisher_acl_blacklist: { users: ['sudo_mallory'], modules: ['cmd.script', 'key.*'] },
  };
  const keys = { ids: () => ['web1', 'web2', 'db1'] };
  const fleet = { data: (id: string) => (id === 'web2' ? undefined : { grains: { id }, pillar: {} }) };
  const build = (raw: PlainDict): Authorization =>
    new Authorization({
      opts: { user: opts.user, sudo_acl: opts.sudo_acl, raw },
      userKeys: new UserKeys(opts),
      targets: new Targets({ opts: { raw }, keys, fleet, log: nullLogger() }),
      logins: {
        login: async () => Promise.reject(new HaliteError('auth.failed', 'no login')),
        ofToken: async () => Promise.reject(new HaliteError('auth.failed', 'no token')),
        rulesOf: async () => [],
      },
    });
  authorization = build(opts);
  withAcl = (publisher_acl) => build({ publisher_acl });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const rootKey = (): string => readFileSync(join(dir, `.${userInfo().username}_key`), 'utf8');

describe('authorization', () => {
  it('writes key files that only their owner can read', () => {
    expect(statSync(join(dir, `.${userInfo().username}_key`)).mode & 0o777).toBe(0o600);
    expect(rootKey()).toHaveLength(76);
  });

  it('authenticates a caller by the key', async () => {
    expect(await authorization.authenticateCaller({ user: userInfo().username, key: rootKey() })).toEqual({
      user: userInfo().username,
    });
    expect(await authorization.authenticateCaller({ user: 'sudo_ann', key: rootKey() })).toEqual({ user: 'sudo_ann' });
  });

  it.each([undefined, '', 'x'.repeat(76), null, 7])('refuses the key %j', async (key) => {
    await expect(authorization.authenticateCaller({ user: 'root', key: key as never })).rejects.toThrow(
      /Authentication failure/,
    );
  });

  it('never falls back to the key when a token or a login is given', async () => {
    const proven = { user: 'root', key: rootKey() };
    await expect(authorization.authenticateCaller({ ...proven, eauth: 'pam' })).rejects.toThrow(/no login/);
    await expect(authorization.authenticateCaller({ ...proven, token: 'x' })).rejects.toThrow(/no token/);
  });

  // `daemon` is an account of every Linux system.
  it('gives accounts named in publisher_acl a key that authenticates no other user', async () => {
    const key = readFileSync(join(dir, '.daemon_key'), 'utf8');
    expect(await authorization.authenticateCaller({ user: 'daemon', key })).toEqual({ user: 'daemon' });
    for (const user of ['root', userInfo().username, 'sudo_ann', 'deploy', 'bin', ''])
      await expect(authorization.authenticateCaller({ user, key }), user).rejects.toThrow(/Authentication failure/);
    expect(await authorization.authenticateCaller({ user: 'daemon', key: rootKey() })).toEqual({ user: 'daemon' });
  });

  const kwargs = (named: PlainDict): PlainDict => ({ ...named, __kwarg__: true });
  it.each<[string, string | string[], string | string[], Value[], boolean]>([
    ['deploy', '*', 'test.ping', [], true],
    ['deploy', '*', 'xtest.ping', [], false],
    ['deploy', '*', 'cmd.run', [], false],
    ['deploy', 'web*', 'cmd.run', [], true],
    ['deploy', 'web1', 'cmd.run', [], true],
    ['deploy', ['web1', 'web2'], 'cmd.run', [], true],
    ['deploy', ['web1', 'db1'], 'cmd.run', [], false],
    ['deploy', 'web1', 'cmd.run_all', [], false],
    ['deploy', 'web1', ['test.ping', 'cmd.run'], [[], []], true],
    ['deploy', 'db1', ['test.ping', 'cmd.run'], [[], []], false],
    ['deploy', 'web1', 'pkg.install', ['nginx-extras', kwargs({ refresh: true })], true],
    ['deploy', 'web1', 'pkg.install', ['nginx-extras'], false],
    ['deploy', 'web1', 'pkg.install', ['bash', kwargs({ refresh: true })], false],
    ['deploy', 'web1', 'pkg.install', ['refresh=True', 'nginx'], true],
    ['deploy', 'web1', 'pkg.install', ['name=nginx', kwargs({ refresh: true })], false],
    ['deploy', '*', 'testing.ping', [], false],
    ['deploy', 'web1', 'cmdXrun', [], false],
    ['deploy', '*', [], [], false],
    ['deploy', '*', 'saltutil.find_job', ['20260101000000000000'], true],
    ['ops-ann', '*', 'cmd.run', [], true],
    ['xops-ann', '*', 'cmd.run', [], false],
    ['ops-ann', '*', 'cmd.script', [], false],
    ['stranger', '*', 'test.ping', [], false],
    ['root', '*', 'cmd.run', [], true],
    ['root', '*', 'cmd.script', [], false],
    ['sudo_ann', '*', 'cmd.run', [], true],
    ['sudo_mallory', '*', 'test.ping', [], false],
  ])('%s on %j runs %j %j: %s', (user, tgt, fun, arg, may) => {
    const call = { tgt, tgt_type: Array.isArray(tgt) ? 'list' : 'glob', fun, arg, user };
    if (may) expect(() => authorization.authorizePublish({ user }, call)).not.toThrow();
    else expect(() => authorization.authorizePublish({ user }, call)).toThrow(/may not run/);
  });

  it('does not apply a rule for some minions to minions without known data', () => {
    const call = { tgt: 'G@os:Debian', tgt_type: 'compound', fun: 'cmd.run', arg: [], user: 'deploy' };
    expect(() => authorization.authorizePublish({ user: 'deploy' }, call)).not.toThrow();
    const acl = { deploy: [{ 'G@id:web1': ['cmd.run'] }] };
    expect(() => withAcl(acl).authorizePublish({ user: 'deploy' }, call)).toThrow(/on this target/);
  });

  it('returns the job that may be published: as a list where minions could evaluate the target differently', () => {
    const job = { tgt: 'web1', tgt_type: 'glob', fun: 'cmd.run', arg: [], user: 'deploy' };
    const nodegroups = { all: '*' };
    expect(authorization.authorizePublish({ user: 'deploy' }, { ...job, nodegroups })).toEqual({
      ...job,
      foreign: true,
      exactPillar: true,
      only: new Set(['web1']),
    });
    expect(
      authorization.authorizePublish({ user: 'deploy' }, { ...job, fun: 'test.ping', tgt: '*' }).only,
    ).toBeUndefined();
    const whole = { ...job, user: 'root', ret: 'mysql', nodegroups, options: { module_executors: ['sudo'] } };
    expect(authorization.authorizePublish({ user: 'root' }, whole)).toBe(whole);
  });

  const ofTheMinion: [string, Partial<AskedJob>, string][] = [
    ['ret', { ret: 'mysql' }, 'a returner \\(ret\\)'],
    ['ret_config', { options: { ret_config: 'x' } }, 'ret_config'],
    ['ret_kwargs', { options: { ret_kwargs: {} } }, 'ret_kwargs'],
    ['module_executors', { options: { module_executors: ['sudo'] } }, 'module_executors'],
    ['executor_opts', { options: { executor_opts: 1 } }, 'executor_opts'],
  ];
  const ofOthers: [string, Partial<AskedJob>, string][] = [
    ['id', { options: { id: 'web1' } }, 'id'],
    ['master_id', { options: { master_id: 'x' } }, 'master_id'],
  ];
  const ping = { tgt: '*', tgt_type: 'glob', fun: 'test.ping', arg: [] };

  it.each([...ofTheMinion, ...ofOthers])('refuses %s from limited users', (_, more, why) => {
    const job = { ...ping, user: 'deploy', ...more };
    expect(() => authorization.authorizePublish({ user: 'deploy' }, job)).toThrow(
      new RegExp(`with ${why}: only users`),
    );
  });

  it.each(ofTheMinion)('allows %s to users who may run every function everywhere', (_, more) => {
    const job = { ...ping, user: 'ops-ann', ...more };
    expect(authorization.authorizePublish({ user: 'ops-ann' }, job)).toMatchObject({ ...more, fun: 'test.ping' });
  });

  it.each(ofOthers)('refuses %s from them, too', (_, more, why) => {
    const job = { ...ping, user: 'ops-ann', ...more };
    expect(() => authorization.authorizePublish({ user: 'ops-ann' }, job)).toThrow(
      new RegExp(`with ${why}: only users`),
    );
  });

  it('allows runners and wheel only for the master’s own users', () => {
    const call = { fun: 'jobs.list_jobs', args: [], kwargs: {} };
    expect(() => authorization.authorizeFunction({ user: 'deploy' }, 'runners', call)).toThrow(/may not run/);
    expect(() => authorization.authorizeFunction({ user: 'root' }, 'runners', call)).not.toThrow();
  });
});
