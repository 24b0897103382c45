// Random pillar trees must compile to the same pillar as with Salt 3006, in the same order and with the same errors.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pillarDifferences } from '../support/pillar-fuzz.ts';
import { saltRelease } from '../support/salt-release.ts';

it('compiles random pillar trees as a real master does', { timeout: 300_000 }, async () => {
  const python = join(saltRelease('3006.27').bin, 'python');
  expect((await pillarDifferences(python, 1, 25)).slice(0, 5)).toEqual([]);
});
