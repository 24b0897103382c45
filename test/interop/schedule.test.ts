// Random schedules run in the same seconds as in real Salt's scheduler.
import { describe, expect, it } from 'vitest';
import { type Dict, dictOf, newDict, type Value } from '../../src/base/codec/value.ts';
import { Schedule } from '../../src/engine/schedule/index.ts';
import { recordedBySalt } from '../support/recorded.ts';

interface Recorded {
  readonly seed: number;
  readonly length: number;
  readonly schedule: Record<string, unknown>;
  readonly whens: Record<string, unknown>;
  readonly start: number;
  readonly runs: number[];
}

const toValue = (json: unknown): Value => {
  if (Array.isArray(json)) return json.map(toValue);
  if (json === null || typeof json !== 'object') return json as Value;
  return dictOf(Object.entries(json).map(([key, item]) => [key, toValue(item)] as const));
};

/** The seconds in which the job runs here, with looks at the clock as the recorder took them. */
async function secondsOf({ schedule, whens, start, length }: Recorded): Promise<number[]> {
  const runs: number[] = [];
  const nothing = () => {};
  let second = 0;
  const pillar = newDict([['whens', toValue(whens)]]);
  const ours = new Schedule(toValue(schedule) as Dict, {
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    now: () => new Date(start * 1000 + second * 1000 + 250),
    random: () => 0,
    graceMs: 60_000,
    pillar: () => pillar,
    grains: () => newDict(),
    running: async () => [],
    run: () => void runs.push(second),
    persist: async () => undefined,
  });
  for (; second <= length; second++) await ours.tick();
  return runs;
}

describe('random schedules', () => {
  const count = Number(process.env['HALITE_SCHEDULES'] ?? 200);
  const seed = Number(process.env['HALITE_SCHEDULE_SEED'] ?? 1);

  it(`run in the same seconds: ${count} of them`, { timeout: 300_000 }, async () => {
    const cases = await recordedBySalt<Recorded>('schedule/record.py', count, seed);
    expect(cases.filter(({ runs }) => runs.length > 0).length).toBeGreaterThan(count / 3);
    for (const given of cases) {
      const about = { seed: given.seed, schedule: given.schedule, whens: given.whens };
      expect({ ...about, runs: await secondsOf(given) }).toEqual({ ...about, runs: given.runs });
    }
  });
});
