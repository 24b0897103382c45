// Banks of the master's cache on disk.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchKey, flushKey, listKeys, storeKey } from './banks.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'banks-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('banks of the cache', () => {
  it('store, list and remove values', () => {
    storeKey(root, 'mine/east', 'web1', { a: [1, null] });
    storeKey(root, 'mine/east', 'web0', 'text');
    expect(existsSync(join(root, 'mine/east/web1.p'))).toBe(true);
    expect(fetchKey(root, 'mine/east', 'web1')).toEqual({ a: [1, null] });
    expect(listKeys(root, 'mine/east')).toEqual(['web0', 'web1']);
    expect(listKeys(root, 'mine')).toEqual(['east']);
    expect(flushKey(root, 'mine/east', 'web1')).toBe(true);
    expect(flushKey(root, 'mine/east', 'web1')).toBe(false);
    expect(fetchKey(root, 'mine/east', 'web1')).toEqual({});
    expect(flushKey(root, 'mine', '')).toBe(true);
    expect(listKeys(root, 'mine')).toEqual([]);
  });

  it.each(['../x', 'a/../../b', '', '/', '/etc', 'a\0b'])('refuse the bank %j', (name) => {
    expect(() => storeKey(root, name, 'key', 1)).toThrow(/not acceptable|needs a name/);
    expect(() => flushKey(root, name, '')).toThrow(/not acceptable|needs a name/);
  });

  it('refuse a key that leads elsewhere', () => {
    expect(() => fetchKey(root, 'bank', '../../etc/passwd')).toThrow('not acceptable');
  });
});
