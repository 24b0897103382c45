// Measures Halite and real Salt side by side in one run: command time, memory, commands at once. `npm run bench`.
import { Deployment, halite, type Implementation } from '../support/deployment.ts';
import { saltRelease } from '../support/salt-release.ts';
import { memoryOf } from './process-memory.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

interface Figures {
  readonly name: string;
  pingSeconds: number;
  masterMb: number;
  minionMb: number;
  atOnceComplete: number;
  atOnceSeconds: number;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function oneMinion(implementation: Implementation, figures: Figures): Promise<void> {
  const fleet = await Deployment.create({ master: implementation });
  try {
    await fleet.startMaster();
    fleet.startMinion('m1', implementation);
    await fleet.answering('m1');
    const times: number[] = [];
    for (let round = 0; round < 9; round++) {
      const started = performance.now();
      const { code } = await fleet.salt('*', 'test.ping');
      if (code !== 0) throw new Error(`${implementation.name}: ping failed`);
      times.push((performance.now() - started) / 1000);
    }
    figures.pingSeconds = median(times);
    // Job processes of Halite end after a rest; Salt's daemons are as they are.
    await new Promise((resolve) => setTimeout(resolve, 35_000));
    figures.masterMb = memoryOf(fleet.master.pid, 'Rss');
    figures.minionMb = memoryOf(fleet.minion('m1').pid, 'Rss');
  } finally {
    await fleet.destroy();
  }
}

async function manyCommands(implementation: Implementation, figures: Figures): Promise<void> {
  const fleet = await Deployment.create({ master: implementation });
  let simulated: SimulatedFleet | undefined;
  try {
    await fleet.startMaster();
    simulated = await SimulatedFleet.start(fleet.ports.requests, 50);
    await fleet.salt('*', 'test.ping');
    const started = performance.now();
    const results = await Promise.all(
      Array.from({ length: 50 }, () =>
        fleet.run('salt', ['*', 'test.ping', '--out=json', '--static'], { timeoutMs: 180_000 }),
      ),
    );
    figures.atOnceSeconds = (performance.now() - started) / 1000;
    figures.atOnceComplete = results.filter(({ stdout }) => complete(stdout)).length;
  } finally {
    simulated?.close();
    await fleet.destroy();
  }
}

function complete(stdout: string): boolean {
  try {
    return Object.values(JSON.parse(stdout) as object).filter((value) => value === true).length === 50;
  } catch {
    return false;
  }
}

async function measure(implementation: Implementation): Promise<Figures> {
  const figures: Figures = {
    name: implementation.name,
    pingSeconds: 0,
    masterMb: 0,
    minionMb: 0,
    atOnceComplete: 0,
    atOnceSeconds: 0,
  };
  await oneMinion(implementation, figures);
  await manyCommands(implementation, figures);
  return figures;
}

const ours = await measure(halite);
const real = await measure(saltRelease('3006.27'));
const row = (label: string, pick: (figures: Figures) => number, unit: string): string => {
  const [a, b] = [pick(ours), pick(real)];
  return `| ${label} | ${a.toFixed(2)} ${unit} | ${b.toFixed(2)} ${unit} | ${(b / a).toFixed(1)} × |`;
};
console.log(`| | Halite | ${real.name} | Salt / Halite |\n| --- | ---: | ---: | ---: |`);
console.log(row("`salt '*' test.ping`, one minion", (f) => f.pingSeconds, 's'));
console.log(row('master, idle, resident', (f) => f.masterMb, 'MB'));
console.log(row('minion, idle, resident', (f) => f.minionMb, 'MB'));
console.log(row('50 commands at once, 50 minions', (f) => f.atOnceSeconds, 's'));
console.log(`| of these complete | ${ours.atOnceComplete} of 50 | ${real.atOnceComplete} of 50 | |`);
