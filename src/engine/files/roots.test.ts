// The roots backend and server compared with the answers of Salt 3006.27 for the same tree
// (test/fixtures/files/record-roots.py).
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Value } from '../../base/codec/value.ts';
import { ignoreRules } from './ignore.ts';
import type { FileServer } from './server.ts';
import { ask, openTestServer, temporaryFolder, testLog, writeTree } from './testing.ts';

interface Lists {
  readonly files: string[];
  readonly dirs: string[];
  readonly emptyDirs: string[];
  readonly links: Record<string, string>;
}
interface Case {
  readonly envs: string[];
  readonly find: Record<string, [string, string, string | null, string | null]>;
  readonly serve: Record<string, { data: string; dest: string }>;
  readonly hash: Record<string, Value>;
  readonly lists: Record<string, Lists>;
  readonly prefix: Record<string, string[]>;
}
interface Recorded {
  readonly tree: [string, string, string?][];
  readonly options: Record<string, Record<string, unknown>>;
  readonly cases: Record<string, Case>;
}

const recorded = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/files/roots.json', import.meta.url), 'utf8'),
) as Recorded;

/**
 * Rules hide a file in every kind of request; in Salt `/\.git/` does not hide `.git` at the top of a root from lists.
 */
const hiddenFromLists = ['.git', '.git/config'];
/** Salt finds the file and then sends none of it. */
const brokenInSalt = ['dev.sls?saltenv=dev'];

describe.each(Object.keys(recorded.cases))('the same tree in Salt, options: %s', (name) => {
  const folder = temporaryFolder();
  const expected = recorded.cases[name]!;
  const here = (text: string): string => text.replaceAll('<ROOT>', folder.path);
  let server: FileServer;

  beforeAll(() => {
    const tree = recorded.tree.map(([kind, path, rest = '']) => [
      path,
      kind === 'dir' ? null : kind === 'link' ? `-> ${here(rest)}` : rest,
    ]);
    writeTree(folder.path, Object.fromEntries(tree) as Record<string, string | null>);
    const roots = {
      base: [join(folder.path, 'base'), join(folder.path, 'base2')],
      dev: [join(folder.path, 'dev')],
      __env__: [join(folder.path, 'envs/__env__')],
    };
    server = openTestServer(folder.path, { file_roots: roots, ...recorded.options[name] });
  });
  afterAll(async () => {
    await server.close();
    folder.remove();
  });

  it('has the environments', async () => {
    expect(await ask(server, '_file_envs')).toEqual(expected.envs);
  });

  it.each(Object.keys(expected.find))('finds, hashes and sends %j alike', async (path) => {
    const load = { path: here(path), saltenv: 'base', loc: 0 };
    const [file, rel, back, mode] = expected.find[path]!;
    const found = (await ask(server, '_file_find', load)) as Record<string, Value>;
    const stat = found['stat'] as number[] | undefined;
    expect([found['path'], found['rel'], found['back'] ?? null]).toEqual([here(file), rel, back]);
    expect(stat ? `0o${stat[0]!.toString(8)}` : null).toBe(mode);
    expect(await ask(server, '_file_hash', load)).toEqual(expected.hash[path]);
    expect(((await ask(server, '_file_hash_and_stat', load)) as Value[])[0]).toEqual(expected.hash[path]);
    if (brokenInSalt.includes(path)) return;
    const chunk = (await ask(server, '_serve_file', load)) as { data: Uint8Array; dest: string };
    expect({ data: Buffer.from(chunk.data).toString(), dest: chunk.dest }).toEqual(expected.serve[path]);
  });

  it.each(Object.keys(expected.lists))('lists %s alike', async (saltenv) => {
    const { files, dirs, emptyDirs, links } = expected.lists[saltenv]!;
    const shown = (paths: string[]): string[] =>
      name === 'ignore' ? paths.filter((path) => !hiddenFromLists.includes(path)) : paths;
    expect(await ask(server, '_file_list', { saltenv })).toEqual(shown(files));
    expect(await ask(server, '_dir_list', { saltenv })).toEqual(shown(dirs));
    expect(await ask(server, '_file_list_emptydirs', { saltenv })).toEqual(emptyDirs);
    const here2 = Object.fromEntries(Object.entries(links).map(([link, target]) => [link, here(target)]));
    expect({ ...((await ask(server, '_symlink_list', { saltenv })) as object) }).toEqual(here2);
  });

  it('narrows lists by a beginning of text', async () => {
    for (const [prefix, files] of Object.entries(expected.prefix)) {
      expect(await ask(server, '_file_list', { saltenv: 'base', prefix })).toEqual(files);
    }
  });
});

describe('the file server', () => {
  const folder = temporaryFolder();
  const root = folder.path;
  let server: FileServer;
  beforeAll(() => {
    writeTree(root, {
      'base/a': 'first',
      'base/big': Buffer.alloc(2500, 'x'),
      'base/app.git/config': 'kept: no folder of this name is meant',
      'base/deep/.git/config': 'hidden',
      'base/note.swp': 'hidden',
      'base/loop/back': '-> ..',
      'envs/x/secret': 'of environment x',
      secret: 'outside',
    });
    server = openTestServer(root, {
      file_roots: { base: [join(root, 'base')], __env__: [join(root, 'envs/__env__')] },
      file_buffer_size: 1000,
      file_ignore_regex: ['/\\.git($|/)', '(unclosed'],
      file_ignore_glob: ['*.swp'],
    });
  });
  afterAll(async () => {
    await server.close();
    folder.remove();
  });

  it('serves nothing outside its roots, for any request', async () => {
    const outside = ['secret', 'envs/x/secret', 'etc/passwd'];
    const step = fc.constantFrom('..', '.', '', 'x', 'base', 'envs', 'deep', '__env__', 'a\0', '..\0', '％2e');
    const climb = fc
      .tuple(fc.array(step, { maxLength: 6 }), fc.constantFrom(...outside), fc.constantFrom('', '/', '|', '|/', '?'))
      .map(([steps, goal, start]) => start + [...steps, goal].join('/'));
    const environment = fc.oneof(
      fc.constantFrom('base', '..', '../..', '.', '', '/', 'x/..', '\0', '..\\..'),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(climb, environment, async (path, saltenv) => {
        const load = { path, saltenv, loc: 0 };
        const found = (await ask(server, '_file_find', load)) as { path: string };
        const allowed =
          found.path === '' || found.path.startsWith(join(root, 'base/')) || found.path === join(root, 'envs/x/secret');
        expect(allowed).toBe(true);
        const { data } = (await ask(server, '_serve_file', load)) as { data: Uint8Array };
        expect(Buffer.from(data).toString()).not.toContain('outside');
        await ask(server, '_file_list', { saltenv, prefix: path });
      }),
      { numRuns: 600 },
    );
  });

  it.each([
    {},
    { path: null },
    { path: 3 },
    { path: ['a'] },
    { path: new Uint8Array([97]) },
    { path: 'a', saltenv: {} },
  ])('answers an invalid request: %j', async (load) => {
    expect(await ask(server, '_file_find', load as Record<string, Value>)).toEqual({ path: '', rel: '' });
    expect(await ask(server, '_file_hash', load as Record<string, Value>)).toBe('');
    expect(await ask(server, '_file_hash_and_stat', load as Record<string, Value>)).toEqual(['', null]);
    const chunk = (await ask(server, '_serve_file', load as Record<string, Value>)) as { dest: string };
    expect(chunk.dest).toBe('');
  });

  it('hides files that rules name, in every kind of request', async () => {
    expect(await ask(server, '_file_list', { saltenv: 'base' })).toEqual(['a', 'app.git/config', 'big']);
    expect(await ask(server, '_dir_list', { saltenv: 'base' })).toEqual(['app.git', 'deep', 'loop', 'loop/back']);
    for (const path of ['deep/.git/config', './deep//.git/config', 'note.swp', '|note.swp']) {
      expect(await ask(server, '_file_hash', { path, saltenv: 'base' })).toBe('');
    }
  });

  it('sends chunks of its own size from any position', async () => {
    const at = async (loc: Value): Promise<number> =>
      ((await ask(server, '_serve_file', { path: 'big', saltenv: 'base', loc })) as { data: Uint8Array }).data.length;
    expect([await at(0), await at(1000), await at(2000), await at(2500), await at(9_000_000)]).toEqual([
      1000, 1000, 500, 0, 0,
    ]);
    expect([await at(-5), await at('x'), await at(1.5), await at(null)]).toEqual([1000, 1000, 1000, 1000]);
  });

  it('compresses each chunk by itself', async () => {
    const { gunzipSync } = await import('node:zlib');
    const load = { path: 'big', saltenv: 'base', loc: 2000, gzip: 5 };
    const chunk = (await ask(server, '_serve_file', load)) as { data: Uint8Array; gzip: number };
    expect(chunk.gzip).toBe(5);
    expect(gunzipSync(chunk.data).length).toBe(500);
    const end = (await ask(server, '_serve_file', { ...load, loc: 2500 })) as object;
    expect(end).not.toHaveProperty('gzip');
  });

  it('has a new hash when a file changes, even within a second and with the same size', async () => {
    const hash = async (): Promise<Value> =>
      ((await ask(server, '_file_hash', { path: 'a', saltenv: 'base' })) as { hsum: string }).hsum;
    const before = await hash();
    const { mtime } = (await import('node:fs')).statSync(join(root, 'base/a'));
    writeFileSync(join(root, 'base/a'), 'later');
    utimesSync(join(root, 'base/a'), mtime, mtime);
    expect(await hash()).not.toBe(before);
  });

  it('continues a transfer with its original file, and starts the next one with the new file', async () => {
    const file = join(root, 'base/moving');
    writeFileSync(file, 'o'.repeat(2000));
    const at = async (loc: number): Promise<string> => {
      const load = { path: 'moving', saltenv: 'base', loc };
      return Buffer.from(((await ask(server, '_serve_file', load)) as { data: Uint8Array }).data).toString();
    };
    expect(await at(0)).toBe('o'.repeat(1000));
    writeFileSync(`${file}.new`, 'n'.repeat(2000));
    renameSync(`${file}.new`, file);
    expect(await at(1000)).toBe('o'.repeat(1000));
    expect(await at(0)).toBe('n'.repeat(1000));
    expect(await at(1000)).toBe('n'.repeat(1000));
  });

  it('keeps lists for the configured time', async () => {
    const patient = openTestServer(root, { fileserver_list_cache_time: 60 });
    const before = await ask(patient, '_file_list', { saltenv: 'base' });
    writeFileSync(join(root, 'base/newcomer'), '');
    expect(await ask(patient, '_file_list', { saltenv: 'base' })).toEqual(before);
    expect(patient.forgetLists(['other'])).toEqual(new Map());
    expect(patient.forgetLists(['base'])).toEqual(new Map([['roots', ['base']]]));
    expect(await ask(patient, '_file_list', { saltenv: 'base' })).toContain('newcomer');
    writeFileSync(join(root, 'base/second'), '');
    await patient.update();
    expect(await ask(patient, '_file_list', { saltenv: 'base' })).toContain('second');
    await patient.close();
  });

  it('asks backends in order and lets operators choose among them', async () => {
    const other = openTestServer(root, { fileserver_backend: ['nonsense', 'roots', 'git'], gitfs_remotes: [] });
    const names = (which: Value): string[] => other.backends(which).map((backend) => backend.name);
    expect(names(null)).toEqual(['roots', 'git']);
    expect(names('git,roots')).toEqual(['git', 'roots']);
    expect(names(['gitfs', 'svn'])).toEqual(['git']);
    expect(names('-git')).toEqual(['roots']);
    expect(names('-git,roots')).toEqual(['roots']);
    expect(names('svn')).toEqual([]);
    await other.close();
  });

  it('reports which rule of the configuration is invalid', () => {
    const log = testLog();
    openTestServer(root, { file_ignore_regex: ['(unclosed'], fileserver_backend: ['roots', 'svn'] }, log);
    expect(log.warnings).toHaveLength(2);
    expect(log.warnings.join()).toContain('(unclosed');
    expect(log.warnings.join()).toContain('svn');
  });

  it('announces changes when events are enabled', async () => {
    const fired: [string, unknown][] = [];
    const { openFileServer } = await import('./open.ts');
    const { serverOpts } = await import('./testing.ts');
    const watching = openFileServer(serverOpts(root, { fileserver_events: true }), {
      log: testLog(),
      fire: (tag, data) => void fired.push([tag, data]),
    });
    await watching.update();
    writeFileSync(join(root, 'base/extra'), '');
    await watching.update();
    expect(fired.map(([tag]) => tag)).toEqual(['salt/fileserver/roots/update', 'salt/fileserver/roots/update']);
    expect(fired[1]![1]).toMatchObject({ changed: true, files: { added: [join(root, 'base/extra')], removed: [] } });
    await watching.close();
  });
});

describe('open files', () => {
  it('are the ones that were looked up, or are not read', async () => {
    const folder = temporaryFolder();
    writeTree(folder.path, { a: 'allowed', secret: 'secret' });
    const { OpenFiles } = await import('./open-files.ts');
    const { versionOf } = await import('./roots.ts');
    const files = new OpenFiles();
    const path = join(folder.path, 'a');
    const found = { path, rel: 'a', stat: [], ...versionOf(statSync(path)) };
    // Between the check and the opening, the file is replaced by a link.
    rmSync(path);
    writeTree(folder.path, { a: '-> secret' });
    await expect(files.use('a', found).read(0, 10)).rejects.toThrow('was replaced');
    expect(files.recent('a')).toBeUndefined();
    files.close();
    folder.remove();
  });

  it('are closed when there are many, and not while they are read', async () => {
    const folder = temporaryFolder();
    const { OpenFiles } = await import('./open-files.ts');
    const files = new OpenFiles();
    const reads = Array.from({ length: 150 }, (_, at) => {
      writeTree(folder.path, { [`f${at}`]: `content ${at}` });
      const file = { path: join(folder.path, `f${at}`), rel: 'f', stat: [], version: '1' };
      return files.use(`f${at}`, file).read(0, 100);
    });
    expect((await Promise.all(reads)).map(String)).toEqual(reads.map((_, at) => `content ${at}`));
    files.close();
    folder.remove();
  });
});

describe('digests', () => {
  it('go by Salt’s names', async () => {
    const { isHashType, newHash } = await import('./hashes.ts');
    for (const type of ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha3_256', 'blake2b']) {
      expect([type, isHashType(type), newHash(type).digest('hex').length > 0]).toEqual([type, true, true]);
    }
    expect(isHashType('nonsense')).toBe(false);
  });
});

describe('ignoreRules', () => {
  it('tests the path from the root, with and without a slash, and the full one', () => {
    const ignored = ignoreRules(['^tmp/', '/\\.git($|/)'], ['/srv/salt/private/*']);
    expect(ignored('tmp/x')).toBe(true);
    expect(ignored('x/tmp/x')).toBe(false);
    expect(ignored('.git/config')).toBe(true);
    expect(ignored('x/.gitignore')).toBe(false);
    expect(ignored('private/x', '/srv/salt/private/x')).toBe(true);
    expect(ignored('public/x', '/srv/salt/public/x')).toBe(false);
  });
});
