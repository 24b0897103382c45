// State trees that use everything, right and wrong: low data, results and their order as real Salt has them.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isException, lowOf, type RecordedCase, resultsOf } from '../../src/engine/state/testing-recorded.ts';
import { runProgram } from '../support/deployment.ts';
import { saltRelease } from '../support/salt-release.ts';

describe('random state trees', () => {
  const count = Number(process.env['HALITE_WILD_TREES'] ?? 20);
  const seed = Number(process.env['HALITE_WILD_SEED'] ?? 100_000);

  it(`come out the same: ${count} of them`, { timeout: 300_000 }, async () => {
    const recorder = fileURLToPath(new URL('../fixtures/state/wild.py', import.meta.url));
    const python = join(saltRelease('3006.27').bin, 'python');
    const args = ['-W', 'ignore', recorder, String(count), String(seed)];
    const { stdout, stderr } = await runProgram(python, args, { timeoutMs: 280_000 });
    const cases = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as RecordedCase);
    expect(cases.length, stderr).toBe(count);
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
    expect(compared).toBeGreaterThan(count);
  });
});
