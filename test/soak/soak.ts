// A master with good minions under honest and hostile load; its memory, its event loop, and how fast the good are served.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SimulatedFleet } from '../bench/simulated-fleet.ts';
import { Deployment, halite, type Implementation } from '../support/deployment.ts';
import { good, type Honest, tasks, writeTrees } from './honest.ts';
import { attacks } from './hostile.ts';

export interface Sample {
  readonly at: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly delayMs: number;
}

export interface Answer {
  readonly at: number;
  readonly task: string;
  readonly ms: number;
}

export interface SoakResult {
  readonly samples: readonly Sample[];
  readonly answers: readonly Answer[];
  /** Honest work that was not served. */
  readonly failures: readonly string[];
  readonly attacks: number;
  readonly masterLives: boolean;
}

export interface SoakOptions {
  /** After each round of all tasks: go on? */
  readonly more: (rounds: number) => boolean;
  readonly simulated: number;
  readonly say?: (line: string) => void;
}

/** The commands of the checkout, with the master writing down how it is. */
function probed(folder: string, file: string): Implementation {
  const bin = join(folder, 'bin-soak');
  mkdirSync(bin, { recursive: true });
  const probe = pathToFileURL(join(import.meta.dirname, 'probe.mjs')).href;
  for (const name of ['salt', 'salt-key', 'salt-run', 'salt-master']) {
    const before = name === 'salt-master' ? `env HALITE_SOAK_PROBE=${file} NODE_OPTIONS=--import=${probe} ` : '';
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${before}${join(halite.bin, name)} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  return { name: 'halite', bin };
}

export async function soak(options: SoakOptions): Promise<SoakResult> {
  const fleet = await Deployment.create({ autoAccept: false, masterConfig: 'timeout: 15' });
  const file = fleet.path('probe.jsonl');
  const [answers, failures]: [Answer[], string[]] = [[], []];
  let attacked = 0;
  let simulated: SimulatedFleet | undefined;
  try {
    writeTrees(fleet);
    writeFileSync(fleet.path('etc/autosign'), `${good.join('\n')}\nspare\nsim-*\n`, { mode: 0o600 });
    writeFileSync(fleet.path('etc/master.d/soak.conf'), `autosign_file: ${fleet.path('etc/autosign')}\n`);
    await fleet.startMaster(probed(fleet.root, file));
    for (const id of good) fleet.startMinion(id);
    simulated = await SimulatedFleet.start(fleet.ports.requests, options.simulated);
    await fleet.answering(...good);
    const honest: Honest = { fleet, simulated, simulatedCount: options.simulated };
    const target = { ports: fleet.ports, simulated };
    let going = true;
    const hostile = (async () => {
      for (const attack of repeated(Object.values(attacks), () => going)) {
        await attack(target);
        attacked++;
      }
    })();
    for (let round = 0; going; going = options.more(++round)) {
      for (const [task, work] of Object.entries(tasks)) {
        const began = Date.now();
        await work(honest, round).catch((error: unknown) =>
          failures.push(`round ${round}: ${String(error).slice(0, 600)}`),
        );
        answers.push({ at: began, task, ms: Date.now() - began });
      }
      options.say?.(`round ${round}: ${attacked} attacks, ${failures.length} failures`);
    }
    await hostile;
    const masterLives = fleet.master.running;
    return { samples: readSamples(file), answers, failures, attacks: attacked, masterLives };
  } finally {
    simulated?.close();
    await fleet.destroy();
  }
}

/** All of them at least once, and again while `more`. */
function* repeated<T>(list: readonly T[], more: () => boolean): Generator<T> {
  yield* list;
  while (more()) for (const item of list) if (more()) yield item;
}

function readSamples(file: string): Sample[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Sample);
}
