// Grains that operators set: stored in the file, visible immediately, refused where data would be lost.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { type TestContext, testContext } from 'halite/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import grains from './index.ts';

let folder: string;
let refreshed: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-grains-'));
  refreshed = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function make(own: Record<string, Value> = {}): TestContext {
  return testContext({
    modules: [grains],
    opts: { conf_file: join(folder, 'minion') },
    grains: newDict(
      Object.entries({ os: 'Debian', id: 'web1', fqdn: 'web1.example.org', serialnumber: '12345678', ...own }),
    ),
    minion: {
      refreshGrains: async () => void refreshed.push('grains'),
      refreshPillar: async () => refreshed.push('pillar') > 0,
    },
  });
}
const file = (): string => readFileSync(join(folder, 'grains'), 'utf8');
const call = (ctx: TestContext, fun: string, args: Value[], kwargs: PlainDict = newDict()): Promise<Value> =>
  ctx.callWith(`grains.${fun}`, args, kwargs);

it('compares lists as their text', async () => {
  const ctx = make({ roles: ['web', 'db'] });
  expect(await call(ctx, 'equals', ['roles', ['web', 'db']])).toBe(true);
  expect(await call(ctx, 'equals', ['roles', ['web']])).toBe(false);
});

describe('setting', () => {
  it('writes YAML next to the configuration and refreshes the grains', async () => {
    const ctx = make();
    expect(await call(ctx, 'setval', ['role', 'web'])).toEqual({ role: 'web' });
    await call(ctx, 'setvals', [{ tags: ['a', 'b'], deep: { x: 1 } }]);
    expect(file()).toBe('deep:\n  x: 1\nrole: web\ntags:\n- a\n- b\n');
    expect(refreshed).toEqual(['grains', 'pillar', 'grains', 'pillar']);
    expect(await call(ctx, 'get', ['deep:x'])).toBe(1);
  });

  it('does not refresh the pillar on request', async () => {
    await call(make(), 'setval', ['a', 1], newDict([['refresh_pillar', false]]));
    expect(refreshed).toEqual(['grains']);
  });

  it('reports the error in a broken file and keeps the file', async () => {
    writeFileSync(join(folder, 'grains'), '{broken');
    expect(await call(make(), 'setval', ['a', 1])).toMatch(/^Unable to read existing grains file: /);
    expect(file()).toBe('{broken');
  });

  it('replaces dictionaries and lists only with force', async () => {
    const ctx = make({ app: { port: 1 } });
    expect(await call(ctx, 'set', ['app', 2])).toMatchObject({
      result: false,
      comment: "The key 'app' exists but is a dict or a list. Use 'force=True' to overwrite.",
    });
    expect(await call(ctx, 'set', ['app:port', 2])).toMatchObject({ result: true, changes: { app: { port: 2 } } });
    expect(await call(ctx, 'set', ['app', 3], newDict([['force', true]]))).toMatchObject({
      result: true,
      changes: { app: 3 },
    });
  });

  it('adds to and removes from nested lists', async () => {
    const ctx = make({ a: { b: [1] } });
    expect(await call(ctx, 'append', ['a:b', 2])).toEqual({ a: { b: [1, 2] } });
    expect(await call(ctx, 'append', ['a:b', 2])).toBe('The val 2 was already in the list a:b');
    expect(await call(ctx, 'remove', ['a:b', 1])).toEqual({ a: { b: [2] } });
    expect(await call(ctx, 'remove', ['a:b', 9])).toBe('The val 9 was not in the list a:b');
    expect(await call(ctx, 'append', ['os', 'x'])).toBe('The key os is not a valid list');
  });

  it('removes grains', async () => {
    const ctx = make();
    await call(ctx, 'setval', ['role', 'web']);
    await call(ctx, 'delval', ['role']);
    expect(file()).toBe('role: null\n');
    await call(ctx, 'delkey', ['role']);
    expect(file()).toBe('{}\n');
    expect(await call(ctx, 'has_value', ['role'])).toBe(false);
  });

  it('creates a random text once', async () => {
    const ctx = make();
    const made = await call(ctx, 'get_or_set_hash', ['app:key', 12]);
    expect(made).toMatch(/^.{12}$/);
    expect(await call(ctx, 'get_or_set_hash', ['app:key', 12])).toBe(made);
  });
});

describe('reading', () => {
  it('hides what identifies a machine', async () => {
    const shown = (await call(make(), 'items', [], newDict([['sanitize', true]]))) as PlainDict;
    expect(shown).toMatchObject({
      id: 'MINION.DOMAINNAME',
      fqdn: 'MINION.DOMAINNAME',
      serialnumber: '123456XX',
      os: 'Debian',
    });
  });

  it('sorts names', async () => {
    expect(await call(make(), 'ls', [])).toEqual(['fqdn', 'id', 'os', 'serialnumber']);
  });
});
