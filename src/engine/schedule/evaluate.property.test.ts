// With many simulated clocks: jobs run as often as configured, and never when they must not.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { loadCron } from './cron.ts';
import { type Entry, newState } from './entry.ts';
import { type EvaluateOptions, evaluate, splaySeconds } from './evaluate.ts';

const start = new Date(2026, 10, 15, 10, 0, 0);
let cron: Awaited<ReturnType<typeof loadCron>>;
beforeAll(async () => {
  cron = await loadCron();
});

const entryOf = (data: Record<string, Value>): Entry => ({
  name: 'job',
  data: newDict(Object.entries({ function: 'test.ping', ...data })) as PlainDict,
  fromPillar: false,
  state: newState(),
});
const options = (more: Partial<EvaluateOptions> = {}): EvaluateOptions => ({
  tools: { cron, sources: [] },
  enabled: true,
  splay: undefined,
  random: () => 0.5,
  graceMs: 60_000,
  skipFunction: undefined,
  skipDuringRange: undefined,
  ...more,
});

/** Checks the clock at the given intervals; returns the times at which the job ran. */
function runs(entry: Entry, steps: readonly number[], given = options(), from = start): Date[] {
  const found: Date[] = [];
  let now = from.getTime();
  for (const step of [0, ...steps]) {
    now += step;
    if (evaluate(entry, new Date(now), given)) found.push(new Date(now));
  }
  return found;
}

const everySecond = (seconds: number): number[] => Array.from({ length: seconds }, () => 1000);
/** One second each, with the variation of timers on a busy machine. */
const steps = fc.array(fc.integer({ min: 700, max: 3000 }), { minLength: 50, maxLength: 400 });

describe('intervals', () => {
  it('run neither sooner than the interval nor later than one check after it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), steps, (seconds, looks) => {
        const times = [start, ...runs(entryOf({ seconds }), looks)];
        for (let i = 1; i < times.length; i++) {
          const apart = (times[i] as Date).getTime() - (times[i - 1] as Date).getTime();
          expect(apart).toBeGreaterThan((seconds - 1) * 1000);
          expect(apart).toBeLessThan((seconds + 4) * 1000);
        }
        const elapsed = looks.reduce((sum, look) => sum + look, 0) / 1000;
        expect(times.length - 1).toBeGreaterThanOrEqual(Math.floor(elapsed / (seconds + 4)));
      }),
      { numRuns: 60 },
    );
  });

  it('add up, and are never zero', () => {
    expect(runs(entryOf({ minutes: 1, seconds: 30 }), everySecond(200))).toEqual([
      new Date(start.getTime() + 90_000),
      new Date(start.getTime() + 180_000),
    ]);
    expect(runs(entryOf({ seconds: 0 }), everySecond(5)).length).toBe(5);
  });

  it('are delayed by their splay, within its limits', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 30 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (low, more, x) => {
          const splay = newDict([
            ['start', low],
            ['end', low + more],
          ] as [string, Value][]);
          const seconds = splaySeconds(splay, () => x) as number;
          expect(seconds).toBeGreaterThanOrEqual(low);
          expect(seconds).toBeLessThanOrEqual(low + more);
          const [first] = runs(entryOf({ seconds: 10, splay }), everySecond(80), options({ random: () => x }));
          expect(first).toEqual(new Date(start.getTime() + (10 + seconds) * 1000));
        },
      ),
      { numRuns: 50 },
    );
    expect(
      splaySeconds(
        newDict([
          ['start', 5],
          ['end', 2],
        ] as [string, Value][]),
        () => 0,
      ),
    ).toBeUndefined();
  });
});

describe('named moments', () => {
  const at = (seconds: number): Date => new Date(start.getTime() + seconds * 1000);
  const clock = (date: Date): string => date.toTimeString().slice(0, 8);

  it('run once each, for any intervals of checks', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(
          fc.integer({ min: 1, max: 50 }).map((x) => x * 6),
          { minLength: 1, maxLength: 6 },
        ),
        steps,
        (when, looks) => {
          const elapsed = looks.reduce((sum, look) => sum + look, 0);
          const reached = when.filter((seconds) => seconds * 1000 <= elapsed);
          const ran = runs(entryOf({ when: when.map((seconds) => clock(at(seconds))) }), looks);
          expect(ran.length).toBe(reached.length);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('of the past do not run', () => {
    expect(runs(entryOf({ when: clock(at(-5)) }), everySecond(20))).toEqual([]);
    expect(runs(entryOf({ once: '2026-11-15T09:59:00' }), everySecond(20))).toEqual([]);
  });

  it('run again the next day when they have no date', () => {
    const entry = entryOf({ when: '5:00pm' });
    evaluate(entry, new Date(2026, 10, 15, 18, 0), options());
    expect(entry.state.nextFire).toEqual(new Date(2026, 10, 16, 17, 0));
    const monday = entryOf({ when: ['Monday 5:00pm', 'Wednesday 3:00pm'] });
    evaluate(monday, new Date(2026, 10, 16, 17, 30), options());
    expect(monday.state.nextFire).toEqual(new Date(2026, 10, 18, 15, 0));
  });

  it('are not repeated after a long suspension', () => {
    expect(runs(entryOf({ when: clock(at(30)) }), [1000, 3_600_000, 1000])).toEqual([]);
    expect(runs(entryOf({ seconds: 30 }), [1000, 3_600_000, 1000]).length).toBe(1);
  });

  it('once, in a custom format', () => {
    const entry = entryOf({ once: '15.11.2026 10:00:20', once_fmt: '%d.%m.%Y %H:%M:%S' });
    expect(runs(entry, everySecond(60))).toEqual([at(20)]);
    const bad = entryOf({ once: 'some day' });
    expect(runs(bad, everySecond(3))).toEqual([]);
    expect(bad.state.error).toBe('Date string could not be parsed: some day, %Y-%m-%dT%H:%M:%S. Ignoring job job.');
  });

  it('can have names in the pillar and the grains', () => {
    const whens = newDict([['tea time', clock(at(40))]] as [string, Value][]);
    const given = options({ tools: { cron, sources: [newDict(), newDict([['whens', whens]])] } });
    expect(runs(entryOf({ when: 'tea time' }), everySecond(60), given)).toEqual([at(40)]);
  });

  it('of cron', () => {
    expect(runs(entryOf({ cron: '*/5 * * * *' }), everySecond(660))).toEqual([at(300), at(600)]);
    const bad = entryOf({ cron: 'never ever' });
    expect(runs(bad, everySecond(3))).toEqual([]);
    expect(bad.state.error).toBe('Invalid cron string. Ignoring job job.');
    const night = entryOf({ cron: '30 3 * * 1' });
    evaluate(night, start, options());
    expect(night.state.nextFire).toEqual(new Date(2026, 10, 16, 3, 30));
  });
});

describe('conditions', () => {
  const clock = (seconds: number): string => new Date(start.getTime() + seconds * 1000).toTimeString().slice(0, 8);
  const rangeOf = (from: number, to: number, more: Record<string, Value> = {}): PlainDict =>
    newDict(Object.entries({ start: clock(from), end: clock(to), ...more }));
  const inside = (at: Date, from: number, to: number): boolean => {
    const seconds = (at.getTime() - start.getTime()) / 1000;
    return seconds >= from && seconds <= to;
  };

  it('ranges hold', () => {
    const limits = fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 5, max: 150 }));
    fc.assert(
      fc.property(limits, steps, ([from, length], looks) => {
        const to = from + length;
        const within = runs(entryOf({ seconds: 5, range: rangeOf(from, to) }), looks);
        expect(within.every((at) => inside(at, from, to))).toBe(true);
        const outside = runs(entryOf({ seconds: 5, range: rangeOf(from, to, { invert: true }) }), looks);
        expect(outside.some((at) => inside(at, from + 1, to - 1))).toBe(false);
        const skipping = runs(entryOf({ seconds: 5, skip_during_range: rangeOf(from, to) }), looks);
        expect(skipping.some((at) => inside(at, from, to))).toBe(false);
      }),
      { numRuns: 40 },
    );
  });

  it('a run in an excluded time may be done later', () => {
    const entry = entryOf({ seconds: 60, skip_during_range: rangeOf(50, 100), run_after_skip_range: true });
    const times = runs(entry, everySecond(110)).map((at) => (at.getTime() - start.getTime()) / 1000);
    expect(times).toEqual([101]);
  });

  it('first and last times', () => {
    const times = (data: Record<string, Value>): number[] =>
      runs(entryOf({ seconds: 10, ...data }), everySecond(100)).map((at) => (at.getTime() - start.getTime()) / 1000);
    expect(times({ until: clock(35) })).toEqual([10, 20, 30]);
    expect(times({ after: clock(75) })).toEqual([80, 90, 100]);
    expect(times({ run_on_start: true, until: clock(15) })).toEqual([0, 10]);
  });

  it('disabled jobs do not run', () => {
    const off = entryOf({ seconds: 5, enabled: false });
    expect(runs(off, everySecond(30))).toEqual([]);
    expect(off.state.skipped?.reason).toBe('disabled');
    expect(runs(entryOf({ seconds: 5 }), everySecond(30), options({ enabled: false }))).toEqual([]);
  });

  it('a single run is skipped, another is postponed', () => {
    const entry = entryOf({ seconds: 10 });
    entry.state.skipAt.push(new Date(start.getTime() + 20_000));
    entry.state.runAt.push(new Date(start.getTime() + 23_000));
    const times = runs(entry, everySecond(40)).map((at) => (at.getTime() - start.getTime()) / 1000);
    expect(times).toEqual([10, 23, 33]);
  });

  it('a function may replace a skipped run', () => {
    const entry = entryOf({ seconds: 5, skip_during_range: rangeOf(0, 50) });
    const given = options({ skipFunction: 'test.nop' });
    const due = [1, 2, 3, 4, 5].map((s) => evaluate(entry, new Date(start.getTime() + s * 1000 + 1000), given));
    expect(due.filter(Boolean).map((item) => item?.fun)).toEqual([]);
    expect(evaluate(entry, new Date(start.getTime() + 8000), given)?.fun).toBe('test.nop');
  });

  it('contradictions are reported', () => {
    const entry = entryOf({ when: '10:00:05', cron: '* * * * *' });
    expect(runs(entry, everySecond(10))).toEqual([]);
    expect(entry.state.error).toContain('Unable to use');
  });
});
