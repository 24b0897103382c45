// The runner `fileserver` on real backends.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import runner from '../../ext/runners/fileserver.ts';
import type { MasterContext } from '../../extend/sdk/index.ts';
import { buildRepository } from './git/testing.ts';
import type { FileServer } from './server.ts';
import { openTestServer, temporaryFolder, writeTree } from './testing.ts';
import { fileServerView } from './view.ts';

const folder = temporaryFolder();
const remote = join(folder.path, 'remote');
let server: FileServer;

beforeAll(() => {
  writeTree(folder.path, { 'base/a': 'a', 'base/dir/b': 'b', 'base/void': null, 'base/link': '-> a', 'dev/d': 'd' });
  buildRepository(remote, [['file', 'g', 'g'], ['file', 'sub/h', 'h'], ['link', 'l', 'g'], ['commit'], ['tag', 'v1']]);
  server = openTestServer(folder.path, {
    file_roots: { base: [join(folder.path, 'base')], dev: [join(folder.path, 'dev')] },
    fileserver_backend: ['roots', 'git'],
    gitfs_remotes: [`file://${remote}`],
    fileserver_list_cache_time: 60,
  });
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

async function run(name: string, args: Record<string, Value> = {}): Promise<unknown> {
  const ctx = { master: { files: fileServerView(server) } } as unknown as MasterContext;
  const fn = runner.functions[name]!;
  const defaults = Object.entries(fn.params).map(([key, param]) => [
    key,
    param.kind === 'kwargs' ? newDict() : param.default,
  ]);
  const bound = { ...Object.fromEntries(defaults), ...args } as PlainDict;
  return JSON.parse(JSON.stringify(await fn.run(bound as never, ctx)));
}

it('lists environments and backends', async () => {
  expect(await run('envs')).toEqual(['base', 'dev', 'v1']);
  expect(await run('envs', { backend: 'git' })).toEqual(['base', 'v1']);
  expect(await run('envs', { sources: true })).toEqual(['git', 'roots']);
});

it('lists what all backends have, or some', async () => {
  expect(await run('file_list')).toEqual(['a', 'dir/b', 'g', 'l', 'link', 'sub/h']);
  expect(await run('file_list', { backend: '-git' })).toEqual(['a', 'dir/b', 'link']);
  expect(await run('file_list', { saltenv: 'v1', backend: ['gitfs'] })).toEqual(['g', 'l', 'sub/h']);
  expect(await run('dir_list')).toEqual(['dir', 'sub', 'void']);
  expect(await run('empty_dir_list', { backend: 'git' })).toEqual(['void']);
  expect(await run('symlink_list')).toEqual({ link: 'a', l: 'g' });
});

it('clears lists on request', async () => {
  writeFileSync(join(folder.path, 'base/late'), '');
  expect(await run('file_list', { backend: 'roots' })).not.toContain('late');
  expect(await run('clear_file_list_cache', { saltenv: 'base,dev', backend: 'roots' })).toEqual({ roots: ['base'] });
  expect(await run('clear_file_list_cache', { saltenv: 'nope' })).toEqual({});
  expect(await run('file_list', { backend: 'roots' })).toContain('late');
});

it('updates, locks and clears', async () => {
  expect(await run('update', { kwargs: newDict([['remotes', 'x,y']]) })).toBe(true);
  expect(await run('clear_lock')).toBe('No locks were removed');
  expect(await run('lock', { remote: '*remote' })).toEqual({
    locked: [`Set update lock for gitfs remote 'file://${remote}'`],
  });
  expect(await run('lock')).toBe('No locks were set');
  expect(await run('clear_lock')).toEqual({ cleared: [`Removed update lock for gitfs remote 'file://${remote}'`] });
  expect(await run('clear_cache', { backend: 'roots' })).toBe('No cache was cleared');
  expect(await run('clear_cache')).toEqual({ cleared: ['The git fileserver cache was successfully cleared'] });
});
