// The module `hosts`, on a temporary file.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testContext } from 'halite/testing';
import { afterAll, expect, it } from 'vitest';
import hosts from './hosts.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-hosts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('adds one or several names to an address, and removes one again', async () => {
  const file = join(folder, 'hosts');
  writeFileSync(file, '10.0.0.1\t\told\n');
  const ctx = testContext({ modules: [hosts], opts: { 'hosts.file': file } });
  expect(await ctx.call('hosts.add_host', '10.0.0.1', ['a', 'b'])).toBe(true);
  expect(await ctx.call('hosts.has_pair', '10.0.0.1', ['a', 'b'])).toBe(true);
  expect(await ctx.call('hosts.rm_host', '10.0.0.1', 'old')).toBe(true);
  expect(await ctx.call('hosts.has_pair', '10.0.0.1', 'old')).toBe(false);
  expect(readFileSync(file, 'utf8').split(/\s+/).filter(Boolean)).toEqual(['10.0.0.1', 'a', 'b']);
});
