import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { receiveChunk } from './receive.ts';
import { temporaryFolder } from './testing.ts';

let folder: ReturnType<typeof temporaryFolder>;
const at = (...parts: string[]): string => join(folder.path, ...parts);
const push = (load: Record<string, Value>, max = 1000): Promise<string | undefined> =>
  receiveChunk(newDict(Object.entries({ loc: 0, size: 0, data: 'x', ...load })), at('minion/files'), max);

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

it('puts chunks together', async () => {
  expect(await push({ path: ['etc', 'fstab'], data: 'one ' })).toBeUndefined();
  expect(await push({ path: ['etc', 'fstab'], loc: 4, data: new Uint8Array([116, 119, 111]) })).toBeUndefined();
  expect(readFileSync(at('minion/files/etc/fstab'), 'utf8')).toBe('one two');
  expect(statSync(at('minion/files/etc/fstab')).mode & 0o777).toBe(0o600);
});

it('starts again with the first chunk and accepts an empty file', async () => {
  await push({ path: ['f'], data: 'something long' });
  expect(await push({ path: ['f'], data: '' })).toBeUndefined();
  expect(readFileSync(at('minion/files/f'), 'utf8')).toBe('');
});

it.each([
  [{ path: 'etc/fstab' }],
  [{ path: [] }],
  [{ path: ['..', 'x'] }],
  [{ path: ['a', '../../../x'] }],
  [{ path: ['a\0'] }],
  [{ path: [3] }],
  [{ path: ['a'], loc: -1 }],
  [{ path: ['a'], loc: 1.5 }],
  [{ path: ['a'], loc: null }],
  [{ path: ['a'], data: null }],
  [{ path: ['a'], data: 'x'.repeat(1001) }],
  [{ path: ['a'], loc: 999, data: 'xx' }],
  [{ path: ['a'], size: 1001 }],
  [{ path: ['a'], loc: 5 }],
])('refuses %j', async (load) => {
  expect(await push(load as Record<string, Value>)).toBeTypeOf('string');
  expect(existsSync(at('x'))).toBe(false);
});

it('leaves no gap before a chunk', async () => {
  await push({ path: ['f'], data: 'abc' });
  expect(await push({ path: ['f'], loc: 10 })).toContain('missing');
});

it('follows no links', async () => {
  mkdirSync(at('minion/files/dir'), { recursive: true });
  writeFileSync(at('secret'), 'untouched');
  symlinkSync(at('secret'), at('minion/files/link'));
  symlinkSync(folder.path, at('minion/files/dir/out'));
  expect(await push({ path: ['link'] })).toContain('link');
  expect(await push({ path: ['dir', 'out', 'secret'] })).toContain('link');
  expect(readFileSync(at('secret'), 'utf8')).toBe('untouched');
});

it('writes below its folder or nowhere', async () => {
  const name = fc.oneof(fc.constantFrom('..', '.', '', '/', '../', 'a', '/etc', 'a/../..', '..\\'), fc.string());
  await fc.assert(
    fc.asyncProperty(fc.array(name, { maxLength: 5 }), async (path) => {
      await push({ path });
      expect(readdirSync(folder.path).filter((entry) => entry !== 'minion')).toEqual([]);
      expect(existsSync(at('minion')) ? readdirSync(at('minion')) : ['files']).toEqual(['files']);
    }),
    { numRuns: 300 },
  );
});
