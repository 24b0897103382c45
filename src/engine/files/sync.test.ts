import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import { Loader } from '../../extend/loader/index.ts';
import type { FileClient } from '../../extend/sdk/index.ts';
import { type TestMaster, testClient, testMaster } from './client/testing.ts';
import type { FileServer } from './server.ts';
import { openTestServer, temporaryFolder, writeTree } from './testing.ts';

let folder: ReturnType<typeof temporaryFolder>;
let server: FileServer;
let master: TestMaster;
let client: FileClient;
const at = (...parts: string[]): string => join(folder.path, ...parts);
const have = (kind: string): string[] =>
  readdirSync(at('ext', kind), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(at('ext', kind).length + 1))
    .sort();

function open(extra: Readonly<Record<string, Value>> = {}): FileClient {
  return testClient(master.services, at('cache'), {
    extension_modules: at('ext'),
    clean_dynamic_modules: true,
    ...extra,
  });
}

beforeEach(() => {
  folder = temporaryFolder();
  writeTree(folder.path, {
    'base/_modules/hello.js': 'export const hi = () => 1;',
    'base/_modules/sub/deep.mjs': 'export const deep = () => 2;',
    'base/_modules/types.d.ts': 'export interface X {}',
    'base/_grains/mine.js': 'export default {};',
    'base/_modules_old/no.js': '',
    'dev/_modules/hello.js': 'export const hi = () => "dev";',
  });
  server = openTestServer(folder.path, { file_roots: { base: [at('base')], dev: [at('dev')] } });
  master = testMaster(server);
  client = open();
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

it('copies what the file server has and reports what is new', async () => {
  const report = await client.syncExtensions(['modules', 'grains', 'states']);
  expect({ ...report.synced }).toEqual({
    modules: ['modules.hello', 'modules.sub.deep'],
    grains: ['grains.mine'],
    states: [],
  });
  expect([report.touched, report.problems]).toEqual([true, []]);
  expect(have('modules')).toEqual(['hello.js', 'sub/deep.mjs']);
  expect(statSync(at('ext/modules')).mode & 0o777).toBe(0o700);
  expect(master.reloads).toBe(1);
});

it('copies Python with everything that belongs to it, and leaves what Python compiled', async () => {
  writeTree(folder.path, {
    'base/_modules/python.py': 'def x(): pass',
    'base/_modules/package/__init__.py': '',
    'base/_modules/package/data.txt': 'text',
    'base/_modules/__pycache__/python.cpython-311.pyc': 'x',
  });
  const names = [
    'modules.hello',
    'modules.package.__init__',
    'modules.package.data',
    'modules.python',
    'modules.sub.deep',
  ];
  expect((await client.syncExtensions(['modules'])).synced['modules']?.toSorted()).toEqual(names);
  writeTree(folder.path, { 'ext/modules/__pycache__/python.cpython-311.pyc': 'x' });
  expect((await client.syncExtensions(['modules'])).touched).toBe(false);
  expect(have('modules')).toContain('__pycache__/python.cpython-311.pyc');
  rmSync(at('base/_modules/package'), { recursive: true });
  expect((await client.syncExtensions(['modules'])).touched).toBe(true);
  expect(existsSync(at('ext/modules/package'))).toBe(false);
});

it('reports nothing and reloads nothing when nothing changed', async () => {
  await client.syncExtensions(['modules']);
  const again = await client.syncExtensions(['modules']);
  expect([{ ...again.synced }, again.touched]).toEqual([{ modules: [] }, false]);
  expect(master.reloads).toBe(1);
});

it('copies what changed and removes what is gone', async () => {
  await client.syncExtensions(['modules']);
  writeFileSync(at('base/_modules/hello.js'), 'export const hi = () => 3;');
  rmSync(at('base/_modules/sub'), { recursive: true });
  const report = await client.syncExtensions(['modules']);
  expect(report.synced['modules']).toEqual(['modules.hello']);
  expect(have('modules')).toEqual(['hello.js']);
  expect(existsSync(at('ext/modules/sub'))).toBe(false);
  rmSync(at('base/_modules'), { recursive: true });
  expect((await client.syncExtensions(['modules'])).touched).toBe(true);
  expect(have('modules')).toEqual([]);
  expect(master.reloads).toBe(3);
});

it('keeps removed files when clean_dynamic_modules is off', async () => {
  const keeping = open({ clean_dynamic_modules: false });
  await keeping.syncExtensions(['modules']);
  rmSync(at('base/_modules/hello.js'));
  expect((await keeping.syncExtensions(['modules'])).touched).toBe(false);
  expect(have('modules')).toContain('hello.js');
});

it('removes nothing when the master cannot be asked', async () => {
  await client.syncExtensions(['modules']);
  master.before = () => {
    throw new Error('no master');
  };
  await expect(client.syncExtensions(['modules'])).rejects.toThrow('no master');
  expect(have('modules')).toEqual(['hello.js', 'sub/deep.mjs']);
});

it('prefers a later environment over an earlier one, once', async () => {
  const both = { saltenv: ['base', 'dev'] };
  expect((await client.syncExtensions(['modules'], both)).synced['modules']).toEqual([
    'modules.hello',
    'modules.sub.deep',
  ]);
  expect(readFileSync(at('ext/modules/hello.js'), 'utf8')).toContain('dev');
  expect((await client.syncExtensions(['modules'], both)).synced['modules']).toEqual([]);
});

it('respects lists of names', async () => {
  const names = async (options: { whitelist?: Value; blacklist?: Value }): Promise<readonly string[] | undefined> => {
    rmSync(at('ext'), { recursive: true, force: true });
    return (await client.syncExtensions(['modules'], options)).synced['modules'];
  };
  expect(await names({ whitelist: 'hello' })).toEqual(['modules.hello']);
  expect(await names({ whitelist: newDict([['modules', ['sub.deep']]]) })).toEqual(['modules.sub.deep']);
  expect(await names({ whitelist: newDict([['grains', ['x']]]) })).toEqual(['modules.hello', 'modules.sub.deep']);
  expect(await names({ blacklist: 'hello,other' })).toEqual(['modules.sub.deep']);
});

it('refuses kinds that are paths', async () => {
  const report = await client.syncExtensions(['../modules', 'a/b', '']);
  expect(report.problems).toHaveLength(3);
  expect(existsSync(at('ext'))).toBe(false);
});

it('prefers a file over a folder with its name', async () => {
  mkdirSync(at('ext/modules/hello.js'), { recursive: true });
  expect((await client.syncExtensions(['modules'])).synced['modules']).toContain('modules.hello');
  expect(statSync(at('ext/modules/hello.js')).isFile()).toBe(true);
});

it('removes the types from TypeScript', async () => {
  const typed = [
    "import { defineModule, type Value } from 'halite/sdk';",
    '/** Adds. */',
    'export function add(a: number, b?: number): number {',
    '  return a + (b ?? 0);',
    '}',
  ];
  writeFileSync(at('base/_modules/typed.ts'), `${typed.join('\n')}\n`);
  expect((await client.syncExtensions(['modules'])).synced['modules']).toContain('modules.typed');
  const stripped = readFileSync(at('ext/modules/typed.mjs'), 'utf8');
  expect(stripped).not.toContain('number');
  expect(stripped.split('\n')[1]).toBe('/** Adds. */');
  expect((await client.syncExtensions(['modules'])).touched).toBe(false);
});

it('reports which TypeScript it cannot read, and fetches the rest', async () => {
  writeFileSync(at('base/_modules/broken.ts'), 'export function x(: number {}\n');
  const { synced, problems } = await client.syncExtensions(['modules']);
  expect(problems.join()).toMatch(/^salt:\/\/_modules\/broken.ts: .+/);
  expect(synced['modules']).toEqual(['modules.hello', 'modules.sub.deep']);
});

it('leaves the reason where the loader finds it, until the file is mended', async () => {
  const loader = () =>
    new Loader({
      opts: () => ({ extension_modules: at('ext') }),
      grains: () => newDict(),
      log: nullLogger(),
      userCode: 'import',
      builtin: {},
    });
  const source = at('base/_modules/broken.ts');
  writeFileSync(source, 'export function x(: number {}\n');
  expect((await client.syncExtensions(['modules'])).touched).toBe(true);
  expect(await loader().missingText('modules', 'broken.x')).toMatch(/salt:\/\/_modules\/broken.ts: .+/);
  const again = await client.syncExtensions(['modules']);
  expect([again.touched, again.problems.length]).toEqual([false, 1]);

  writeFileSync(source, 'export const x = (): number => 1;\n');
  expect((await client.syncExtensions(['modules'])).synced['modules']).toEqual(['modules.broken']);
  expect(await loader().find('modules', 'broken.x')).toBeDefined();

  // A version that works is better than none.
  writeFileSync(source, 'export function x(: number {}\n');
  expect((await client.syncExtensions(['modules'])).problems).toHaveLength(1);
  expect(await loader().find('modules', 'broken.x')).toBeDefined();
});

it('reports what cannot be written, and syncs the other kinds', async () => {
  writeTree(folder.path, { 'ext/modules': 'a file where a folder has to be' });
  const { synced, problems } = await client.syncExtensions(['modules', 'grains']);
  expect(problems.map((problem) => problem.split(':').slice(0, 2).join(':'))).toEqual([
    'salt://_modules/hello.js',
    'salt://_modules/sub/deep.mjs',
  ]);
  expect({ ...synced }).toEqual({ modules: [], grains: ['grains.mine'] });
});
