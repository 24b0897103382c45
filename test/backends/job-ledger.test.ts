// The store of a member of a cluster takes frames of the ledger, and one of an earlier version becomes one of this
// version. That all members end with equal rows is shown in src/store/sqlite/ledger.test.ts.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../src/base/codec/value.ts';
import type { FrameItem, ReturnRecord, StoredFrame } from '../../src/store/jobs.ts';
import { SqliteJobStore } from '../../src/store/sqlite/store.ts';
import { job, ret } from '../support/job-records.ts';

let folder: string;
let opened = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-ledger-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open = (): Promise<SqliteJobStore> => SqliteJobStore.open(join(folder, `${++opened}.db`));
const first = '20261118120000000001';

const resultOf = (jid: string, id: string, value: Value, more: Partial<ReturnRecord> = {}): FrameItem => ({
  ...{ kind: 'ret', attempt: 1, ...ret(jid, id, value), received: 1_795_000_000_000, ...more },
});
const frameOf = (place: number, from: number, items: FrameItem[], own = false): StoredFrame => ({
  ...{ position: `p${place}`, place, from, own, items },
});

/** Everything that must be equal on all members. */
async function rowsOf(store: SqliteJobStore): Promise<Value> {
  const rows = await Promise.all([
    store.query('SELECT * FROM ret ORDER BY jid, id'),
    store.query('SELECT * FROM job ORDER BY jid'),
    store.query('SELECT * FROM head ORDER BY jid'),
    store.query('SELECT * FROM verdict ORDER BY jid, id'),
    store.query('SELECT * FROM odd ORDER BY jid'),
    store.query("SELECT value FROM meta WHERE key = 'ledger_position'"),
  ]);
  return rows as Value;
}

describe('a frame of the ledger', () => {
  it('brings what another member received, and the position, which a restart finds again', async () => {
    const file = join(folder, 'restart.db');
    const store = await SqliteJobStore.open(file);
    expect(await store.ledgerPosition()).toBeUndefined();
    const record = job(first, { expected: ['a'], owner: 2 });
    const items: FrameItem[] = [{ kind: 'job', job: record }, resultOf(first, 'a', { deep: ['ünïcode', 1.5] })];
    expect(await store.applyFrame(frameOf(7, 2, items))).toEqual({ fresh: [1], conflicts: [] });
    // At least once: the same frame again changes nothing.
    expect(await store.applyFrame(frameOf(7, 2, items))).toEqual({ fresh: [], conflicts: [] });
    expect((await store.returns(first)).get('a')).toMatchObject({ return: { deep: ['ünïcode', 1.5] } });
    expect(await store.expected(first)).toEqual(['a']);
    await store.close();
    const again = await SqliteJobStore.open(file);
    expect(await again.ledgerPosition()).toBe('p7');
    expect(await again.receivers(first)).toEqual({ owner: 2, via: new Map([['a', 2]]) });
    await again.close();
  });

  it('decides between two results of one run by its place, and tells that they differ', async () => {
    const store = await open();
    await store.saveReturn({ ...ret(first, 'a', 'mine'), via: 0 });
    // Another member's was earlier.
    expect(await store.applyFrame(frameOf(5, 1, [resultOf(first, 'a', 'theirs')]))).toEqual({
      fresh: [],
      conflicts: [{ jid: first, id: 'a', via: [0, 1] }],
    });
    await store.applyFrame(frameOf(6, 0, [resultOf(first, 'a', 'mine')], true));
    expect((await store.returns(first)).get('a')).toMatchObject({ return: 'theirs' });
    // A later run of the job replaces it wherever it is, and an earlier run does not come back.
    await store.applyFrame(frameOf(7, 2, [resultOf(first, 'a', 'run 2', { attempt: 2 })]));
    await store.applyFrame(frameOf(8, 2, [resultOf(first, 'a', 'again', { attempt: 1 })]));
    expect((await store.returns(first)).get('a')).toMatchObject({ return: 'run 2' });
    await store.close();
  });

  it('is no conflict when one result reached two members', async () => {
    const store = await open();
    const [one, other] = [resultOf(first, 'a', true), resultOf(first, 'a', true, { received: 1_795_000_000_500 })];
    await store.applyFrame(frameOf(1, 0, [one]));
    expect(await store.applyFrame(frameOf(2, 1, [other]))).toEqual({ fresh: [], conflicts: [] });
    await store.close();
  });

  it('shows which results the ledger may not have, until it has them', async () => {
    const store = await open();
    await store.saveReturn(ret(first, 'before the cluster'));
    await store.saveReturn({ ...ret(first, 'a', { x: [1, null] }), via: 3 });
    expect(await store.unplaced(10)).toMatchObject([{ jid: first, id: 'a', attempt: 1, via: 3 }]);
    const [held] = await store.unplaced(10);
    expect(await store.unplaced(10, held)).toEqual([]);
    await store.applyFrame(frameOf(9, 3, [{ kind: 'ret', attempt: 1, ...held! }], true));
    expect(await store.unplaced(10)).toEqual([]);
    await store.close();
  });

  it('joins the minions that ran their schedule in the same microsecond to one job', async () => {
    const [one, other] = [await open(), await open()];
    const run = (id: string): FrameItem => ({
      kind: 'own',
      job: {
        ...job(first, { tgt: id, expected: [id], started: 1, user: '' }),
        load: newDict([
          ['cmd', '_return'],
          ['id', id],
          ['fun', 'test.ping'],
          ['arg', []],
          ['tgt', id],
          ['jid', first],
        ]),
      },
    });
    await one.applyFrame(frameOf(1, 0, [run('b')]));
    await one.applyFrame(frameOf(2, 1, [run('a')]));
    const local = run('a');
    if (local.kind === 'own') await other.saveJob({ ...local.job, adopted: true });
    await other.applyFrame(frameOf(1, 0, [run('b')]));
    await other.applyFrame(frameOf(2, 1, [run('a')], true));
    expect(await one.expected(first)).toEqual(['a', 'b']);
    expect(await rowsOf(one)).toEqual(await rowsOf(other));
    await Promise.all([one.close(), other.close()]);
  });
});

describe('a store of version 4', () => {
  it('has everything after the change to this version, and takes frames', async () => {
    const file = join(folder, 'version-4.db');
    const kept = new URL('../fixtures/store/halite-4.db.gz', import.meta.url);
    writeFileSync(file, gunzipSync(readFileSync(kept)), { mode: 0o600 });
    const store = await SqliteJobStore.open(file);
    const [ping, command, own] = ['1', '2', '3'].map((digit) => `2026100100000000000${digit}`) as [
      string,
      string,
      string,
    ];
    expect((await store.list({})).map(({ jid }) => jid)).toEqual([own, command, ping]);
    expect((await store.returns(ping)).get('a')).toMatchObject({ return: { deep: ['ünïcode', 1.5, null] } });
    expect((await store.returns(ping)).get('b')).toMatchObject({ return: Number.NaN });
    expect(await store.verdicts(command)).toMatchObject([{ id: 'b', reason: 'silent' }]);
    expect(await store.pending()).toEqual([{ jid: command, id: 'b', until: 4_102_444_800_000 }]);
    expect([...(await store.loadMine()).keys()]).toEqual(['a']);
    expect(await store.query('PRAGMA user_version')).toEqual([{ user_version: 6 }]);
    expect(await store.query('SELECT attempt, place, digest, via FROM ret WHERE jid = ?', [command])).toEqual([
      { attempt: 1, place: 0, digest: null, via: null },
    ]);
    await store.applyFrame(frameOf(1, 4, [resultOf(command, 'b', 'late'), resultOf(command, 'a', 'text')]));
    expect(Object.fromEntries((await store.receivers(command)).via)).toEqual({ a: 4, b: 4 });
    await store.close();
  });
});
