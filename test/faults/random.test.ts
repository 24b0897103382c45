// Faults of the table in a random order from a printed seed, one after the other under one load, and one account at the end.
//
// HALITE_FAULT_MINUTES=10 HALITE_FAULT_SEED=7 npx vitest run --project backends test/faults/random.test.ts
// HALITE_FAULT_SALT=0, on a busy machine, leaves the real Salt minions out, and most of the simulated ones.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { faults } from '../support/cluster-faults.ts';
import { Field } from '../support/cluster-field.ts';
import { Load } from '../support/cluster-load.ts';
import { halite, type Implementation } from '../support/deployment.ts';
import { addRow, printTable } from '../support/fault-table.ts';
import { saltRelease } from '../support/salt-release.ts';
import { picker } from '../support/seeded.ts';

const minutes = Number(process.env['HALITE_FAULT_MINUTES'] ?? 0);
const seed = Number(process.env['HALITE_FAULT_SEED'] ?? Date.now() % 100_000);
const pick = picker(seed);
/** Lost data of all servers is a test of its own: the order of what was under way is lost with it. */
const possible = faults.filter(({ row }) => row !== 7);

if (minutes > 0) {
  let field: Field;
  beforeAll(async () => {
    const withSalt = process.env['HALITE_FAULT_SALT'] !== '0';
    const real: Record<string, Implementation> = withSalt
      ? { s1: saltRelease('3006.27'), s2: saltRelease('3008.2') }
      : {};
    field = await Field.start({ minions: { h1: halite, h2: halite, ...real }, simulated: withSalt ? 30 : 5 });
  });
  afterAll(async () => {
    printTable();
    await field?.destroy();
  });

  it(
    `random faults for ${minutes} minutes, seed ${seed}`,
    async () => {
      const load = new Load(field);
      const end = performance.now() + minutes * 60_000;
      let [count, longest] = [0, 0];
      try {
        await load.normal(performance.now());
        while (performance.now() < end) {
          const fault = possible[pick(possible.length)]!;
          const seconds = await load.normal(await fault.run(field, pick));
          count += 1;
          longest = Math.max(longest, seconds);
          console.log(`seed ${seed}, ${count}: row ${fault.row}, ${fault.name}: normal after ${seconds.toFixed(1)} s`);
        }
      } finally {
        await load.stop();
      }
      addRow('any', `${count} faults at random, seed ${seed}`, longest, await load.account(200_000));
      expect(count).toBeGreaterThan(0);
    },
    minutes * 60_000 + 900_000,
  );
}
