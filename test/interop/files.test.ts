// Files between Halite and real Salt, in both roles: lists, transfers of every size, pushes, environments, git, states.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, type Implementation, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';

interface Pairing {
  readonly label: string;
  readonly master: () => Implementation;
  readonly minion: () => Implementation;
}

/** The oldest and the newest that are supported in full; between them nothing about files changed. */
const versions = ['3006.27', '3008.2'] as const;
type Version = (typeof versions)[number];
const ourMaster = (version: Version): Pairing => ({
  label: `Halite master, Salt ${version} minion`,
  master: () => halite,
  minion: () => saltRelease(version),
});
const ourMinion = (version: Version): Pairing => ({
  label: `Salt ${version} master, Halite minion`,
  master: () => saltRelease(version),
  minion: () => halite,
});
/** Each release and each direction once; all four with HALITE_ALL_PAIRINGS=1, as their way through our code is the same. */
const pairings: Pairing[] =
  process.env['HALITE_ALL_PAIRINGS'] === '1'
    ? versions.flatMap((version) => [ourMaster(version), ourMinion(version)])
    : [ourMaster('3006.27'), ourMinion('3008.2')];

const large = randomBytes(12 * 1024 * 1024 + 7);
const git = (folder: string, ...args: string[]): void => {
  const settings = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...settings, ...args], { cwd: folder, stdio: 'ignore' });
};

/** Salt serves git only with a Python library that it does not bring along. */
const servesGit = ({ bin }: Implementation): boolean =>
  bin === halite.bin || spawnSync(join(bin, 'python'), ['-c', 'import git']).status === 0;

describe.each(pairings)('$label', ({ master, minion }) => {
  let fleet: Deployment;
  let withGit = false;
  // A real master's `salt` takes seconds for each job, so a Halite minion is asked where it is: the file client is the same.
  const call = async (...args: string[]): Promise<unknown> => {
    if (minion().bin !== halite.bin) return (await fleet.json('m1', ...args, '-t', '60'))['m1'];
    const told = ['-c', fleet.path('m1/etc'), ...args, '--out=json', '-l', 'error'];
    const { stdout, stderr } = await runProgram(join(halite.bin, 'salt-call'), told);
    if (stdout === '') throw new Error(`salt-call ${args.join(' ')} printed nothing:\n${stderr}`);
    return (JSON.parse(stdout) as { local: unknown }).local;
  };
  const text = (path: string): string => readFileSync(fleet.path(path), 'utf8');

  beforeAll(async () => {
    fleet = await Deployment.create({ master: master() });
    withGit = servesGit(master());
    prepare();
    await fleet.startMaster();
    if (minion().bin === halite.bin) {
      fleet.configureMinion('m1');
    } else {
      fleet.startMinion('m1', minion());
      await fleet.answering('m1');
    }
    const listed = async (): Promise<boolean> => ((await call('cp.list_master')) as string[]).includes('git.txt');
    if (withGit) await eventually('the branches to be there', listed);
  });
  afterAll(async () => {
    await fleet?.destroy();
  });

  function prepare(): void {
    const files: Record<string, string | Buffer> = {
      'srv/salt/top.sls': 'base: {}\n',
      'srv/salt/conf/a.conf': 'a\n',
      'srv/salt/conf/sub/b.conf': 'b {{ 1 + 1 }}\n',
      'srv/salt/conf/hidden.bak': 'hidden\n',
      'srv/salt/empty': '',
      'srv/salt/ü 盐': 'unicode\n',
      'srv/salt/large.bin': large,
      'srv/salt/site/answer.jinja': 'answer = {{ 6 * 7 }}\n',
      'srv/salt/web.sls': states(),
      'srv/dev/only.txt': 'dev\n',
      'repository/git.txt': 'from git\n',
    };
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(fleet.path(name)), { recursive: true });
      writeFileSync(fleet.path(name), content);
    }
    mkdirSync(fleet.path('srv/salt/conf/void'));
    mkdirSync(fleet.path('srv/salt/site/void'));
    chmodSync(fleet.path('srv/salt/site/answer.jinja'), 0o640);
    symlinkSync('a.conf', fleet.path('srv/salt/conf/link.conf'));
    git(fleet.path('repository'), 'init', '-q', '-b', 'master');
    git(fleet.path('repository'), 'add', '-A');
    git(fleet.path('repository'), 'commit', '-q', '-m', 'one');
    git(fleet.path('repository'), 'tag', 'v1');
    writeFileSync(
      fleet.path('etc/master.d/files.conf'),
      [
        `file_roots: {base: [${fleet.path('srv/salt')}], dev: [${fleet.path('srv/dev')}]}`,
        `fileserver_backend: [roots${withGit ? ', gitfs' : ''}]`,
        'gitfs_provider: gitpython',
        `gitfs_remotes: ['file://${fleet.path('repository')}']`,
        "file_ignore_glob: ['*.bak']",
        'file_recv: True',
      ].join('\n'),
    );
  }

  const states = (): string =>
    [
      `${fleet.path('managed')}:`,
      '  file.managed:',
      '    - source: salt://site/answer.jinja',
      '    - template: jinja',
      '    - mode: keep',
      `${fleet.path('recursed')}:`,
      '  file.recurse:',
      '    - source: salt://site',
      '    - include_empty: True',
    ].join('\n');

  it('lists files', async () => {
    const files = [
      'conf/a.conf',
      'conf/link.conf',
      'conf/sub/b.conf',
      'empty',
      ...(withGit ? ['git.txt'] : []),
      'large.bin',
      'site/answer.jinja',
      'top.sls',
      'web.sls',
      'ü 盐',
    ];
    expect(await call('cp.list_master')).toEqual(files);
    expect(await call('cp.list_master_dirs')).toEqual(['conf', 'conf/sub', 'conf/void', 'site', 'site/void']);
    expect(((await call('cp.envs')) as string[]).sort()).toEqual(withGit ? ['base', 'dev', 'v1'] : ['base', 'dev']);
    expect(await call('cp.hash_file', 'salt://nope')).toBe('');
    expect(await call('cp.stat_file', 'salt://conf/a.conf')).toBe('0644');
  });

  it('transfers files of every size', async () => {
    expect(await call('cp.get_file', 'salt://large.bin', fleet.path('large'))).toBe(fleet.path('large'));
    expect(readFileSync(fleet.path('large')).equals(large)).toBe(true);
    expect(await call('cp.get_file', 'salt://large.bin', fleet.path('zipped'), 'gzip=1')).toBe(fleet.path('zipped'));
    expect(readFileSync(fleet.path('zipped')).equals(large)).toBe(true);
    expect(await call('cp.get_file_str', 'salt://ü 盐')).toBe('unicode\n');
    expect(await call('cp.cache_file', 'salt://empty')).toBe(fleet.path('m1/cache/files/base/empty'));
    expect(statSync(fleet.path('m1/cache/files/base/empty')).size).toBe(0);
    expect(await call('cp.get_file_str', 'salt://only.txt', 'dev')).toBe('dev\n');
  });

  it('transfers files from git', async (test) => {
    if (!withGit) return test.skip('this master has no library for git');
    expect(await call('cp.get_file_str', 'salt://git.txt')).toBe('from git\n');
    expect(await call('cp.get_file_str', 'salt://git.txt?saltenv=v1')).toBe('from git\n');
  });

  it('brings folders', async () => {
    mkdirSync(fleet.path('copy'));
    const copied = ['a.conf', 'link.conf', 'sub/b.conf', 'void'].map((name) => fleet.path('copy/conf', name));
    expect(await call('cp.get_dir', 'salt://conf', fleet.path('copy'))).toEqual(copied);
    expect(text('copy/conf/link.conf')).toBe('a\n');
  });

  it('refuses files that are hidden, missing or outside', async () => {
    for (const path of ['conf/hidden.bak', 'nope', '../../etc/master', 'conf/../top.sls']) {
      expect([path, await call('cp.get_file', `salt://${path}`, fleet.path('leak'))]).toEqual([path, '']);
    }
    expect(existsSync(fleet.path('leak'))).toBe(false);
  });

  it('accepts files from the minion', async () => {
    writeFileSync(fleet.path('pushed'), large);
    expect(await call('cp.push', fleet.path('pushed'))).toBe(true);
    const arrived = join(fleet.path('cache/master/minions/m1/files'), fleet.path('pushed'));
    expect(readFileSync(arrived).equals(large)).toBe(true);
  });

  it('applies states with files of the master', async () => {
    const results = Object.values((await call('state.apply', 'web')) as Record<string, { result: boolean }>);
    expect(results.map(({ result }) => result)).toEqual([true, true]);
    expect(text('managed')).toBe('answer = 42\n');
    expect(statSync(fleet.path('managed')).mode & 0o777).toBe(0o640);
    expect(existsSync(fleet.path('recursed/void'))).toBe(true);
  });
});
