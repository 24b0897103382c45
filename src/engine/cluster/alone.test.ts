// What only a cluster of one promises; what all engines promise is in test/backends/cluster.test.ts.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import { openSmallTable, type SmallTable } from '../../store/sqlite/local-table.ts';
import { aloneCluster } from './alone.ts';
import type { Publication } from './messages.ts';

let folder: string;
let table: SmallTable;
const file = (): string => join(folder, 'own.db');
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halite-alone-'));
  table = await openSmallTable(file());
});
afterEach(() => {
  table.close();
  rmSync(folder, { recursive: true, force: true });
});
const open = () => aloneCluster({ id: 'm1', addresses: [], table });
const mark = (what: string): Publication => ({ kind: 'mark', what, data: null });

it('calls the handler of a publication within the call, once for a key, and later ones after it', async () => {
  const { relay } = open();
  const seen: string[] = [];
  let release = (): void => undefined;
  relay.onPublication(async (message, place) => {
    seen.push(`${(message as { what: string }).what} ${place}`);
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  const first = relay.publish('a', mark('one'), 0);
  expect(seen).toEqual(['one 1']);
  expect(await relay.publish('a', mark('one'), 0)).toBe(await first);
  expect(await relay.publish('b', mark('two'), 0)).toBe(2);
  expect(seen).toEqual(['one 1']);
  release();
  await Promise.resolve();
  await Promise.resolve();
  expect(seen).toEqual(['one 1', 'two 2']);
});

it('keeps what was put into buckets, revisions and terms over a restart, in a file of its owner', async () => {
  const value = newDict([['a', [1, 'ü']]]);
  const first = await open().registry.bucket('keys').create('k', value);
  const lease = { ttlMs: 1, lost: () => undefined, signal: new AbortController().signal };
  const { term } = await open().registry.lease('leader', lease);
  table.close();
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  table = await openSmallTable(file());
  const bucket = open().registry.bucket('keys');
  expect(await bucket.get('k')).toEqual({ key: 'k', value, revision: first });
  expect(await bucket.update('k', 1, first)).toBe(first + 1);
  expect((await open().registry.lease('leader', lease)).term).toBe(term + 1);
});
