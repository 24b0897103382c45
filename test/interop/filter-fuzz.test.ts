// Random values through every filter, with sensible and odd arguments, must come out as in Salt 3006.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { filterDifferences } from '../support/filter-fuzz.ts';
import { saltRelease } from '../support/salt-release.ts';

it('filters as Salt does', { timeout: 300_000 }, async () => {
  const python = join(saltRelease('3006.27').bin, 'python');
  const { differences, failed, alike } = await filterDifferences(python, 1, 1_500);
  expect(differences.slice(0, 10)).toEqual([]);
  // Where several things are wrong, another one may be told of first.
  expect(alike / failed).toBeGreaterThan(0.95);
});
