// `npm run bench -- fleet`: Halite and real Salt in turn, scenario by scenario; a page, its charts and the numbers as JSON.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { halite, type Implementation } from '../support/deployment.ts';
import { type SaltVersion, saltRelease, saltVersions } from '../support/salt-release.ts';
import { busySeconds, limitsOf, machine } from './fleet/machine.ts';
import { chartsOf, pageOf } from './fleet/page.ts';
import type { Results, Round } from './fleet/results.ts';
import { measure, type Scenario, scenarios } from './fleet/scenarios.ts';

const usage = `npm run bench -- fleet [options]
  --scenario NAMES   only these, separated by commas; NAME* for all that begin so
  --rounds N         how often each is measured (default 3)
  --quick            tiny sizes, one round: whether everything works
  --against VERSION  the release of Salt to compare with (default ${saltVersions[0]}); none: only Halite
  --out DIR          where the page goes; a whole run writes docs/performance, others a new folder
  --list             the scenarios`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: '*' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    against: { type: 'string', default: saltVersions[0] },
    out: { type: 'string' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function chosen(names: string): Scenario[] {
  const wanted = names.split(',');
  const matches = (name: string, want: string): boolean =>
    want.endsWith('*') ? name.startsWith(want.slice(0, -1)) : name === want;
  for (const want of wanted) {
    if (!scenarios.some(({ name }) => matches(name, want))) throw new Error(`there is no scenario ${want}; see --list`);
  }
  return scenarios.filter(({ name }) => wanted.some((want) => matches(name, want)));
}

function peer(): Implementation | undefined {
  if (values.against === 'none') return undefined;
  const version = saltVersions.find((each) => each === values.against);
  if (!version) throw new Error(`--against: one of ${saltVersions.join(', ')} or none`);
  return saltRelease(version satisfies SaltVersion);
}

interface Run {
  readonly rounds: Round[];
  readonly failures: string[];
}

async function once(run: Run, scenario: Scenario, implementation: Implementation, round: number): Promise<void> {
  const who = implementation === halite ? 'halite' : 'salt';
  const [before, began] = [busySeconds(), performance.now()];
  try {
    const figures = await measure(scenario, implementation, values.quick);
    const seconds = Math.round(performance.now() - began) / 1000;
    run.rounds.push({ scenario: scenario.name, who, round, figures, busySeconds: busySeconds() - before, seconds });
    const text = Object.entries(figures).map(([key, value]) => `${key} ${Number(value.toPrecision(4))}`);
    console.log(`${scenario.name.padEnd(14)} ${implementation.name.padEnd(14)} ${text.join('  ')}`);
  } catch (error) {
    const why = `${scenario.name}, ${implementation.name}: ${String(error).split('\n')[0]}`;
    run.failures.push(why);
    console.log(`NOT MEASURED ${why}`);
  }
}

async function main(): Promise<number> {
  if (values.help || values.list) {
    const lines = scenarios.map(({ name, about }) => `  ${name.padEnd(14)} ${about}`);
    console.log([usage, '', ...(values.list ? lines : [])].join('\n'));
    return 0;
  }
  const list = chosen(values.scenario);
  const against = peer();
  const count = Number(values.rounds ?? (values.quick ? 1 : 3));
  const run: Run = { rounds: [], failures: [] };
  const before = machine();
  const limits = await limitsOf(values.quick ? 50 : 1000);
  for (let round = 0; round < count; round++) {
    for (const scenario of list) {
      // Each is the first in every other round.
      const pair = [halite, ...(against && !scenario.onlyHalite ? [against] : [])];
      for (const implementation of round % 2 === 0 ? pair : pair.reverse())
        await once(run, scenario, implementation, round);
    }
  }
  const results: Results = {
    at: new Date().toISOString(),
    salt: values.against,
    quick: values.quick,
    machine: before,
    limits,
    ...run,
  };
  write(results, list);
  return run.failures.length === 0 ? 0 : 1;
}

function write(results: Results, list: readonly Scenario[]): void {
  const whole = list.length === scenarios.length && !values.quick && values.against !== 'none';
  const folder = values.out ?? (whole ? 'docs/performance' : mkdtempSync(join(tmpdir(), 'halite-performance-')));
  mkdirSync(folder, { recursive: true });
  const command = `npm run bench -- ${['fleet', ...process.argv.slice(2)].join(' ')}`;
  const page = pageOf(results, list, command);
  writeFileSync(join(folder, 'fleet.md'), page);
  writeFileSync(join(folder, 'fleet.json'), `${JSON.stringify(results, null, 1)}\n`);
  for (const [name, content] of Object.entries(chartsOf(results, list))) writeFileSync(join(folder, name), content);
  console.log(`\n${page}\n${folder}`);
}

process.exit(await main());
