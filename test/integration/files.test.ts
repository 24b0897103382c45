// Files through the real commands and daemons: file server, file client, salt-cp, pushes, git, extensions of users.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
const big = randomBytes(20 * 1024 * 1024 + 123);

const git = (folder: string, ...args: string[]): void => {
  const settings = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...settings, ...args], { cwd: folder, stdio: 'ignore' });
};
const tree = (files: Readonly<Record<string, string | Buffer>>): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(fleet.path(name)), { recursive: true });
    writeFileSync(fleet.path(name), content);
  }
};
const call = async (...args: string[]): Promise<unknown> => (await fleet.json('m1', ...args))['m1'];
const run = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await fleet.run('salt-run', [...args, '--out=json'])).stdout) as unknown;

beforeAll(async () => {
  fleet = await Deployment.create();
  const repository = fleet.path('repository');
  tree({
    'srv/salt/files/db.conf': 'host = localhost\n',
    'srv/salt/files/old.bak': 'hidden',
    'srv/salt/.git/config': 'hidden',
    'srv/salt/empty': '',
    'srv/salt/ü 盐.txt': 'unicode\n',
    'srv/salt/big.bin': big,
    'srv/salt/app/init.sls': '{}\n',
    'srv/dev/files/db.conf': 'host = dev\n',
    'repository/from-git.txt': 'git one\n',
  });
  mkdirSync(fleet.path('srv/salt/app/void'));
  git(repository, 'init', '-q', '-b', 'master');
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '-m', 'one');
  git(repository, 'tag', 'v1');
  writeFileSync(
    fleet.path('etc/master.d/files.conf'),
    [
      `file_roots: {base: [${fleet.path('srv/salt')}], dev: [${fleet.path('srv/dev')}]}`,
      'fileserver_backend: [roots, git]',
      `gitfs_remotes: ['file://${repository}']`,
      "file_ignore_regex: ['/\\.git($|/)']",
      "file_ignore_glob: ['*.bak']",
      'file_recv: True',
      'file_recv_max_size: 30',
      'fileserver_list_cache_time: 0',
    ].join('\n'),
  );
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('cp', () => {
  it('transfers files to the minion', async () => {
    expect(await call('cp.get_file', 'salt://files/db.conf', fleet.path('got.conf'))).toBe(fleet.path('got.conf'));
    expect(readFileSync(fleet.path('got.conf'), 'utf8')).toBe('host = localhost\n');
    expect(await call('cp.get_file_str', 'salt://files/db.conf')).toBe('host = localhost\n');
    expect(await call('cp.get_file_str', 'salt://files/db.conf?saltenv=dev')).toBe('host = dev\n');
    expect(await call('cp.get_file_str', 'salt://ü 盐.txt')).toBe('unicode\n');
    expect(await call('cp.get_file', 'salt://empty', fleet.path('empty'))).toBe(fleet.path('empty'));
    expect(statSync(fleet.path('empty')).size).toBe(0);
  });

  it('transfers a large file completely, plain and compressed', async () => {
    expect(await call('cp.get_file', 'salt://big.bin', fleet.path('big'))).toBe(fleet.path('big'));
    expect(readFileSync(fleet.path('big')).equals(big)).toBe(true);
    expect(await call('cp.get_file', 'salt://big.bin', fleet.path('zipped'), 'gzip=1')).toBe(fleet.path('zipped'));
    expect(readFileSync(fleet.path('zipped')).equals(big)).toBe(true);
    expect(readdirSync(fleet.root).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('does not serve files that are hidden, missing or outside', async () => {
    for (const path of [
      '.git/config',
      'files/old.bak',
      'nope',
      '../../etc/master',
      '/etc/passwd',
      'files/../files/db.conf',
    ]) {
      expect([path, await call('cp.get_file', `salt://${path}`, fleet.path('leak'))]).toEqual([path, '']);
    }
    expect(existsSync(fleet.path('leak'))).toBe(false);
    expect(await call('cp.list_master')).toEqual([
      'app/init.sls',
      'big.bin',
      'empty',
      'files/db.conf',
      'from-git.txt',
      'ü 盐.txt',
    ]);
  });

  it('keeps Salt’s cache', async () => {
    const place = fleet.path('m1/cache/files/base/files/db.conf');
    expect(await call('cp.cache_file', 'salt://files/db.conf')).toBe(place);
    expect(await call('cp.is_cached', 'salt://files/db.conf')).toBe(place);
    expect(await call('cp.cache_file', 'salt://nope')).toBe(false);
    expect(await call('cp.hash_file', 'salt://files/db.conf')).toEqual(await call('cp.hash_file', place));
    expect(await call('cp.cache_dir', 'salt://app', 'include_empty=True')).toEqual([
      fleet.path('m1/cache/files/base/app/init.sls'),
      fleet.path('m1/cache/files/base/app/void'),
    ]);
  });

  it('copies folders', async () => {
    mkdirSync(fleet.path('copy'));
    expect(await call('cp.get_dir', 'salt://app', fleet.path('copy'))).toEqual([
      fleet.path('copy/app/init.sls'),
      fleet.path('copy/app/void'),
    ]);
  });

  it('renders templates of files and of names', async () => {
    tree({ 'srv/salt/files/note.jinja': 'from {{ grains.id }} to {{ who }}\n' });
    const target = fleet.path('note');
    expect(await call('cp.get_template', 'salt://files/note.jinja', target, 'who=you')).toBe(target);
    expect(readFileSync(target, 'utf8')).toBe('from m1 to you\n');
    expect(await call('cp.get_template', 'salt://files/nope.jinja', target)).toBe('');
    const named = await call(
      'cp.get_file',
      'salt://files/{{ "db" }}.conf',
      fleet.path('{{ grains.id }}.conf'),
      'template=jinja',
    );
    expect(named).toBe(fleet.path('m1.conf'));
    expect(readFileSync(fleet.path('m1.conf'), 'utf8')).toBe('host = localhost\n');
  });

  it('sends files to the master', async () => {
    writeFileSync(fleet.path('pushed'), big);
    expect(await call('cp.push', fleet.path('pushed'))).toBe(true);
    const arrived = join(fleet.path('cache/master/minions/m1/files'), fleet.path('pushed'));
    expect(readFileSync(arrived).equals(big)).toBe(true);
    writeFileSync(fleet.path('too-large'), Buffer.alloc(31 << 20));
    expect(await call('cp.push', fleet.path('too-large'))).toBe(false);
    expect(await call('cp.push', fleet.path('pushed'), 'upload_path=/../../escape')).toBe(false);
  });
});

describe('salt-cp', () => {
  it('copies a text', async () => {
    writeFileSync(fleet.path('source.txt'), 'copied\n');
    const { stdout, code } = await fleet.run('salt-cp', ['m1', fleet.path('source.txt'), fleet.path('target.txt')]);
    expect([stdout, code]).toEqual([`m1:\n    ----------\n    ${fleet.path('target.txt')}:\n        True\n`, 0]);
    expect(readFileSync(fleet.path('target.txt'), 'utf8')).toBe('copied\n');
  });

  it('copies folders with modes, binary files and empty folders in chunks', async () => {
    tree({ 'out/run.sh': '#!/bin/sh\n', 'out/deep/data.bin': big, 'out/empty': '' });
    chmodSync(fleet.path('out/run.sh'), 0o751);
    mkdirSync(fleet.path('out/void'));
    const done = await fleet.run('salt-cp', ['--chunked', 'm1', fleet.path('out'), fleet.path('in/')], {
      timeoutMs: 120_000,
    });
    expect(done.code).toBe(0);
    expect(readFileSync(fleet.path('in/out/deep/data.bin')).equals(big)).toBe(true);
    expect(statSync(fleet.path('in/out/run.sh')).mode & 0o7777).toBe(0o751);
    expect(statSync(fleet.path('in/out/void')).isDirectory()).toBe(true);
    expect(readFileSync(fleet.path('in/out/empty'), 'utf8')).toBe('');
  });

  it('copies a chunk that looks like a named argument', async () => {
    tree({ one: '1\n' });
    await fleet.run('salt-cp', ['--chunked', '--no-compression', 'm1', fleet.path('one'), fleet.path('one-copied')]);
    expect(readFileSync(fleet.path('one-copied'), 'utf8')).toBe('1\n');
  });
});

describe('the git backend', () => {
  it('serves branches and tags, and new commits after an update', async () => {
    expect(await run('fileserver.envs')).toEqual(['base', 'dev', 'v1']);
    expect(await call('cp.get_file_str', 'salt://from-git.txt')).toBe('git one\n');
    tree({ 'repository/from-git.txt': 'git two\n' });
    git(fleet.path('repository'), 'commit', '-q', '-a', '-m', 'two');
    expect(await run('fileserver.update')).toBe(true);
    expect(await call('cp.get_file_str', 'salt://from-git.txt')).toBe('git two\n');
    expect(await call('cp.get_file_str', 'salt://from-git.txt?saltenv=v1')).toBe('git one\n');
    expect(await run('fileserver.file_list', 'backend=git')).toEqual(['from-git.txt']);
  });
});

describe('extensions of users', () => {
  it('are available after a sync and removed after the next, without a restart', async () => {
    tree({
      'srv/salt/_modules/greet.js':
        'export function hello(name = "you") {\n  return ["hello", name, "from", this.grains.id].join(" ");\n}\n',
    });
    expect(await call('saltutil.sync_modules')).toEqual(['modules.greet']);
    expect(await call('greet.hello', 'bob')).toBe('hello bob from m1');
    tree({ 'srv/salt/_modules/greet.js': 'export function hello() {\n  return "changed";\n}\n' });
    expect(await call('saltutil.sync_modules')).toEqual(['modules.greet']);
    await eventually('the new module', async () => (await call('greet.hello')) === 'changed');
    rmSync(fleet.path('srv/salt/_modules/greet.js'));
    expect(await call('saltutil.sync_modules')).toEqual([]);
    expect(existsSync(fleet.path('m1/cache/extmods/modules/greet.js'))).toBe(false);
    await eventually('it to be gone', async () => String(await call('greet.hello')).includes('is not available'));
  });
});

describe('a minion without a master', () => {
  it('reads its own folders', async () => {
    const config = fleet.configureMinion(
      'alone',
      [`file_roots: {base: [${fleet.path('own')}]}`, 'file_client: local'].join('\n'),
    );
    tree({ 'own/file.txt': 'own\n' });
    symlinkSync('/etc/hostname', fleet.path('own/link'));
    const local = async (...args: string[]): Promise<unknown> => {
      const { stdout } = await runProgram(join(halite.bin, 'salt-call'), [
        '--local',
        '-c',
        config,
        '--out=json',
        ...args,
      ]);
      return (JSON.parse(stdout) as { local: unknown }).local;
    };
    expect(await local('cp.get_file_str', 'salt://file.txt')).toBe('own\n');
    expect(await local('cp.cache_file', 'salt://file.txt')).toBe(fleet.path('alone/cache/files/base/file.txt'));
    expect(await local('cp.list_master')).toEqual(['file.txt', 'link']);
  });
});
