// Thousands of random templates rendered by Halite and by Jinja2 in Salt's environment must come out the same.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fuzzDifferences } from '../support/jinja-fuzz.ts';
import { saltRelease } from '../support/salt-release.ts';

/** A sample; the long run is by hand. */
const count = Number(process.env['HALITE_FUZZ_CASES'] ?? 2_000);

it('renders random templates as Jinja2 does', { timeout: 400_000 }, async () => {
  const differences = await fuzzDifferences(join(saltRelease('3008.2').bin, 'python'), 1_000_000, count);
  const told = differences.map(({ test, reference, halite }) => ({ template: test.template, reference, halite }));
  expect(told.slice(0, 10)).toEqual([]);
});
