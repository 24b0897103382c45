import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HaliteError } from '../errors/index.ts';
import { findAccount } from './accounts.ts';
import { loadMasterConfig, loadMinionConfig, prepareDirs } from './index.ts';
import { prepareSyndicDirs } from './prepare-dirs.ts';
import { loadSyndicConfig } from './syndic.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'halite-dirs-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const mode = (path: string): number => statSync(path).mode & 0o7777;
const isRoot = process.geteuid?.() === 0;
const master = (extra = {}) =>
  loadMasterConfig({ configDir: join(root, 'conf'), env: {}, overrides: { root_dir: root, id: 'm', ...extra } }).opts;

describe('prepareDirs', () => {
  it('creates the folders of a master with their modes', () => {
    const opts = master();
    const { created, warnings } = prepareDirs(opts);
    expect(warnings).toEqual([]);
    expect(created).toContain(join(root, 'etc/salt/pki/master/minions_pre'));
    expect(mode(opts.pki_dir)).toBe(0o700);
    for (const dir of [opts.cachedir, opts.sock_dir, opts.token_dir, join(opts.cachedir, 'jobs')]) {
      expect(mode(dir)).toBe(0o755);
    }
    expect(mode(join(root, 'var/log/salt'))).toBe(0o750);
    expect(mode(join(root, 'var/log/salt/master'))).toBe(0o640);
    expect(prepareDirs(opts).created).toEqual([]);
  });

  it('creates the folders of a minion', () => {
    const { opts } = loadMinionConfig({
      configDir: join(root, 'conf'),
      env: {},
      overrides: { root_dir: root, id: 'm', conf_file: join(root, 'conf/minion') },
    });
    prepareDirs(opts);
    expect(existsSync(join(root, 'conf/minion.d'))).toBe(true);
    expect(existsSync(join(root, 'var/cache/salt/minion/proc'))).toBe(true);
    expect(existsSync(join(root, 'var/cache/salt/minion/extmods'))).toBe(true);
  });

  it('restricts the mode of the key folder but allows access for a group', () => {
    const opts = master();
    prepareDirs(opts);
    chmodSync(opts.pki_dir, 0o755);
    prepareDirs(opts);
    expect(mode(opts.pki_dir)).toBe(0o700);
    chmodSync(opts.pki_dir, 0o750);
    prepareDirs(opts);
    expect(mode(opts.pki_dir)).toBe(0o750);
  });

  it('does nothing with verify_env off', () => {
    expect(prepareDirs(master({ verify_env: false })).created).toEqual([]);
    expect(existsSync(join(root, 'etc'))).toBe(false);
  });

  it('explains a missing user and a folder that cannot be made', () => {
    expect(() => prepareDirs(master({ user: 'nobody-has-this-name' }))).toThrow(
      'Failed to prepare the Salt environment for user nobody-has-this-name. The user is not available.',
    );
    writeFileSync(join(root, 'var'), '');
    let thrown: unknown;
    try {
      prepareDirs(master());
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(HaliteError);
    expect((thrown as HaliteError).message).toContain(
      `Failed to create directory path "${root}/var/cache/salt/master"`,
    );
  });

  it('explains a log file below a file', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => prepareDirs(master({ log_file: join(root, 'file/log') }))).toThrow(/is .*file a file\?/);
  });

  it.runIf(isRoot && findAccount('nobody'))('changes the owner of folders without following links', () => {
    const opts = master({ user: 'nobody' });
    const outside = join(root, 'outside');
    writeFileSync(outside, '');
    const deep = join(opts.cachedir, 'minions/web1');
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, 'data.p'), '');
    symlinkSync(outside, join(deep, 'link'));
    prepareDirs(opts);
    const uid = findAccount('nobody')?.uid;
    expect(statSync(opts.cachedir).uid).toBe(uid);
    expect(statSync(join(deep, 'data.p')).uid).toBe(uid);
    expect(statSync(join(root, 'var/log/salt/master')).uid).toBe(uid);
    expect(statSync(outside).uid).toBe(0);
  });

  it.runIf(isRoot && findAccount('nobody'))('gives a syndic the key of the minion, when that is one of root', () => {
    const uid = findAccount('nobody')?.uid;
    const load = () =>
      loadSyndicConfig({ configDir: join(root, 'conf'), env: {}, overrides: { root_dir: root, user: 'nobody' } }).opts;
    const { pki_dir: pki, cachedir } = load();
    expect(prepareSyndicDirs(load()).created).toEqual([pki, cachedir]);
    expect([mode(pki), statSync(pki).uid, statSync(cachedir).uid]).toEqual([0o700, uid, uid]);
    for (const name of ['minion.pem', 'minion.pub', 'syndic_master.pub', 'minion_master.pub', 'other'])
      writeFileSync(join(pki, name), '');
    const outside = join(root, 'outside');
    writeFileSync(outside, '');
    symlinkSync(outside, join(pki, 'syndic_master_next.pub'));
    chownSync(join(pki, 'minion.pub'), 65_533, 65_533);
    expect(prepareSyndicDirs(load())).toEqual({ created: [], warnings: [] });
    const owners = Object.fromEntries(readdirSync(pki).map((name) => [name, statSync(join(pki, name)).uid]));
    expect(owners).toEqual({
      'minion.pem': uid,
      'minion.pub': 65_533,
      'syndic_master.pub': uid,
      ...{ 'minion_master.pub': 0, other: 0, 'syndic_master_next.pub': 0 },
    });
  });
});

describe('accounts', () => {
  it('finds the current user and no other', () => {
    const { username, uid } = userInfo();
    expect(findAccount(username)?.uid).toBe(uid);
    expect(findAccount('no:such')).toBeUndefined();
    expect(findAccount('-x')).toBeUndefined();
  });
});
