// The master schedule of three members: every run once, whoever leads, however often that changes.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PlainDict } from '../../base/codec/value.ts';
import { nullLogger } from '../../base/log/index.ts';
import { MasterScheduler } from '../periodic/scheduler.ts';
import { ScheduleClaims } from './schedule.ts';
import { Fabric, loneMember } from './testing.ts';

interface Run {
  readonly member: string;
  readonly fun: string;
  readonly at: number;
}
let fabric: Fabric;
let runs: Run[];
const stops: (() => void)[] = [];

function open(id: string, schedule: PlainDict): void {
  const claims = new ScheduleClaims({ cluster: fabric.join(id), log: nullLogger() });
  const functions = {
    start: (_kind: string, fun: string) => {
      runs.push({ member: id, fun, at: Date.now() });
      return { jid: '1', result: Promise.resolve({ ret: null, success: true, retcode: 0 }) };
    },
  };
  const scheduler = new MasterScheduler({ opts: { raw: { schedule } }, log: nullLogger(), functions, claims });
  scheduler.start();
  stops.push(() => {
    scheduler.stop();
    claims.stop();
  });
}
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
/** The periods of ten seconds in which a function ran, each as often as it did. */
const periods = (): number[] => runs.map(({ at }) => Math.floor(at / 10_000)).sort((a, b) => a - b);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'setImmediate', 'Date'] });
  vi.setSystemTime(Date.UTC(2026, 10, 18, 12, 0, 3, 700));
  [fabric, runs] = [new Fabric(), []];
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  vi.useRealTimers();
});

describe('the schedule of a cluster', () => {
  const every = { every: { function: 'test.ping', seconds: 10 } };

  it('is run by the leader, each time once, also when members start at different times and leaders change', async () => {
    for (const id of ['m1', 'm2', 'm3']) {
      open(id, every);
      await pass(1700);
    }
    fabric.elect('m1');
    for (const leader of ['m2', 'm3', 'm1', 'm3', 'm2']) {
      await pass(20_000);
      fabric.elect(leader);
    }
    await pass(10_000);
    const seen = periods();
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, n) => (seen[0] ?? 0) + n));
    expect(seen.length).toBeGreaterThanOrEqual(10);
  });

  it('is caught up with by the next leader, once for each job, when nobody led for a while', async () => {
    for (const id of ['m1', 'm2']) open(id, every);
    fabric.elect('m1');
    await pass(15_000);
    fabric.elect(undefined);
    fabric.leave('m1');
    await pass(20_000);
    fabric.elect('m2');
    await pass(10_000);
    const members = runs.map(({ member }) => member);
    expect([members[0], members.at(-1)]).toEqual(['m1', 'm2']);
    // At 10 s by the first leader, one of 20 and 30 s late, and at 40 s.
    expect(runs).toHaveLength(3);
  });

  it('is not run by a leader that was frozen and leads no more', async () => {
    open('m1', every);
    open('m2', every);
    fabric.elect('m1');
    await pass(1000);
    // Frozen: its lease is gone when it goes on.
    fabric.elect('m2');
    await pass(30_000);
    expect(new Set(runs.map(({ member }) => member))).toEqual(new Set(['m2']));
    expect(periods()).toEqual([...new Set(periods())]);
  });

  it('runs a job with `cluster: any` on every member', async () => {
    for (const id of ['m1', 'm2', 'm3']) open(id, { any: { function: 'test.ping', seconds: 10, cluster: 'any' } });
    fabric.elect('m1');
    await pass(10_000);
    expect(runs.map(({ member }) => member).sort()).toEqual(['m1', 'm2', 'm3']);
  });

  it('waits while the engine does not answer, and then runs once', async () => {
    open('m1', every);
    fabric.elect('m1');
    const member = fabric.get('m1');
    const claim = vi.spyOn(fabric.registry, 'claim').mockRejectedValue(new Error('no word from the engine'));
    await pass(10_000);
    expect([claim.mock.calls.length > 1, runs]).toEqual([true, []]);
    claim.mockRestore();
    await pass(2000);
    expect([runs.length, member?.leads()]).toEqual([1, true]);
  });
});

describe('a master without others', () => {
  it('runs without a claim', () => {
    const claims = new ScheduleClaims({ cluster: loneMember(), log: nullLogger() });
    let ran = 0;
    claims.due('x', new Date(), () => ran++);
    expect(ran).toBe(1);
    claims.stop();
  });
});
