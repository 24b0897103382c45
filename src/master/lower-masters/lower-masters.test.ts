// Lower masters: who is one, which minions they have, and how long a job waits for their lists.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nullLogger } from '../../base/log/index.ts';
import { parseTarget } from '../../protocol/target/index.ts';
import { ActiveJob } from '../tracking/active-job.ts';
import { LowerMasters } from './lower-masters.ts';

const jid = '20260131235959000001';
const accepted = new Set(['low', 'mid', 'web1']);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halite-lower-'));
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

function lowerMasters(allowed = ['*']): LowerMasters {
  const opts = { order_masters: true, syndic_dir: folder, syndic_wait: 5, lower_masters: allowed };
  const accept = (id: string): object | undefined => (accepted.has(id) ? {} : undefined);
  return new LowerMasters({ opts, log: nullLogger(), keys: { accepted: accept } });
}

/** A job that waits for lists; what it learns is written down. */
function waitingJob(lower: LowerMasters, tgt: string | string[], kind: string, wanted: readonly string[] = []) {
  const active = new ActiveJob(jid, 'test.ping', [], [], { timeoutMs: 1, gatherMs: 1 });
  const ends: string[][] = [];
  const gathering = lower.gather(jid, {
    ...{ active, wanted, options: { poll: false }, target: parseTarget(tgt, kind) },
    tracker: { begin: (job) => job.start(), addBelow: (job, _options, ids) => job.add(ids) },
    ended: (added) => ends.push([...added].sort()),
  });
  gathering?.start();
  return { active, ends, gathering };
}
const passedOn = (
  lower: LowerMasters,
  from: string,
  minions: string[],
  growing = false,
  tag = `syndic/${from}/${jid}`,
): void => lower.passedOn(from, tag, minions, growing);

describe('lower masters', () => {
  it('are those that say so and are allowed, also after a restart; a deleted key is forgotten', () => {
    const lower = lowerMasters(['l*', 'm*']);
    lower.started('low', true);
    lower.started('web1', false);
    lower.started('stranger', false);
    expect(lower.ids()).toEqual(['low']);
    expect(lower.isNoMinion('low')).toBe(true);
    expect(lower.isNoMinion('web1')).toBe(false);
    expect(lowerMasters().ids()).toEqual(['low']);
    lower.minionStarted('low');
    expect(lower.isNoMinion('low')).toBe(false);
    expect(lowerMasters().isNoMinion('low')).toBe(false);
    lower.forget('low');
    expect(lower.ids()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('have the minions that they name, except those with a key here', () => {
    const lower = lowerMasters();
    lower.started('low', false);
    passedOn(lower, 'low', ['a', 'web1', '../x', 'low']);
    expect(lower.via('a')).toBe('low');
    expect(lower.via('web1')).toBeUndefined();
    expect(lower.via('../x')).toBeUndefined();
    // The minion beside it has the same id.
    expect(lower.via('low')).toBe('low');
    passedOn(lower, 'web1', ['b']);
    expect(lower.via('b')).toBeUndefined();
  });
});

describe('a job', () => {
  it('ends when every lower master has answered', () => {
    const lower = lowerMasters();
    for (const id of ['low', 'mid']) lower.started(id, true);
    const { active, ends } = waitingJob(lower, '*', 'glob');
    passedOn(lower, 'low', ['a']);
    expect(active.ended).toBe(false);
    passedOn(lower, 'mid', [], true);
    expect(ends).toEqual([]);
    passedOn(lower, 'mid', ['b']);
    expect(ends).toEqual([['a', 'b']]);
    expect([...active.verdicts().keys()]).toEqual(['a', 'b']);
    expect(active.ended).toBe(false);
  });

  it('names a lower master that says nothing where its answer is certain to be missing', () => {
    const lower = lowerMasters();
    lower.started('low', true);
    lower.started('mid', false);
    const { active, ends } = waitingJob(lower, 'a*', 'glob');
    vi.advanceTimersByTime(5_000);
    expect(ends).toEqual([[]]);
    expect([...active.verdicts().keys()]).toEqual(['low']);
    expect(active.verdict('low')).toMatchObject({ kind: 'missing', reason: { code: 'lower-silent' } });
    expect(active.ended).toBe(true);
    const everyone = waitingJob(lower, '*', 'glob');
    vi.advanceTimersByTime(5_000);
    expect([...everyone.active.verdicts().keys()]).toEqual(['low', 'mid']);
  });

  it('for names does not wait when all are found, and takes no others', () => {
    const lower = lowerMasters();
    for (const id of ['low', 'mid']) lower.started(id, false);
    const { active, ends } = waitingJob(lower, ['a', 'b'], 'list', ['a', 'b']);
    passedOn(lower, 'low', ['a', 'other']);
    expect(ends).toEqual([]);
    passedOn(lower, 'low', ['b']);
    expect(ends).toEqual([['a', 'b']]);
    expect([...active.verdicts().keys()]).toEqual(['a', 'b']);
    expect(lower.mayBe(jid, 'other')).toBe(false);
    expect(lower.mayBe(jid, 'a')).toBe(true);
    expect(lower.mayBe('20260131235959000002', 'a')).toBeUndefined();
  });

  it('waits longer for a lower master of Salt that has lower masters itself', () => {
    const lower = lowerMasters();
    lower.started('low', false);
    passedOn(lower, 'low', [], false, 'syndic/low/salt/syndic/deep/start');
    const { ends } = waitingJob(lower, 'x*', 'glob');
    passedOn(lower, 'low', []);
    expect(ends).toEqual([]);
    passedOn(lower, 'low', ['x1'], false, `syndic/low/syndic/deep/${jid}`);
    vi.advanceTimersByTime(5_000);
    expect(ends).toEqual([['x1']]);
    expect(lower.via('x1')).toBe('low');
  });
});
