// Measures state runs of Halite and real Salt side by side in one run: time and peak memory. `npm run bench -- state`.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deployment, halite, type Implementation } from '../support/deployment.ts';
import { saltRelease } from '../support/salt-release.ts';

const rounds = Number(process.env['HALITE_BENCH_ROUNDS'] ?? 5);
const pollMs = 10;
/**
 * `HALITE_BENCH_REMOVE=1`: what a first run made is removed, not put aside. ext4 without a journal passes over inodes
 * that were freed in the last minute one by one, so that every new file costs both programs several times as much.
 */
const removes = process.env['HALITE_BENCH_REMOVE'] === '1';

interface Sample {
  readonly seconds: number;
  readonly megabytes: number;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** 200 files from the file server, and 1,000 states each of which requires the one before. */
function writeStates(folder: string, out: string): void {
  mkdirSync(join(folder, 'src'), { recursive: true });
  const files = Array.from({ length: 200 }, (_, i) => {
    writeFileSync(join(folder, 'src', `f${i}.txt`), `content ${i}\n`.repeat(20));
    return `${out}/f${i}:\n  file.managed:\n    - source: salt://src/f${i}.txt\n    - makedirs: True\n    - mode: '0644'\n`;
  });
  writeFileSync(join(folder, 'files.sls'), files.join(''));
  const chain = Array.from({ length: 1000 }, (_, i) =>
    i === 0 ? 'n0:\n  test.nop: []\n' : `n${i}:\n  test.nop:\n    - require:\n      - test: n${i - 1}\n`,
  );
  writeFileSync(join(folder, 'nops.sls'), chain.join(''));
}

/** The most memory a process had, as the kernel remembers it. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Memory of a process and everything below it; pages several of them share are counted once. */
function treeMemory(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // Ended meanwhile.
    }
  }
  const below = (pid: number): boolean => pid === root || (pid > 1 && parents.has(pid) && below(parents.get(pid) ?? 0));
  let kilobytes = 0;
  for (const pid of [...parents.keys()].filter(below)) {
    try {
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      // Ended meanwhile.
    }
  }
  return kilobytes / 1024;
}

async function poll<T>(work: Promise<T>, look: () => void, everyMs: number): Promise<T> {
  const timer = setInterval(look, everyMs);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** One `salt-call --local state.apply`; failing states fail the benchmark. */
async function masterless(implementation: Implementation, config: string, sls: string): Promise<Sample> {
  const started = performance.now();
  const args = ['-c', config, '--local', 'state.apply', sls, '--out=quiet', '--retcode-passthrough'];
  const child = spawn(join(implementation.bin, 'salt-call'), args, { stdio: 'ignore' });
  let megabytes = 0;
  const look = (): void => {
    megabytes = Math.max(megabytes, peakOf(child.pid ?? 0));
  };
  const ended = new Promise<number | null>((done) => child.on('exit', done));
  const code = await poll(ended, look, pollMs);
  if (code !== 0) throw new Error(`${implementation.name}: state.apply ${sls} ended with ${code}`);
  return { seconds: (performance.now() - started) / 1000, megabytes };
}

interface Case {
  readonly label: string;
  readonly ours: Sample[];
  readonly real: Sample[];
}

async function masterlessCases(real: Implementation): Promise<Case[]> {
  const root = mkdtempSync(join(tmpdir(), 'halite-bench-'));
  const out = join(root, 'out');
  writeStates(join(root, 'srv'), out);
  const configs = [halite, real].map((implementation, index) => {
    const config = join(root, `etc${index}`);
    mkdirSync(config);
    const lines = ['id: bench', 'file_client: local', `root_dir: ${join(root, `root${index}`)}`];
    writeFileSync(join(config, 'minion'), [...lines, `file_roots: {base: [${join(root, 'srv')}]}`, ''].join('\n'));
    return { implementation, config };
  });
  const wanted = [
    ['salt-call: 200 file.managed, first run', 'files', true],
    ['salt-call: 200 file.managed, second run', 'files', false],
    ['salt-call: 1,000 test.nop, each requires the one before', 'nops', false],
  ] as const;
  const cases = wanted.map(([label]): Case => ({ label, ours: [], real: [] }));
  let used = 0;
  const clear = (): void => {
    if (!existsSync(out)) return;
    if (removes) rmSync(out, { recursive: true });
    else renameSync(out, `${out}-${used++}`);
  };
  try {
    for (let round = 0; round < rounds; round++)
      for (const [index, { implementation, config }] of configs.entries())
        for (const [number, [, sls, fresh]] of wanted.entries()) {
          if (fresh) clear();
          const sample = await masterless(implementation, config, sls);
          (index === 0 ? cases[number]?.ours : cases[number]?.real)?.push(sample);
        }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return cases;
}

/** The same through a master: the time of the command, and the most the whole minion took meanwhile. */
async function withMaster(implementation: Implementation): Promise<{ files: Sample[]; nops: Sample[] }> {
  const fleet = await Deployment.create({ master: implementation });
  const found = { files: [] as Sample[], nops: [] as Sample[] };
  try {
    writeStates(fleet.path('srv/salt'), fleet.path('out'));
    await fleet.startMaster();
    fleet.startMinion('m1', implementation);
    await fleet.answering('m1');
    for (let round = 0; round < Math.min(rounds, 3); round++)
      for (const sls of ['files', 'nops'] as const) {
        let megabytes = 0;
        const look = (): void => {
          megabytes = Math.max(megabytes, treeMemory(fleet.minion('m1').pid));
        };
        const started = performance.now();
        const run = fleet.run('salt', ['m1', 'state.apply', sls, '--out=quiet', '-t', '120'], { timeoutMs: 180_000 });
        const { code, stderr } = await poll(run, look, 100);
        if (code !== 0) throw new Error(`${implementation.name}: ${stderr}`);
        found[sls].push({ seconds: (performance.now() - started) / 1000, megabytes });
      }
  } finally {
    await fleet.destroy();
  }
  return found;
}

const release = saltRelease('3006.27');
const cases = await masterlessCases(release);
const [ours, theirs] = [await withMaster(halite), await withMaster(release)];
cases.push({ label: 'minion: 200 file.managed, unchanged', ours: ours.files.slice(1), real: theirs.files.slice(1) });
cases.push({ label: 'minion: 1,000 test.nop in a chain', ours: ours.nops, real: theirs.nops });

const of = (samples: readonly Sample[], key: keyof Sample): number => median(samples.map((sample) => sample[key]));
console.log(`| | Halite | ${release.name} | Salt / Halite | memory Halite | memory Salt | Halite / Salt |`);
console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const { label, ours: a, real: b } of cases) {
  const [fast, slow, light, heavy] = [of(a, 'seconds'), of(b, 'seconds'), of(a, 'megabytes'), of(b, 'megabytes')];
  const time = `${fast.toFixed(2)} s | ${slow.toFixed(2)} s | ${(slow / fast).toFixed(1)} ×`;
  console.log(
    `| ${label} | ${time} | ${light.toFixed(0)} MB | ${heavy.toFixed(0)} MB | ${(light / heavy).toFixed(2)} |`,
  );
}
