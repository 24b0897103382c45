// Thousands of random documents read by Halite and by PyYAML with Salt’s loader must give the same, errors included.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { saltRelease } from '../support/salt-release.ts';
import { yamlDifferences } from '../support/yaml-fuzz.ts';

/** A sample; the long run is by hand. */
const count = Number(process.env['HALITE_FUZZ_CASES'] ?? 8_000);

it('reads random YAML as PyYAML does', { timeout: 400_000 }, async () => {
  const differences = await yamlDifferences(join(saltRelease('3008.2').bin, 'python'), 1_000_000, count);
  expect(differences.slice(0, 10)).toEqual([]);
});
