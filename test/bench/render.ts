// Measures templates, pillars and files of Halite and real Salt side by side in one run. `npm run bench -- render`.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { dumpJson } from '../../src/base/codec/json/index.ts';
import { dictOf, newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { type RenderHost, renderText } from '../../src/engine/render/index.ts';
import { Loader } from '../../src/extend/loader/index.ts';
import { Deployment, halite, type Implementation, runProgram } from '../support/deployment.ts';
import { saltRelease } from '../support/salt-release.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

const release = saltRelease('3006.27');
const asked = new Set((process.env['HALITE_BENCH_PARTS'] ?? 'template,pillar,files').split(','));
const rows: string[] = [];
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function row(label: string, unit: string, ours: number, real: number, faster: number): void {
  rows.push(
    `| ${label} | ${ours.toFixed(ours < 10 ? 2 : 0)} ${unit} | ${real.toFixed(real < 10 ? 2 : 0)} ${unit} | ${faster.toFixed(1)} × |`,
  );
}

/* One template of 201 lines to data. */

const file = new URL('../fixtures/bench/states.sls', `file://${import.meta.dirname}/`).pathname;
const scene = {
  grains: { id: 'm1', os_family: 'Debian' },
  pillar: { site: { users: ['alice', 'bob', 'carol'], motd: ' "welcome" ', value_3: 33 } },
};
const asValue = (data: unknown): Value => {
  if (Array.isArray(data)) return data.map(asValue);
  if (data === null || typeof data !== 'object') return data as Value;
  return dictOf(Object.entries(data).map(([key, item]) => [key, asValue(item)]));
};

function renderHost(): RenderHost {
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const site = scene.pillar.site as Record<string, unknown>;
  return {
    loader: new Loader({ opts: () => ({}), grains: () => newDict(), log, userCode: 'names' }),
    log,
    opts: newDict(),
    grains: asValue(scene.grains) as PlainDict,
    pillar: asValue(scene.pillar) as PlainDict,
    files: { cacheFile: async () => undefined },
    functions: {
      modules: async () => new Set(['pillar']),
      has: async () => true,
      call: async (_fun, args) => (site[String(args[0]).replace('site:', '')] ?? args[1] ?? '') as Value,
    },
    exec: () => Promise.reject(new Error('nothing runs here')),
  };
}

async function template(): Promise<void> {
  const rounds = 60;
  const text = readFileSync(file, 'utf8');
  const host = renderHost();
  const timed = async (source: (round: number) => string): Promise<number[]> => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const started = performance.now();
      await renderText(host, source(round), { sls: 'states' });
      times.push(performance.now() - started);
    }
    return times.slice(rounds / 3);
  };
  const fresh = median(await timed((round) => `${text}# ${round}\n`));
  const again = median(await timed(() => text));
  const script = new URL('../bench/render-salt.py', `file://${import.meta.dirname}/`).pathname;
  const asked = spawnSync(join(release.bin, 'python'), [script, file, '30', JSON.stringify(scene)], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (asked.status !== 0) throw new Error(asked.stderr);
  const real = JSON.parse(asked.stdout) as { times: number[]; data: unknown };
  const ours = dumpJson(await renderText(host, text, { sls: 'states' }));
  if (!isDeepStrictEqual(JSON.parse(ours), real.data)) throw new Error('the data differs');
  const theirs = median(real.times) * 1000;
  row('template of 201 lines to data, known to the cache', 'ms', again, theirs, theirs / again);
  row('the same, never seen before', 'ms', fresh, theirs, theirs / fresh);
}

/* The pillars of 500 minions, asked for over the wire. */

const grains = newDict(
  Array.from({ length: 60 }, (_, at): [string, Value] => [
    `grain_${at}`,
    at % 3 === 0 ? [`a${at}`, 'b'] : `value ${at}`,
  ]),
);
Object.assign(grains, { os: 'Debian', os_family: 'Debian', kernel: 'Linux', role: 'web' });

function pillarTree(): Record<string, string> {
  const files: Record<string, string> = {
    'top.sls':
      "base:\n  '*': [common, users]\n  'os:Debian': [{match: grain}, debian]\n  'sim-*1': [odd]\n  'G@role:web and not E@db.*': [web]\n",
    'lib.jinja': "{% macro port(n) %}{{ 8000 + n }}{% endmacro %}{% set domains = ['a', 'b', 'c'] %}\n",
    'common.sls':
      "{% from 'lib.jinja' import domains with context %}\nid: {{ grains.id }}\ndns:\n{% for d in domains %}  - {{ d }}.example.com\n{% endfor %}settings:\n{% for i in range(40) %}  key_{{ i }}: {{ {'n': i, 'text': 'value %s' % i} | json }}\n{% endfor %}",
    'users.sls':
      'users:\n{% for i in range(60) %}  user{{ i }}:\n    uid: {{ 1000 + i }}\n    groups: [wheel, g{{ i % 5 }}]\n    home: /home/user{{ i }}\n{% endfor %}',
    'debian.sls':
      "apt:\n  sources:\n{% for c in ['main', 'contrib'] %}    - deb http://deb.example.com {{ grains.os | lower }} {{ c }}\n{% endfor %}",
    'odd.sls': 'odd: true\n',
    'web.sls':
      "{% import 'lib.jinja' as lib %}\nsites:\n{% for i in range(30) %}  site{{ i }}: {port: {{ lib.port(i) }}, tls: {{ i is odd }}}\n{% endfor %}",
  };
  return files;
}

async function pillarsOf(master: Implementation, count: number): Promise<number> {
  const fleet = await Deployment.create({ master });
  let simulated: SimulatedFleet | undefined;
  try {
    for (const [name, text] of Object.entries(pillarTree())) writeFileSync(fleet.path('srv/pillar', name), text);
    await fleet.startMaster();
    simulated = await SimulatedFleet.start(fleet.ports.requests, count, { subscribe: false });
    // The first ones warm both up: loaders, worker threads, caches.
    await simulated.pillars(grains, 20);
    const started = performance.now();
    const sizes = await simulated.pillars(grains, count);
    const seconds = (performance.now() - started) / 1000;
    if (sizes.length !== count || Math.min(...sizes) < 4000) throw new Error(`${master.name}: pillars are missing`);
    return seconds;
  } finally {
    simulated?.close();
    await fleet.destroy();
  }
}

/* 200 MB from the master. */

async function transfer(implementation: Implementation, megabytes: number): Promise<number> {
  const fleet = await Deployment.create({ master: implementation });
  try {
    const big = randomBytes(1 << 20);
    mkdirSync(dirname(fleet.path('srv/salt/big')), { recursive: true });
    writeFileSync(fleet.path('srv/salt/big'), Buffer.concat(Array.from({ length: megabytes }, () => big)));
    writeFileSync(fleet.path('srv/salt/small'), 'x');
    await fleet.startMaster();
    const config = fleet.configureMinion('m1');
    const fetch = async (name: string): Promise<number> => {
      rmSync(fleet.path('m1/cache'), { recursive: true, force: true });
      const started = performance.now();
      const args = ['-c', config, 'cp.get_file', `salt://${name}`, fleet.path('got'), '--out=json'];
      const { stdout, stderr } = await runProgram(join(implementation.bin, 'salt-call'), args, { timeoutMs: 180_000 });
      if (!stdout.includes(fleet.path('got'))) throw new Error(`${implementation.name}: ${stdout}${stderr}`);
      return (performance.now() - started) / 1000;
    };
    await fetch('small');
    const [small, large] = [[], []] as [number[], number[]];
    for (let round = 0; round < 3; round++) {
      small.push(await fetch('small'));
      large.push(await fetch('big'));
    }
    return megabytes / (median(large) - median(small));
  } finally {
    await fleet.destroy();
  }
}

if (asked.has('template')) await template();
if (asked.has('pillar')) {
  const [ours, real] = [await pillarsOf(halite, 500), await pillarsOf(release, 500)];
  row('pillars of 500 minions, asked for over the wire', 's', ours, real, real / ours);
}
if (asked.has('files')) {
  const [ours, real] = [await transfer(halite, 200), await transfer(release, 200)];
  row('`cp.get_file` of 200 MB, start of the command taken off', 'MB/s', ours, real, ours / real);
}
console.log(`| | Halite | ${release.name} | Halite is faster |\n| --- | ---: | ---: | ---: |\n${rows.join('\n')}`);
