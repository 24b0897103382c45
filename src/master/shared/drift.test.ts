// Differences between members: named after a while with the members on each side, and shown without secrets.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import { Drift } from './drift.ts';
import { Fabric, loneMember } from './testing.ts';
import type { Listed } from './trees.ts';

interface Tested {
  readonly drift: Drift;
  readonly raw: PlainDict;
  files: Listed[];
}
let fabric: Fabric;
let fired: string[];
const opened: Drift[] = [];
const times = { tellMs: 1000, patienceMs: 5000, mostListed: 10_000 };

function open(id: string, options: Record<string, Value> = {}): Tested {
  const tested = { raw: newDict(Object.entries(options)), files: [{ path: 'top.sls', digest: 'a' }] };
  const drift = Drift.open(
    {
      ...{ cluster: fabric.join(id), opts: tested, log: nullLogger() },
      bus: { fire: (tag, data) => void fired.push(`${id} ${tag} ${String((data as PlainDict)['what'])}`) },
      files: async () => new Map([['base', tested.files]]),
      pillars: async () => new Map(),
      keys: () => new Map([['public key', 'same']]),
    },
    times,
  );
  if (!drift) throw new Error('a member of a cluster watches for drift');
  opened.push(drift);
  return Object.assign(tested, { drift });
}
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'setImmediate', 'Date'] });
  [fabric, fired] = [new Fabric(), []];
});
afterEach(() => {
  for (const drift of opened.splice(0)) drift.close();
  vi.useRealTimers();
});

it('is named by all, and told by the leader, when it lasts; it ends when the members are equal again', async () => {
  const groups = { web: 'L@web1,web2' };
  const [m1, m2, m3] = [
    open('m1', { nodegroups: groups }),
    open('m2', { nodegroups: groups }),
    open('m3', { nodegroups: groups }),
  ];
  fabric.elect('m2');
  await pass(10_000);
  expect([m1, m2, m3].map(({ drift }) => drift.findings())).toEqual([[], [], []]);
  m3.raw['nodegroups'] = { web: 'L@web1' };
  m2.files = [{ path: 'top.sls', digest: 'b' }];
  await pass(3000);
  expect([m1.drift.findings(), fired]).toEqual([[], []]);
  await pass(10_000);
  expect(m1.drift.findings().map(({ what, sides }) => [what, sides])).toEqual([
    ['files base', [['m1', 'm3'], ['m2']]],
    ['option nodegroups', [['m1', 'm2'], ['m3']]],
  ]);
  expect(fired.sort()).toEqual(['m2 halite/cluster/drift files base', 'm2 halite/cluster/drift option nodegroups']);
  m3.raw['nodegroups'] = groups;
  m2.files = m1.files;
  await pass(3000);
  expect(m1.drift.findings()).toEqual([]);
});

it('of a member that is gone is none', async () => {
  const m1 = open('m1', { max_minions: 5 });
  open('m2', { max_minions: 6 }).drift.close();
  await pass(10_000);
  expect(m1.drift.findings()).toHaveLength(1);
  fabric.leave('m2');
  expect(m1.drift.findings()).toEqual([]);
});

it('is shown by option and path, with secrets masked', async () => {
  const m1 = open('m1', { ext_pillar: [{ sql: { password: 'hidden1' } }], max_minions: 1 });
  const m2 = open('m2', { ext_pillar: [{ sql: { password: 'hidden2' } }], max_minions: 2 });
  m2.files = Array.from({ length: 5000 }, (_, n) => ({ path: `f${String(n).padStart(4, '0')}`, digest: 'x' }));
  const diff = (await m1.drift.diff('m1', 'm2')) as Record<string, Value[]>;
  expect(diff['option max_minions']).toEqual({ m1: 1, m2: 2 });
  expect(JSON.stringify(diff)).not.toContain('hidden');
  expect(diff['files base']).toHaveLength(11);
  expect([diff['files base']?.[0], diff['files base']?.at(-1)]).toEqual(['f0000: only on m2', 'and 4991 more']);
  expect(await m1.drift.diff('m1', 'm1')).toEqual({});
});

it('told in another shape is left out', async () => {
  const m1 = open('m1');
  const bucket = fabric.registry.bucket('reg');
  for (const [n, value] of [
    7,
    null,
    [],
    { id: 7 },
    { id: 'm2', digests: 'x' },
    { id: 'm2', digests: { a: 7 } },
  ].entries())
    await bucket.create(`drift.${n + 3}`, value as Value);
  await pass(10_000);
  expect(m1.drift.findings()).toEqual([]);
  expect(
    Drift.open({
      cluster: loneMember(),
      opts: { raw: {} },
      bus: { fire: () => undefined },
      log: nullLogger(),
      files: async () => new Map(),
      pillars: async () => new Map(),
      keys: () => new Map([['public key', 'same']]),
    }),
  ).toBeUndefined();
});

it('asked of a member that answers anything is bounded, and refuses what has no end', async () => {
  const m1 = open('m1');
  const bad = fabric.join('m2');
  const answer = (items: () => Iterable<Value>): void =>
    bad.signals.answer('diff', async function* () {
      yield* items();
    });
  const none: Value = newDict();
  answer(() => [
    7,
    null,
    [],
    [7, 7],
    ['files base'],
    ['files base', 7],
    ['files base', { 'a\nb': 'x', c: 7 }],
    ['option x', none],
  ]);
  const diff = (await m1.drift.diff('m1', 'm2')) as Record<string, Value[]>;
  expect(diff['files base']).toEqual(['a\\nb: only on m2', 'top.sls: only on m1']);
  answer(function* () {
    for (let n = 0; ; n++) yield [`option ${n}`, n];
  });
  await expect(m1.drift.diff('m1', 'm2')).rejects.toThrow(/more than a master can have/);
  answer(function* () {
    for (let n = 0; ; n++) yield ['files base', newDict(Array.from({ length: 2000 }, (_, k) => [`${n} ${k}`, 'x']))];
  });
  await expect(m1.drift.diff('m1', 'm2')).rejects.toThrow(/more than a master can have/);
});
