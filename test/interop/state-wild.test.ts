// State trees that use everything, right and wrong: low data, results and their order as real Salt has them.
import { describe, expect, it } from 'vitest';
import { isException, lowOf, type RecordedCase, resultsOf } from '../../src/engine/state/testing-recorded.ts';
import { recordedBySalt } from '../support/recorded.ts';

describe('random state trees', () => {
  const count = Number(process.env['HALITE_WILD_TREES'] ?? 5);
  const seed = Number(process.env['HALITE_WILD_SEED'] ?? 100_000);

  it(`come out the same: ${count} of them`, { timeout: 300_000 }, async () => {
    const cases = await recordedBySalt<RecordedCase>('state/wild.py', count, seed);
    let compared = 0;
    for (const given of cases) {
      const { name, files, opts, expected } = given;
      const about = { name, files, opts };
      if (!isException(expected.low))
        expect({ ...about, low: await lowOf(given) }).toEqual({ ...about, low: expected.low });
      for (const test of [false, true]) {
        const wanted = test ? expected.test : expected.run;
        if (isException(wanted)) continue;
        const done = await resultsOf(given, test);
        expect({ ...about, test, done }).toEqual({ ...about, test, done: wanted });
        expect({ ...about, tags: Object.keys(done as object) }).toEqual({
          ...about,
          tags: Object.keys(wanted as object),
        });
        compared++;
      }
    }
    // Some trees are refused by Salt, so not every run of every tree has results to compare.
    expect(compared).toBeGreaterThan(count / 2);
  });
});
