// Data of minions on three members: equal everywhere after writes from all sides, and nothing is written twice.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import type { Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { nullLogger } from '../../base/log/index.ts';
import { SharedRecords } from './records.ts';
import { Fabric, loneMember } from './testing.ts';

interface Tested {
  readonly data: Map<string, Value>;
  readonly records: SharedRecords;
  put(id: string, value: Value): void;
}
let fabric: Fabric;
const opened: SharedRecords[] = [];

function open(id: string, own: Iterable<[string, Value]> = [], known = (_id: string): boolean => true): Tested {
  const data = new Map(own);
  const records = SharedRecords.open({
    ...{ cluster: fabric.join(id), bucket: 'data', log: nullLogger(), own: () => data, isKnown: known },
    changed: (minion, value) => {
      if (value === undefined) data.delete(minion);
      else data.set(minion, value);
    },
  });
  if (!records) throw new Error('a member of a cluster has shared records');
  opened.push(records);
  const put = (minion: string, value: Value): void => {
    data.set(minion, value);
    records.put(minion, value);
  };
  return { data, records, put };
}

beforeEach(() => {
  fabric = new Fabric();
});
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});

it('are the same on all members after writes from all of them', async () => {
  const members = ['m1', 'm2', 'm3'].map((id) => open(id));
  for (let n = 0; n < 300; n++) members[n % 3]?.put(`web${n % 20}`, { os: 'Debian', n });
  members[0]?.records.remove('web7');
  const texts = (): string[] => members.map(({ data }) => JSON.stringify([...data].sort()));
  await eventually('equal data', () => new Set(texts()).size === 1 && !members[1]?.data.has('web7'));
  expect(members[2]?.data.size).toBe(19);
});

it('are not written when they did not change', async () => {
  const [m1, m2] = [open('m1'), open('m2')];
  m1.put('web1', { os: 'Debian' });
  await eventually('the data', () => m2.data.has('web1'));
  const bucket = fabric.registry.bucket('data');
  const writes = [vi.spyOn(bucket, 'update'), vi.spyOn(bucket, 'create')];
  for (let n = 0; n < 100; n++) for (const { put } of [m1, m2]) put('web1', { os: 'Debian' });
  m1.put('web2', 1);
  await eventually('the next data', () => m2.data.get('web2') === 1);
  expect(writes.map(({ mock }) => mock.calls.length)).toEqual([0, 1]);
});

it('of a master that joins are added, except of minions whose keys are gone', async () => {
  const m1 = open('m1', [['web1', 'old']]);
  const m2 = open(
    'm2',
    [
      ['web1', 'other'],
      ['web2', 'new'],
      ['gone', 'x'],
    ],
    (id) => id !== 'gone',
  );
  await eventually('its data', () => m1.data.get('web2') === 'new');
  expect([m2.data.get('web1'), m2.data.has('gone'), m1.data.has('gone')]).toEqual(['old', false, false]);
});

it('wait for the engine, and the last value is written', async () => {
  const [m1, m2] = [open('m1'), open('m2')];
  const cut = new HaliteError('cluster.cut-off', 'no word from the engine');
  const create = vi.spyOn(fabric.registry.bucket('data'), 'create').mockRejectedValue(cut);
  for (let n = 0; n < 5; n++) m1.put('web1', n);
  await eventually('a try', () => create.mock.calls.length > 0);
  create.mockRestore();
  await eventually('the data', () => m2.data.get('web1') === 4);
});

it('that are too large stay with their member', async () => {
  const [m1, m2] = [open('m1'), open('m2')];
  const bucket = fabric.registry.bucket('data');
  const limit = new HaliteError('codec.limit', 'too large');
  const create = bucket.create.bind(bucket);
  vi.spyOn(bucket, 'create').mockImplementation((key, value) =>
    key === 'large' ? Promise.reject(limit) : create(key, value),
  );
  m1.put('large', 'x');
  m1.put('small', 'y');
  await eventually('the other', () => m2.data.has('small'));
  expect([m1.data.has('large'), m2.data.has('large')]).toEqual([true, false]);
});

it('of another shape are refused by their reader, and ids that are none are left out', async () => {
  const m1 = open('m1');
  const bucket = fabric.registry.bucket('data');
  await bucket.create('../x', { hash: 'a', value: 1 });
  for (const [n, value] of [7, 'x', [], null, { hash: 7 }].entries()) await bucket.create(`odd${n}`, value);
  await eventually('the entries', () => m1.data.size === 5);
  expect([...new Set(m1.data.values())]).toEqual([null]);
});

it('are no matter of a master without others', () => {
  const parts = {
    bucket: 'data',
    log: nullLogger(),
    own: () => [],
    isKnown: () => true,
    changed: () => undefined,
  } as const;
  expect(SharedRecords.open({ ...parts, cluster: loneMember() })).toBeUndefined();
});
