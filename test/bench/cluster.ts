// Measures a cluster: one master against the build before there was one, what a result costs at its receiver and at the
// others, and a job of another master's minion. `npm run bench -- cluster`; parts by HALITE_BENCH_PARTS=single,members,latency.
import { readFileSync } from 'node:fs';
import { ask } from '../support/cluster-load.ts';
import { Deployment, halite, type Implementation } from '../support/deployment.ts';
import { Masters } from '../support/masters.ts';
import { makeBuild } from '../support/other-build.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

/** The last commit without the interfaces of the cluster. */
const before = process.env['HALITE_BENCH_BEFORE'] ?? 'e5d35e76';
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
const minions = Number(process.env['BENCH_MINIONS'] ?? 100);
const jobs = Number(process.env['BENCH_JOBS'] ?? 20);
const pings = Number(process.env['BENCH_PINGS'] ?? 150);
const ticksPerSecond = 100;

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
const median = (values: readonly number[]): number => sorted(values)[Math.floor(values.length / 2)] ?? 0;
const percent = (ratio: number): string => `${((ratio - 1) * 100).toFixed(1)} %`;
const spread = (values: readonly number[], digits = 1): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`;
};

/** Processor time of a process with its threads, in seconds. */
function processorTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

interface Run {
  readonly perSecond: number;
  /** Milliseconds of the processor for a result, by master. */
  readonly cpu: readonly number[];
}

/** Jobs one after the other on all simulated minions of a fleet. */
async function run(asking: Deployment, all: readonly Deployment[], prefix: string): Promise<Run> {
  // By name: simulated minions answer everything else.
  const target = Array.from({ length: minions }, (_, at) => `${prefix}-${String(at).padStart(4, '0')}`);
  await ask(asking, target, 'test.ping', { seconds: 30, limitMs: 120_000 });
  const pids = all.map(({ master }) => master.pid);
  const cpu = pids.map(processorTime);
  const began = performance.now();
  let results = 0;
  for (let n = 0; n < jobs; n++) {
    const { answers } = await ask(asking, target, 'test.ping', { seconds: 30, limitMs: 120_000 });
    if (answers.size !== minions) throw new Error(`${answers.size} of ${minions} minions answered`);
    results += answers.size;
  }
  const seconds = (performance.now() - began) / 1000;
  return {
    perSecond: results / seconds,
    cpu: pids.map((pid, at) => ((processorTime(pid) - cpu[at]!) * 1000) / results),
  };
}

async function oneMaster(implementation: Implementation): Promise<Run> {
  const master = await Deployment.create({ master: implementation });
  let fleet: SimulatedFleet | undefined;
  try {
    await master.startMaster();
    fleet = await SimulatedFleet.start(master.ports.requests, minions);
    return await run(master, [master], 'sim');
  } finally {
    fleet?.close();
    await master.destroy();
  }
}

async function single(): Promise<void> {
  const earlier = makeBuild('before', { commit: before });
  try {
    const runs: { before: Run[]; now: Run[] } = { before: [], now: [] };
    for (let round = 0; round < rounds; round++) {
      // In turn, each of them first in every other round.
      const order = round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const);
      for (const which of order) runs[which].push(await oneMaster(which === 'now' ? halite : earlier));
    }
    const cpu = (which: 'before' | 'now'): number[] => runs[which].map((one) => one.cpu[0]!);
    const rate = (which: 'before' | 'now'): number[] => runs[which].map((one) => one.perSecond);
    console.log(`\n| one master, ${rounds} runs each in turn | before (${before}) | now | now / before |`);
    console.log('| --- | ---: | ---: | ---: |');
    const ratios = (of: (which: 'before' | 'now') => number[]): string => {
      const each = of('now').map((value, at) => value / of('before')[at]!);
      return `${percent(median(of('now')) / median(of('before')))}; of pairs ${sorted(each).map(percent).join(', ')}`;
    };
    console.log(
      `| processor time for a result, ms | ${spread(cpu('before'), 3)} | ${spread(cpu('now'), 3)} | ${ratios(cpu)} |`,
    );
    console.log(
      `| results per second, a job at a time | ${spread(rate('before'), 0)} | ${spread(rate('now'), 0)} | ${ratios(rate)} |`,
    );
  } finally {
    earlier.remove();
  }
}

/** Three masters on one nats-server; minions of the first one, and of the second. */
async function withMembers(test: (masters: Masters) => Promise<void>): Promise<void> {
  const masters = await Masters.start();
  const fleets: SimulatedFleet[] = [];
  try {
    for (const [at, { ports }] of masters.all.slice(0, 2).entries())
      fleets.push(
        await SimulatedFleet.start(ports.requests, at === 0 ? minions : 5, { prefix: at === 0 ? 'own' : 'other' }),
      );
    // Until all know all of them.
    for (let known = 0; known < minions + 5; )
      known = (await ask(masters.master(0), '*', 'test.ping', { seconds: 10 })).answers.size;
    await test(masters);
  } finally {
    for (const fleet of fleets) fleet.close();
    await masters.destroy();
  }
}

async function members(): Promise<void> {
  const alone: Run[] = [];
  const three: Run[] = [];
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    alone.push(await oneMaster(halite));
    await withMembers(async (masters) => {
      three.push(await run(masters.master(0), masters.all, 'own'));
    });
  }
  const at = (index: number): number[] => three.map(({ cpu }) => cpu[index]!);
  const others = three.map(({ cpu }) => (cpu[1]! + cpu[2]!) / 2);
  const own = alone.map(({ cpu }) => cpu[0]!);
  console.log(`\n| ${minions} minions of one master, ${three.length} runs in turn | alone | one of three |`);
  console.log('| --- | ---: | ---: |');
  console.log(
    `| results per second | ${spread(
      alone.map((one) => one.perSecond),
      0,
    )} | ${spread(
      three.map((one) => one.perSecond),
      0,
    )} |`,
  );
  console.log(`| processor time for a result at its receiver, ms | ${spread(own, 3)} | ${spread(at(0), 3)} |`);
  console.log(`| the same at each of the others, ms | | ${spread(others, 3)} |`);
}

async function latency(): Promise<void> {
  await withMembers(async (masters) => {
    const times = { own: [] as number[], other: [] as number[] };
    for (let n = 0; n < pings; n++)
      for (const kind of ['own', 'other'] as const) {
        const began = performance.now();
        const { answers } = await ask(masters.master(0), `${kind}-0000`, 'test.ping');
        if (answers.size !== 1) throw new Error(`${kind}-0000 did not answer`);
        times[kind].push(performance.now() - began);
      }
    const at = (values: number[], share: number): string =>
      sorted(values)[Math.floor(values.length * share)]!.toFixed(1);
    console.log(`\n| a job for one minion, ${pings} of each in turn | own minion | another member's | more |`);
    console.log('| --- | ---: | ---: | ---: |');
    for (const [name, share] of [
      ['p50', 0.5],
      ['p90', 0.9],
    ] as const) {
      const [own, other] = [at(times.own, share), at(times.other, share)];
      console.log(`| ${name}, ms | ${own} | ${other} | ${(Number(other) - Number(own)).toFixed(1)} |`);
    }
  });
}

/** Each part prints a table. */
const parts: Readonly<Record<string, () => Promise<void>>> = { single, members, latency };
const wanted = process.env['HALITE_BENCH_PARTS']?.split(',') ?? Object.keys(parts);
for (const name of wanted) {
  const part = parts[name];
  if (!part) throw new Error(`there is no part ${name}; there are ${Object.keys(parts).join(', ')}`);
  await part();
}
process.exit(0);
