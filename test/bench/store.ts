// Measures the job store: a million results, looking jobs up against real Salt, other databases, and one that is away.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { nullLogger } from '../../src/base/log/index.ts';
import { jidOf } from '../../src/base/util/jid.ts';
import { bindArguments } from '../../src/engine/exec/bind.ts';
import jobsRunner from '../../src/ext/runners/jobs/index.ts';
import type { MasterContext } from '../../src/extend/sdk/index.ts';
import { History } from '../../src/master/returners/history.ts';
import type { ReturnerSettings } from '../../src/master/returners/settings.ts';
import { ReturnerSinks } from '../../src/master/returners/sinks.ts';
import { EventBus } from '../../src/protocol/event/bus.ts';
import { encode } from '../../src/protocol/wire/ipc/frames.ts';
import type { JobStore } from '../../src/store/jobs.ts';
import { SqliteJobStore } from '../../src/store/sqlite/store.ts';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { saltRelease } from '../support/salt-release.ts';
import { startMariaDb } from '../support/servers/mariadb.ts';
import { startPostgreSql } from '../support/servers/postgres.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

const total = Number(process.env['BENCH_RETURNS'] ?? 1_000_000);
const historyJobs = Number(process.env['BENCH_JOBS'] ?? 10_000);
const bigJob = 2000;
const elsewhere = Number(process.env['BENCH_ROWS'] ?? 20_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
const awaySeconds = Number(process.env['BENCH_AWAY'] ?? 30);

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const since = (start: number): number => (performance.now() - start) / 1000;
const count = (value: number): string => Math.round(value).toLocaleString('en');
const lines: string[] = [];
const row = (...cells: string[]): void => {
  lines.push(`| ${cells.join(' | ')} |`);
  console.error(cells.join('  '));
};

const started = Date.parse('2026-01-01T00:00:00Z');
const jidAt = (n: number): string => jidOf((started + n * 1000) * 1000);

function loadOf(jid: string, id: string): PlainDict {
  return newDict(
    Object.entries({
      jid,
      id,
      fun: 'test.ping',
      fun_args: [],
      return: true,
      retcode: 0,
      success: true,
      cmd: '_return',
    }),
  );
}

async function saveJob(store: JobStore, jid: string, expected: string[]): Promise<void> {
  const load = newDict(
    Object.entries({ fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', jid, user: 'root', ret: '' }),
  );
  const about = { fun: 'test.ping', tgt: '*', tgt_type: 'glob', user: 'root' };
  await store.saveJob({ jid, ...about, load, expected, started: Date.now(), internal: false });
}

const saveReturn = (store: JobStore, jid: string, id: string): Promise<unknown> =>
  store.saveReturn({
    ...{ jid, id, fun: 'test.ping', retcode: 0, success: true, load: loadOf(jid, id), received: Date.now() },
  });

/** The master acknowledges each result when it is stored: that is what is counted. */
async function million(folder: string): Promise<void> {
  const file = join(folder, 'million.db');
  const store = await SqliteJobStore.open(file);
  const begin = performance.now();
  let longest = 0;
  for (let job = 0; job * bigJob < total; job++) {
    const jid = jidAt(job);
    await saveJob(store, jid, []);
    const round = performance.now();
    await Promise.all(
      Array.from({ length: Math.min(bigJob, total - job * bigJob) }, (_, n) => saveReturn(store, jid, `minion-${n}`)),
    );
    longest = Math.max(longest, performance.now() - round);
  }
  const seconds = since(begin);
  row(`${count(total)} results into the own store`, `${seconds.toFixed(1)} s`, `${count(total / seconds)} per second`);
  row(
    'longest wait for 2,000 acknowledgements',
    `${Math.round(longest)} ms`,
    `${Math.round(statSync(file).size / 1e6)} MB on disk`,
  );
  const read = performance.now();
  const last = jidAt(Math.ceil(total / bigJob) - 1);
  await store.returns(last);
  row('one job of 2,000 minions read back from it', `${Math.round(performance.now() - read)} ms`, '');
  const drop = performance.now();
  const pauses: number[] = [];
  const cleaning = store.clean({ keepSeconds: 0, maxBytes: 20_000_000 });
  let cleaned = false;
  void cleaning.finally(() => {
    cleaned = true;
  });
  for (let n = 0; !cleaned; n++) {
    const at = performance.now();
    await saveReturn(store, jidAt(0), `late-${n}`);
    pauses.push(performance.now() - at);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const { jobs } = await cleaning;
  row(
    `${count(jobs)} jobs cleaned away`,
    `${since(drop).toFixed(1)} s`,
    `a write meanwhile ${median(pauses).toFixed(1)} ms, at most ${Math.round(Math.max(...pauses))} ms`,
  );
  await store.close();
}

interface Measured {
  /** The whole command. */
  command(args: readonly string[]): Promise<number>;
  /**
   * The functions themselves, without the way to the command. Halite's time ends with the bytes of the reply; Salt's,
   * to its advantage, with the result, which is encoded later.
   */
  inside(): Promise<{ list: number; filtered: number; lookup: number }>;
  readonly jid: string;
  end(): Promise<void>;
}

const timedCommand =
  (fleet: Deployment) =>
  async (args: readonly string[]): Promise<number> => {
    const begin = performance.now();
    const { code, stderr } = await fleet.run('salt-run', [...args, '--out=json'], { timeoutMs: 300_000 });
    if (code !== 0) throw new Error(`salt-run ${args.join(' ')}: ${stderr}`);
    return since(begin);
  };

/** search_function and search_target that fit all jobs, so that the work is in the looking. */
const someJobs = ['pkg.*,test.p*', '*'];
const keepAll = 'keep_jobs_seconds: 0\nkeep_jobs: 0';

async function haliteHistory(): Promise<Measured> {
  const fleet = await Deployment.create({ masterConfig: keepAll });
  const store = await SqliteJobStore.open(fleet.path('cache/master/halite.db'));
  for (let job = 0; job <= historyJobs; job++) {
    const size = job === historyJobs ? bigJob : 1;
    const ids = Array.from({ length: size }, (_, n) => `minion-${String(n).padStart(4, '0')}`);
    const saved = [saveJob(store, jidAt(job), ids), ...ids.map((id) => saveReturn(store, jidAt(job), id))];
    if (job % 100 === 0 || job >= historyJobs) await Promise.all(saved);
  }
  await fleet.startMaster();
  const jid = jidAt(historyJobs);
  const jobs = new History({
    ...{ store, sinks: { ask: async () => null }, settings: { extJobCache: '', jobCache: '' } },
    log: nullLogger(),
  });
  const ctx = { master: { jobs } } as unknown as MasterContext;
  const time = async (fun: string, ...args: Value[]): Promise<number> => {
    const begin = performance.now();
    const found = jobsRunner.functions[fun]!;
    const ret = await found.run(bindArguments(fun, found.params, args, newDict()) as never, ctx);
    const reply = encode([1, 'item', { type: 'result', ret: ret as Value, success: true, retcode: 0 }]);
    const seconds = since(begin);
    if (reply.length < 10 * bigJob) throw new Error(`${fun}: the reply is too short`);
    return seconds;
  };
  return {
    jid,
    command: timedCommand(fleet),
    inside: async () => ({
      list: await time('list_jobs'),
      filtered: await time('list_jobs', null, null, null, ...someJobs),
      lookup: await time('lookup_jid', jid),
    }),
    async end() {
      await store.close();
      await fleet.destroy();
    },
  };
}

async function saltHistory(): Promise<Measured> {
  const release = saltRelease('3006.27');
  const fleet = await Deployment.create({ master: release, masterConfig: keepAll });
  const config = join(fleet.masterConfigDir, 'master');
  const script = async (name: string, ...args: string[]): Promise<string> => {
    const file = join(import.meta.dirname, '../bench', name);
    const { code, stdout, stderr } = await runProgram(join(release.bin, 'python'), [file, config, ...args], {
      timeoutMs: 600_000,
    });
    if (code !== 0) throw new Error(stderr);
    return stdout.trim().split('\n').at(-1) ?? '';
  };
  const jid = await script('fill-salt-cache.py', String(historyJobs), String(bigJob));
  await fleet.startMaster();
  return {
    jid,
    command: timedCommand(fleet),
    inside: async () =>
      JSON.parse(await script('time-salt-runner.py', jid)) as { list: number; filtered: number; lookup: number },
    end: () => fleet.destroy(),
  };
}

/** In turn, and the best of several: other work on the machine disturbs both alike. */
async function lookUps(): Promise<void> {
  const both = [await haliteHistory(), await saltHistory()];
  const best = new Map<string, number[]>();
  const note = (what: string, at: number, seconds: number): void => {
    const known = best.get(what) ?? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    known[at] = Math.min(known[at]!, seconds);
    best.set(what, known);
  };
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [at, side] of both.entries()) {
        note(`\`salt-run jobs.list_jobs\`, ${count(historyJobs)} jobs`, at, await side.command(['jobs.list_jobs']));
        note(
          '`salt-run jobs.list_jobs search_function=… search_target=…`',
          at,
          await side.command(['jobs.list_jobs', `search_function=${someJobs[0]}`, `search_target=${someJobs[1]}`]),
        );
        note(
          `\`salt-run jobs.lookup_jid\`, ${count(bigJob)} minions`,
          at,
          await side.command(['jobs.lookup_jid', side.jid]),
        );
        const { list, filtered, lookup } = await side.inside();
        note('list_jobs inside the master', at, list);
        note('list_jobs with filters, inside the master', at, filtered);
        note('lookup_jid inside the master', at, lookup);
      }
    }
  } finally {
    for (const side of both) await side.end();
  }
  lines.push('', `| best of ${rounds} | Halite | Salt 3006.27 | Salt / Halite |`, '| --- | ---: | ---: | ---: |');
  for (const [what, [a = 0, b = 0]] of best)
    row(what, `${(a * 1000).toFixed(a < 0.02 ? 1 : 0)} ms`, `${(b * 1000).toFixed(0)} ms`, `${(b / a).toFixed(1)} ×`);
}

const mysqlTables = `USE salt;
CREATE TABLE jids (jid varchar(255) NOT NULL, \`load\` mediumtext NOT NULL, UNIQUE KEY jid (jid)) ENGINE=InnoDB;
CREATE TABLE salt_returns (fun varchar(50) NOT NULL, jid varchar(255) NOT NULL, \`return\` mediumtext NOT NULL,
  id varchar(255) NOT NULL, success varchar(10) NOT NULL, full_ret mediumtext NOT NULL,
  alter_time TIMESTAMP DEFAULT CURRENT_TIMESTAMP, KEY id (id), KEY jid (jid), KEY fun (fun)) ENGINE=InnoDB;`;
const postgresTables = [
  'CREATE TABLE jids (jid varchar(20) PRIMARY KEY, load text NOT NULL)',
  'CREATE TABLE salt_returns (fun varchar(50) NOT NULL, jid varchar(255) NOT NULL, return text NOT NULL, full_ret text, ' +
    'id varchar(255) NOT NULL, success varchar(10) NOT NULL, alter_time TIMESTAMP WITH TIME ZONE DEFAULT now())',
  'CREATE INDEX idx_id ON salt_returns (id)',
  'CREATE INDEX idx_jid ON salt_returns (jid)',
  'CREATE INDEX idx_fun ON salt_returns (fun)',
  'GRANT ALL ON jids, salt_returns TO salt',
];

/** Through the spool, as a master does it, until the last row is in the database. */
async function inserts(folder: string, returner: string, opts: PlainDict): Promise<void> {
  const settings = {
    folder: join(folder, 'spool'),
    opts,
    jobCache: returner,
    maxBytes: 1e9,
    gather: { count: 0, ms: 0 },
  };
  const sinks = new ReturnerSinks({
    settings: { extJobCache: '', events: [], ...settings } as unknown as ReturnerSettings,
    ...{ log: nullLogger(), bus: new EventBus(), names: async () => [] },
  });
  await sinks.start();
  const begin = performance.now();
  const all: Promise<void>[] = [];
  for (let n = 0; n < elsewhere; n++)
    all.push(
      sinks.add('jobs', returner, { k: 'ret', load: loadOf(jidAt(Math.floor(n / bigJob)), `minion-${n % bigJob}`) }),
    );
  await Promise.all(all);
  const spooled = since(begin);
  for (;;) {
    const status = Object.values(sinks.status())[0];
    if (status?.error) throw new Error(status.error);
    if (status?.waiting === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const seconds = since(begin);
  row(
    `${returner}, ${count(elsewhere)} results through the spool`,
    `${count(elsewhere / seconds)} per second`,
    `safe in the spool after ${spooled.toFixed(1)} s`,
  );
  await sinks.stop();
}

async function commandsWhileAway(
  fleet: Deployment,
  database: { pause(): Promise<void>; start(): Promise<void>; sql(text: string): Promise<Record<string, unknown>[]> },
): Promise<void> {
  const ping = async (seconds: number): Promise<number[]> => {
    const times: number[] = [];
    for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
      const begin = performance.now();
      const { code } = await fleet.salt('*', 'test.ping');
      if (code !== 0) throw new Error('a ping failed');
      times.push(performance.now() - begin);
    }
    return times;
  };
  const warm = await ping(3);
  const [there, away]: [number[], number[]] = [[], []];
  // In turn, since other work on the machine changes meanwhile.
  for (let round = 0; round < 3; round++) {
    there.push(...(await ping(awaySeconds / 3)));
    await database.pause();
    away.push(...(await ping(awaySeconds / 3)));
    await database.start();
  }
  const jobs = warm.length + there.length + away.length;
  const begin = performance.now();
  for (;;) {
    const [found] = await database.sql(
      "SELECT count(*) AS n FROM salt_returns WHERE fun = 'test.ping' AND id LIKE 'sim-%'",
    );
    if (Number(found?.['n']) >= jobs * 50) break;
    if (since(begin) > 60) throw new Error(`results are missing: ${Number(found?.['n'])} of ${jobs * 50}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  row(
    `\`salt '*' test.ping\`, 50 minions, MariaDB there`,
    `${median(there).toFixed(0)} ms`,
    `${there.length} commands`,
  );
  row(
    `the same, MariaDB stopped three times for ${awaySeconds / 3} s`,
    `${median(away).toFixed(0)} ms`,
    `${away.length} commands, all ${count(jobs * 50)} results there ${since(begin).toFixed(1)} s after it is back`,
  );
}

async function otherDatabases(folder: string): Promise<void> {
  const [mariadb, postgres] = [await startMariaDb(), await startPostgreSql()];
  try {
    if (mariadb) {
      await mariadb.script(mysqlTables);
      await inserts(join(folder, 'a'), 'mysql', mariadb.options as PlainDict);
    }
    if (postgres) {
      await postgres.sql(...postgresTables);
      await inserts(join(folder, 'b'), 'pgsql', postgres.options('returner.pgsql') as PlainDict);
    }
    if (mariadb) {
      const config = [
        'master_job_cache: mysql',
        ...Object.entries(mariadb.options).map(([name, value]) => `${name}: ${value}`),
      ];
      const fleet = await Deployment.create({ master: halite, masterConfig: config.join('\n') });
      await fleet.startMaster();
      const simulated = await SimulatedFleet.start(fleet.ports.requests, 50);
      await commandsWhileAway(fleet, mariadb).finally(async () => {
        simulated.close();
        await fleet.destroy();
      });
    }
  } finally {
    await mariadb?.stop();
    await postgres?.stop();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'halite-bench-'));
try {
  const part = process.env['BENCH_PART'] ?? 'million,other,lookup';
  lines.push('| store | | |', '| --- | ---: | ---: |');
  if (part.includes('million')) await million(folder);
  if (part.includes('other')) await otherDatabases(folder);
  if (part.includes('lookup')) await lookUps();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(lines.join('\n'));
