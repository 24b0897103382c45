// Who may do what: root everything, others what publisher_acl gives them, nobody anything without proof.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Master } from './core.ts';
import { authenticateCaller, authorizeMaster, authorizePublish } from './door.ts';
import { UserKeys } from './user-keys.ts';

let dir: string;
let master: Master;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'halite-door-'));
  const opts = {
    cachedir: dir,
    user: userInfo().username,
    sudo_acl: false,
    publisher_acl: { deploy: ['test.*', { 'web*': ['cmd.run'] }], 'ops.*': ['.*'] },
  };
  master = { opts, userKeys: new UserKeys(opts) } as unknown as Master;
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const rootKey = (): string => readFileSync(join(dir, `.${userInfo().username}_key`), 'utf8');

describe('the door', () => {
  it('writes key files that only their owner can read', () => {
    expect(statSync(join(dir, `.${userInfo().username}_key`)).mode & 0o777).toBe(0o600);
    expect(rootKey()).toHaveLength(76);
  });

  it('knows a caller by the key', () => {
    expect(authenticateCaller(master, { user: userInfo().username, key: rootKey() })).toEqual({
      user: userInfo().username,
    });
    expect(authenticateCaller(master, { user: 'sudo_ann', key: rootKey() })).toEqual({ user: 'sudo_ann' });
  });

  it.each([undefined, '', 'x'.repeat(76), null, 7])('refuses the key %j', (key) => {
    expect(() => authenticateCaller(master, { user: 'root', key: key as never })).toThrow(/Authentication failure/);
  });

  it('answers external authentication clearly', () => {
    expect(() => authenticateCaller(master, { eauth: 'pam', user: 'root', key: rootKey() })).toThrow(
      /External authentication/,
    );
  });

  it('lets publisher_acl decide for others', () => {
    const may = (user: string, tgt: string, fun: string): boolean => {
      try {
        authorizePublish(master, { user }, tgt, 'glob', [fun]);
        return true;
      } catch {
        return false;
      }
    };
    expect(may('deploy', '*', 'test.ping')).toBe(true);
    expect(may('deploy', '*', 'cmd.run')).toBe(false);
    expect(may('deploy', 'web*', 'cmd.run')).toBe(true);
    expect(may('deploy', '*', 'xtest.ping')).toBe(false);
    expect(may('stranger', '*', 'test.ping')).toBe(false);
    expect(may('root', '*', 'cmd.run')).toBe(true);
    expect(may('sudo_ann', '*', 'cmd.run')).toBe(true);
  });

  it('keeps runners and wheel to the master’s own users', () => {
    expect(() => authorizeMaster(master, { user: 'deploy' }, 'runner jobs.list_jobs')).toThrow(/may not run/);
    expect(() => authorizeMaster(master, { user: 'root' }, 'runner jobs.list_jobs')).not.toThrow();
  });
});
