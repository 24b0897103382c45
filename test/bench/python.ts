// Measures the bridge to users' Python: start, calls, memory. `npm run bench -- python`.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type Value } from '../../src/base/codec/value.ts';
import { providePython } from '../../src/engine/python/index.ts';
import { Loader, type PythonCaller } from '../../src/extend/loader/index.ts';
import { halite, runProgram } from '../support/deployment.ts';

const folder = mkdtempSync(join(tmpdir(), 'halite-bench-python-'));
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const print = (label: string, text: string): void => void process.stdout.write(`${label.padEnd(52)} ${text}\n`);

mkdirSync(join(folder, 'ext/modules'), { recursive: true });
mkdirSync(join(folder, 'etc'));
writeFileSync(
  join(folder, 'ext/modules/speed.py'),
  "import os\ndef ping(): return True\ndef pid(): return os.getpid()\ndef back(n):\n    for _ in range(n):\n        __salt__['test.ping']()\n    return n\n",
);
writeFileSync(join(folder, 'ext/modules/tsspeed.mjs'), 'export function ping() {\n  return true;\n}\n');
writeFileSync(
  join(folder, 'etc/minion'),
  `id: bench\nfile_client: local\nroot_dir: ${folder}\nextension_modules: ${folder}/ext\n`,
);

const filler = newDict(
  Array.from({ length: 1500 }, (_, n): [string, Value] => [`option_${n}`, `a value of the usual length, number ${n}`]),
);
const opts = { ...filler, extension_modules: join(folder, 'ext'), cachedir: folder };
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

async function inProcess(): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    const python = providePython({ opts: () => opts, log, workers: 'shared' });
    const { call } = open(python);
    const start = performance.now();
    await call('speed.ping');
    times.push(performance.now() - start);
    python.release();
  }
  print('start to the first result (median of 20)', `${median(times).toFixed(0)} ms`);
  const python = providePython({ opts: () => opts, log, workers: 'shared' });
  const { call } = open(python);
  const pid = String(await call('speed.pid'));
  const calls = 10_000;
  let start = performance.now();
  for (let n = 0; n < calls; n++) await call('speed.ping');
  print('calls into Python', `${(calls / ((performance.now() - start) / 1000)).toFixed(0)} per second`);
  start = performance.now();
  await call('speed.back', calls);
  print('calls back into Halite', `${(calls / ((performance.now() - start) / 1000)).toFixed(0)} per second`);
  const memory = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  print('memory of the worker', `${(Number(memory) / 1024).toFixed(0)} MiB`);
  python.release();
}

function open(python: ReturnType<typeof providePython>) {
  const caller: PythonCaller = {
    opts,
    grains: newDict([['os', 'Debian']]),
    pillar: newDict(),
    callWith: async (fun, args) => {
      const found = await loader.find('modules', fun);
      return ((await found?.fn.run({ n: args[0] } as never, caller as never)) ?? null) as Value;
    },
  };
  const loader: Loader = new Loader({
    opts: () => opts,
    grains: () => newDict(),
    log,
    userCode: 'import',
    python: python.source,
    pythonCaller: () => caller,
  });
  return { call: (fun: string, ...args: Value[]): Promise<Value> => caller.callWith!(fun, args, newDict()) };
}

async function command(fun: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 21; round++) {
    const start = performance.now();
    const { code, stderr } = await runProgram(`${halite.bin}/salt-call`, ['-c', join(folder, 'etc'), '--local', fun]);
    if (code !== 0) throw new Error(stderr);
    if (round > 0) times.push(performance.now() - start);
  }
  return median(times);
}

try {
  await inProcess();
  const [python, typescript] = [await command('speed.ping'), await command('tsspeed.ping')];
  print('salt-call --local, Python', `${python.toFixed(0)} ms`);
  print('salt-call --local, the same in TypeScript', `${typescript.toFixed(0)} ms`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
