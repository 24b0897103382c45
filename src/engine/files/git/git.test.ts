// The git backend compared with the answers of Salt 3006.27's gitfs for the same repositories, and additional cases.
import { existsSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Value } from '../../../base/codec/value.ts';
import type { FileServer } from '../server.ts';
import { ask, openTestServer, temporaryFolder, testLog } from '../testing.ts';
import { readRemotes } from './config.ts';
import { GitRepository } from './repository.ts';
import { applyStep, buildRepository, git, type Step } from './testing.ts';
import { parseTree } from './tree.ts';

interface Recorded {
  readonly repos: Record<string, Step[]>;
  readonly configs: Record<string, Record<string, unknown>>;
  readonly envs: string[];
  readonly paths: string[];
  readonly head: string;
  readonly cases: Record<string, RecordedCase>;
}
interface RecordedCase {
  readonly envs: string[];
  readonly find: Record<string, Record<string, [string, string, string] | 'error'>>;
  readonly lists: Record<string, Record<'files' | 'dirs' | 'emptyDirs', string[]> & { links: Record<string, string> }>;
}

const fixture = new URL('../../../../test/fixtures/files/git.json', import.meta.url);
const recorded = JSON.parse(readFileSync(fixture, 'utf8')) as Recorded;
const noLists = { files: [], dirs: [], emptyDirs: [], links: {} };

interface Chunk {
  readonly data: Uint8Array;
  readonly dest: string;
}
async function read(server: FileServer, path: string, saltenv: string): Promise<string | undefined> {
  const chunk = (await ask(server, '_serve_file', { path, saltenv, loc: 0 })) as unknown as Chunk;
  return chunk.dest === '' ? undefined : Buffer.from(chunk.data).toString();
}

describe('the same repositories in Salt', () => {
  const folder = temporaryFolder();
  beforeAll(() => {
    for (const [name, steps] of Object.entries(recorded.repos)) buildRepository(join(folder.path, name), steps);
    expect(git(join(folder.path, 'one'), 'rev-parse', 'v1.0').trim()).toBe(recorded.head);
  });
  afterAll(() => folder.remove());

  it.each(Object.keys(recorded.cases))('options: %s', async (name) => {
    const expected = recorded.cases[name]!;
    const place = (text: string): string => text.replace(/<(one|two)>/g, (_, repo) => `file://${folder.path}/${repo}`);
    const config = JSON.parse(place(JSON.stringify(recorded.configs[name]))) as Record<string, unknown>;
    const cachedir = join(folder.path, `cache-${name}`);
    const server = openTestServer(folder.path, {
      cachedir,
      fileserver_backend: ['gitfs'],
      gitfs_base: 'master',
      ...config,
    });
    try {
      await server.update();
      expect(await server.envs()).toEqual(expected.envs);
      for (const saltenv of recorded.envs) {
        for (const path of recorded.paths) await compareFile(server, path, saltenv, expected.find[saltenv]?.[path]);
        const lists = expected.lists[saltenv] as unknown;
        if (lists === 'error') continue;
        // Salt lists the files of an environment that only a fallback serves, but not its links.
        const known = expected.envs.includes(saltenv) || /^[0-9a-f]+$/.test(saltenv);
        await compareLists(server, saltenv, (lists ?? noLists) as typeof noLists, known);
      }
    } finally {
      await server.close();
    }
  });

  async function compareFile(
    server: FileServer,
    path: string,
    saltenv: string,
    expected: [string, string, string] | 'error' | undefined,
  ): Promise<void> {
    if (expected === 'error') return;
    const found = (await ask(server, '_file_find', { path, saltenv })) as { path: string; rel: string; stat: number[] };
    if (!expected) {
      expect([saltenv, path, found.path]).toEqual([saltenv, path, '']);
      return;
    }
    const [rel, mode, text] = expected;
    expect([saltenv, path, found.rel, `0o${found.stat[0]!.toString(8)}`]).toEqual([saltenv, path, rel, mode]);
    expect(found.stat[6]).toBe(Buffer.byteLength(text));
    expect(await read(server, path, saltenv)).toBe(text);
  }

  async function compareLists(
    server: FileServer,
    saltenv: string,
    expected: typeof noLists,
    compareLinks: boolean,
  ): Promise<void> {
    const { files, dirs, emptyDirs, links } = await server.lists(saltenv);
    expect([saltenv, files]).toEqual([saltenv, expected.files]);
    expect([saltenv, dirs]).toEqual([saltenv, expected.dirs]);
    expect([saltenv, emptyDirs]).toEqual([saltenv, expected.emptyDirs]);
    if (compareLinks) expect([saltenv, { ...links }]).toEqual([saltenv, expected.links]);
  }
});

describe('a remote over time', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let remote: string;
  let server: FileServer;
  const log = testLog();
  const open = (extra: Record<string, unknown> = {}): FileServer =>
    openTestServer(
      folder.path,
      { fileserver_backend: ['git'], gitfs_remotes: [`file://${remote}`], gitfs_base: 'master', ...extra },
      log,
    );
  const step = (...steps: Step[]): void => {
    for (const one of steps) applyStep(remote, one);
  };

  beforeEach(() => {
    folder = temporaryFolder();
    remote = join(folder.path, 'remote');
    log.warnings.length = 0;
    buildRepository(remote, [
      ['file', 'a', 'one'],
      ['file', 'deep/b', 'b'],
      ['commit'],
      ['branch', 'dev'],
      ['switch', 'master'],
    ]);
    server = open();
  });
  afterEach(async () => {
    await server.close();
    folder.remove();
  });

  it('serves immediately, without an explicit update', async () => {
    expect(await read(server, 'a', 'base')).toBe('one');
  });

  it('shows a new commit after an update and not before', async () => {
    expect(await read(server, 'a', 'base')).toBe('one');
    step(['file', 'a', 'two'], ['file', 'new', 'n'], ['commit']);
    expect(await read(server, 'a', 'base')).toBe('one');
    expect((await server.lists('base')).files).toEqual(['a', 'deep/b']);
    await server.update();
    expect(await read(server, 'a', 'base')).toBe('two');
    expect((await server.lists('base')).files).toEqual(['a', 'deep/b', 'new']);
  });

  it('needs no git after the first access to an environment', async () => {
    await read(server, 'a', 'base');
    const path = process.env['PATH'];
    process.env['PATH'] = '/nonexistent';
    try {
      for (const name of ['a', 'deep/b', 'missing', '../a']) await read(server, name, 'base');
      await server.lists('base');
      expect(await read(server, 'deep/b', 'base')).toBe('b');
    } finally {
      process.env['PATH'] = path;
    }
  });

  it('follows added, moved and removed branches and tags', async () => {
    await server.update();
    expect(await server.envs()).toEqual(['base', 'dev']);
    step(['tag', 'v1'], ['unbranch', 'dev'], ['branch', 'qa'], ['file', 'q', 'q'], ['commit'], ['switch', 'master']);
    await server.update();
    expect(await server.envs()).toEqual(['base', 'qa', 'v1']);
    expect(await read(server, 'a', 'dev')).toBeUndefined();
    expect(await read(server, 'q', 'qa')).toBe('q');
    step(['untag', 'v1'], ['file', 'a', 'moved'], ['commit'], ['tag', 'v1']);
    await server.update();
    expect(await read(server, 'a', 'v1')).toBe('moved');
    git(remote, 'checkout', '-q', 'qa');
    git(remote, 'commit', '-q', '--amend', '-m', 'rewritten');
    await server.update();
    expect(await read(server, 'q', 'qa')).toBe('q');
  });

  it('continues when the remote is unreachable, also after a restart', async () => {
    await server.update();
    renameSync(remote, `${remote}.gone`);
    await server.update();
    expect(log.warnings.join()).toContain('file server update failed');
    expect(await read(server, 'a', 'base')).toBe('one');
    await server.close();
    server = open();
    expect(await server.envs()).toEqual(['base', 'dev']);
    expect(await read(server, 'deep/b', 'dev')).toBe('b');
    renameSync(`${remote}.gone`, remote);
    step(['file', 'a', 'back'], ['commit']);
    await server.update();
    expect(await read(server, 'a', 'base')).toBe('back');
  });

  it('serves the other remotes when one was never reachable', async () => {
    await server.close();
    server = open({ gitfs_remotes: [`file://${folder.path}/nowhere`, `file://${remote}`] });
    expect(await read(server, 'a', 'base')).toBe('one');
    expect(log.warnings.join()).toContain('nowhere');
  });

  it('hides files according to rules', async () => {
    step(['file', 'x.bak', 'x'], ['file', 'deep/y.bak', 'y'], ['commit']);
    await server.close();
    server = open({ file_ignore_glob: ['*.bak'] });
    expect((await server.lists('base')).files).toEqual(['a', 'deep/b']);
    expect(await read(server, 'x.bak', 'base')).toBeUndefined();
  });

  it('is not updated while it is locked', async () => {
    await server.update();
    expect(await server.lock()).toEqual({ done: [`Set update lock for gitfs remote 'file://${remote}'`], errors: [] });
    expect(await server.lock()).toEqual({ done: [], errors: [] });
    step(['file', 'a', 'two'], ['commit']);
    await server.update();
    expect(await read(server, 'a', 'base')).toBe('one');
    expect(await server.clearLock(null, '*nothing*')).toEqual({ done: [], errors: [] });
    expect((await server.clearLock(null, '*remote*')).done).toEqual([
      `Removed update lock for gitfs remote 'file://${remote}'`,
    ]);
    await server.update();
    expect(await read(server, 'a', 'base')).toBe('two');
  });

  it('starts from nothing after its cache was cleared', async () => {
    await server.update();
    expect(await server.clearCache()).toEqual({
      done: ['The git fileserver cache was successfully cleared'],
      errors: [],
    });
    expect(await read(server, 'a', 'base')).toBeUndefined();
    await server.update();
    expect(await read(server, 'a', 'base')).toBe('one');
  });

  it('updates only the remotes that are named', async () => {
    const second = join(folder.path, 'second');
    buildRepository(second, [['file', 's', '1'], ['commit']]);
    await server.close();
    server = open({ gitfs_remotes: [`file://${remote}`, { [`file://${second}`]: [{ name: 'two' }] }] });
    await server.update();
    step(['file', 'a', 'two'], ['commit']);
    for (const one of [['file', 's', '2'], ['commit']] as Step[]) applyStep(second, one);
    await server.update(null, ['two']);
    expect([await read(server, 'a', 'base'), await read(server, 's', 'base')]).toEqual(['one', '2']);
  });

  it('keeps one copy of a file that many commits have, and removes unused files', async () => {
    await read(server, 'a', 'base');
    await read(server, 'a', 'dev');
    const blobs = join(folder.path, 'cache/git', readdirSync(join(folder.path, 'cache/git'))[0]!, 'blobs');
    const stored = (): number =>
      readdirSync(blobs, { recursive: true, withFileTypes: true }).filter((e) => e.isFile()).length;
    expect(stored()).toBe(2);
    step(['file', 'a', 'two'], ['commit']);
    await server.update();
    expect(stored()).toBe(3);
  });

  it('refuses hostile paths and environments', async () => {
    for (const path of ['../a', '/a', 'deep/../a', 'a\0', '.', ''])
      expect(await read(server, path, 'base')).toBeUndefined();
    for (const saltenv of ['../base', 'refs/heads/master', 'HEAD', 'master~1', '--help', '\0', 'dev/..']) {
      expect(await read(server, 'a', saltenv)).toBeUndefined();
    }
  });
});

describe('checkouts', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  it('contain the files of a commit and never a link', async () => {
    const remote = join(folder.path, 'remote');
    buildRepository(remote, [
      ['file', 'top/one.sls', '1'],
      ['file', 'deep/a/b/keep', 'k'],
      ['file', 'deep/secret', 'decoy'],
      ['file', 'run', '#!/bin/sh'],
      ['mode', 'run'],
      ['link', 'file.link', 'top/one.sls'],
      ['link', 'folder.link', 'top'],
      ['link', 'deep/a/b/d', '../../../top'],
      // Its text stays in the tree; following the link before it would lead out of it.
      ['link', 'deep/a/b/x', 'd/../../../secret'],
      ['link', 'out', '../../etc/hostname'],
      ['link', 'self', '.'],
      ['commit'],
    ]);
    const [config] = readRemotes({ gitfs_remotes: [`file://${remote}`] });
    const repository = new GitRepository({ ...config!, folder: join(folder.path, 'copy') });
    repository.use(await repository.fetch());
    const commit = repository.refs.branches.get('master')!;
    const tree = await repository.checkout(commit);
    const all = readdirSync(tree, { recursive: true, withFileTypes: true });
    expect(all.filter((entry) => entry.isSymbolicLink())).toEqual([]);
    const at = (name: string): string => readFileSync(join(tree, name), 'utf8');
    expect([at('file.link'), at('folder.link/one.sls'), at('deep/a/b/d/one.sls')]).toEqual(['1', '1', '1']);
    expect(at('deep/a/b/x')).toBe('decoy');
    expect(existsSync(join(tree, 'out'))).toBe(false);
    expect(await repository.checkout(commit)).toBe(tree);
    expect(statSync(tree).isDirectory()).toBe(true);
  });
});

describe('a repository with several users', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  it('is fetched, read and checked out by all of them at once', async () => {
    const remote = join(folder.path, 'remote');
    const files = Array.from({ length: 30 }, (_, at): Step => ['file', `d${at % 5}/f${at}`, `content ${at}`]);
    buildRepository(remote, [...files, ['commit']]);
    const [config] = readRemotes({ gitfs_remotes: [`file://${remote}`] });
    const hands = Array.from({ length: 4 }, () => new GitRepository({ ...config!, folder: join(folder.path, 'copy') }));
    const trees = await Promise.all(
      hands.map(async (repository) => {
        repository.use(await repository.fetch());
        return repository.checkout(repository.refs.branches.get('master')!);
      }),
    );
    expect(new Set(trees).size).toBe(1);
    expect(readFileSync(join(trees[0]!, 'd4/f29'), 'utf8')).toBe('content 29');
    const part = await hands[0]!.checkout(hands[0]!.refs.branches.get('master')!, 'd3');
    expect(readdirSync(part)).toHaveLength(6);
    const left = readdirSync(join(folder.path, 'copy'), { recursive: true }) as string[];
    expect(left.filter((name) => name.endsWith('.tmp') || name.endsWith('.lock'))).toEqual([]);
  });
});

describe('readRemotes', () => {
  const problem = (remotes: unknown, extra: Record<string, unknown> = {}): string => {
    try {
      readRemotes({ gitfs_remotes: remotes, ...extra });
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each([
    [[3], 'a remote is text'],
    [[{ 'https://x/y': null }], 'remove the colon'],
    [[{ 'https://x/y': [{ rot: 'x' }] }], 'no setting of a remote is called rot'],
    [['--upload-pack=touch /tmp/x'], 'is not the address'],
    [['ext::sh -c touch% /tmp/x'], 'is not the address'],
    [[{ 'https://x/y': [{ name: '../x' }] }], 'cannot be a folder'],
    [[{ 'https://x/y': [{ ref_types: ['branch', 'star'] }] }], 'not star'],
    [[{ 'http://x/y': [{ user: 'u' }, { password: 'p' }] }], 'in the clear'],
    [['https://x/y', 'https://x/y'], 'share a cache folder'],
    [[{ 'ssh://x/y': [{ passphrase: 'p' }] }], 'passphrase'],
  ])('refuses %j', (remotes, expected) => {
    expect(problem(remotes)).toContain(expected);
  });

  it('prefers settings of the remote over the general ones', () => {
    const [remote] = readRemotes({
      gitfs_remotes: [{ 'https://x/y': [{ base: 'main' }, { saltenv_whitelist: 'a, b' }, { update_interval: 5 }] }],
      gitfs_base: 'master',
      gitfs_root: '/states/',
      gitfs_mountpoint: 'salt://mnt/',
    });
    expect(remote).toMatchObject({
      base: 'main',
      root: 'states',
      mountpoint: 'mnt',
      whitelist: ['a', 'b'],
      updateSeconds: 5,
    });
  });

  it('skips a broken backend when the check is disabled', async () => {
    const folder = temporaryFolder();
    const log = testLog();
    const options = { fileserver_backend: ['roots', 'git'], gitfs_remotes: [3 as Value] };
    expect(() => openTestServer(folder.path, options, log)).toThrow('gitfs_remotes');
    const server = openTestServer(folder.path, { ...options, fileserver_verify_config: false }, log);
    expect(server.backends().map((backend) => backend.name)).toEqual(['roots']);
    await server.close();
    folder.remove();
  });
});

describe('parseTree', () => {
  it('leaves out paths that would leave the folder', () => {
    const sha = 'a'.repeat(40);
    const lines = ['../x', 'a/../../b', '/etc/passwd', 'ok', 'dir/ok'].map(
      (path) => `100644 blob ${sha}      12\t${path}`,
    );
    const index = parseTree('c', Buffer.from(`${lines.join('\0')}\0`));
    expect([...index.blobs.keys()]).toEqual(['ok', 'dir/ok']);
  });
});
