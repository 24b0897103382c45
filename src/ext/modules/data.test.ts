// The minion's own store, and temporary files.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, expect, it } from 'vitest';
import data from './data.ts';
import temp from './temp.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-data-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ctx = testContext({ modules: [data, temp], opts: { cachedir: folder } });

it('stores, compares and removes values', async () => {
  expect(await ctx.call('data.get', 'k', 'none')).toBe('none');
  expect(await ctx.call('data.update', 'k', 1)).toBe(true);
  expect(await ctx.call('data.update', 'n', [1, 'x'])).toBe(true);
  expect(await ctx.call('data.has_key', 'n')).toBe(true);
  expect(await ctx.call('data.get', ['n', 'k'])).toEqual([[1, 'x'], 1]);
  expect(await ctx.call('data.cas', 'k', 2, 9)).toBe(false);
  expect(await ctx.call('data.cas', 'k', 2, 1)).toBe(true);
  expect(await ctx.call('data.pop', 'k')).toBe(2);
  expect(await ctx.call('data.keys')).toEqual(['n']);
  expect(await ctx.call('data.dump', newDict([['a', 1]]))).toBe(true);
  expect(await ctx.call('data.values')).toEqual([1]);
  expect(await ctx.call('data.clear')).toBe(true);
  expect(await ctx.call('data.items')).toEqual({});
});

it('creates files and folders that only the owner can read', async () => {
  const file = String(await ctx.call('temp.file', '.x', 'mine-', folder));
  const dir = String(await ctx.call('temp.dir', '', 'tmp', folder));
  expect(file).toMatch(/\/mine-[0-9a-f]{10}\.x$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(dir).mode & 0o777).toBe(0o700);
});
