// Test tiers as vitest projects; `npm test` runs them all through scripts/test.mjs.
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const sdk = fileURLToPath(new URL('./src/extend/sdk', import.meta.url));
const testing = fileURLToPath(new URL('./src/testing/index.ts', import.meta.url));
const alias = [
  { find: /^halite\/sdk$/, replacement: `${sdk}/index.ts` },
  { find: /^halite\/sdk\/([a-z]+)$/, replacement: `${sdk}/$1/index.ts` },
  { find: /^halite\/testing$/, replacement: testing },
];
/** Skips everything where real Salt could not be prepared. */
const withSalt = { runner: './test/support/needs-salt.ts' };
/**
 * Hundreds of short files: a process of its own for each would load the same modules again and again, which takes longer than
 * the tests. They run after each other in the same processes, so what a test changes it must put back.
 */
const together = { isolate: false, setupFiles: ['./test/support/fixed-seed.ts'] };
/** Minutes long, and run by hand: see CONTRIBUTING.md. */
const byHand = [
  ...(process.env['HALITE_CLUSTER_LONG'] ? [] : ['test/faults/machines.test.ts', 'test/faults/upgrade.test.ts']),
  ...(process.env['HALITE_FAULT_MINUTES'] ? [] : ['test/faults/random.test.ts']),
];
/**
 * When a test is given up. All tiers run at once on two processors, so a test must not fail because it had to wait: only those that
 * take even longer have a limit of their own.
 */
const patienceMs = 400_000;
const unitPatienceMs = 120_000;
const tier = (
  name: string,
  include: string[],
  testTimeout: number,
  more: { runner?: string; isolate?: boolean; setupFiles?: string[] } = {},
) => ({
  resolve: { alias },
  test: {
    name,
    include,
    exclude: [...configDefaults.exclude, ...byHand],
    testTimeout,
    hookTimeout: testTimeout,
    expect: { poll: { timeout: Math.floor(testTimeout / 2) } },
    pool: 'forks' as const,
    ...more,
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      tier(
        'unit',
        ['src/**/*.test.ts', 'console/**/*.test.ts', 'scripts/**/*.test.ts', 'test/fuzz/**/*.test.ts'],
        unitPatienceMs,
        together,
      ),
      tier('integration', ['test/integration/**/*.test.ts'], patienceMs),
      tier('stories', ['test/stories/**/*.test.ts'], patienceMs, withSalt),
      tier('backends', ['test/backends/**/*.test.ts', 'test/faults/**/*.test.ts'], patienceMs),
      tier('old-minions', ['test/old-minions/**/*.test.ts'], patienceMs),
      tier('interop', ['test/interop/**/*.test.ts'], patienceMs, withSalt),
    ],
  },
});
