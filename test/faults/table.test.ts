// The table of failures (docs/guide/cluster.md) with real masters, nats-servers and minions on machines of their own, under
// load: what each fault costs, and how long it takes until everything is normal. A sample of the quick ones, drawn with a seed,
// runs with the other tests; all of them with HALITE_CLUSTER_LONG=1.
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Fault, faults } from '../support/cluster-faults.ts';
import { Field } from '../support/cluster-field.ts';
import { Load } from '../support/cluster-load.ts';
import { halite, type Implementation } from '../support/deployment.ts';
import { printTable, underLoad } from '../support/fault-table.ts';

import { whyNoNamespaces } from '../support/namespaces.ts';
import { saltRelease } from '../support/salt-release.ts';
import { picker } from '../support/seeded.ts';
import { natsPrograms } from '../support/servers/nats.ts';

const isLong = process.env['HALITE_CLUSTER_LONG'] !== undefined;
const only = process.env['HALITE_FAULT_ROWS']?.split(',').map(Number);
const seed = Number(process.env['HALITE_FAULT_SEED'] ?? 12);
const missing = natsPrograms().length === 0 ? 'there is no nats-server' : whyNoNamespaces();
if (missing !== undefined) console.error(`SKIPPED: the table of failures: ${missing}`);

const pick = picker(seed);

function sample(): readonly Fault[] {
  if (only) return faults.filter(({ row }) => only.includes(row));
  // What was under way when all data was lost comes back by repair, which has tests of its own.
  if (isLong) return faults.filter(({ row }) => row !== 7);
  const quick = faults.filter((fault) => fault.quick);
  return [quick[pick(quick.length)]!];
}

describe.skipIf(missing !== undefined)(`faults under load, seed ${seed}`, () => {
  let field: Field;
  beforeAll(async () => {
    // A real Salt minion needs a processor for what is here a load: HALITE_FAULT_SALT=0 on a busy machine.
    const withSalt = isLong && process.env['HALITE_FAULT_SALT'] !== '0';
    const real: Record<string, Implementation> = withSalt ? { s1: saltRelease('3006.27') } : {};
    field = await Field.start({ minions: { h1: halite, ...real }, simulated: isLong ? 10 : 5 });
  });
  afterAll(async () => {
    printTable();
    await field?.destroy();
  });

  it.each(sample())('row $row: $name', async ({ row, name, run }) => {
    const load = new Load(field);
    await load.normal(performance.now());
    await underLoad(row, name, load, () => run(field, pick));
  });
});
