// How each kind of scenario is measured: one implementation, one round, a fresh master.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pack, unpack } from '../../../src/base/codec/msgpack/index.ts';
import { fieldOf } from '../../../src/base/codec/value.ts';
import { publicPem } from '../../../src/base/crypto/index.ts';
import { getTransport } from '../../../src/protocol/wire/transports.ts';
import { Deployment, type Implementation } from '../../support/deployment.ts';
import { eventually } from '../../support/eventually.ts';
import { FleetRun, fleetToEnd } from '../../support/salt-fleet.ts';
import { costOf } from './machine.ts';

/** Figure → value. */
export type Figures = Readonly<Record<string, number>>;

export const commandMs = 600_000;
const longMs = 900_000;

/** Minions as a load: their own checks would cost the processors that the master needs. */
export const lightFleet = (minions: number): string[] => [
  '--light',
  '--minions',
  String(minions),
  '--sign-in-time',
  '600',
  '--timeout',
  '300',
];

export async function withMaster(
  implementation: Implementation,
  work: (master: Deployment) => Promise<Figures>,
  config = '',
): Promise<Figures> {
  const master = await Deployment.create({ master: implementation });
  // As Salt has it by itself, and not as tests do.
  // A key that is deleted would make all minions sign in again in the middle of the measurement.
  const usual = 'worker_threads: 5\ngather_job_timeout: 10\nrotate_aes_key: False\n';
  writeFileSync(master.path('etc/master.d/bench.conf'), `${usual}${config}\n`);
  try {
    await master.startMaster();
    await settled(master);
    return await work(master);
  } finally {
    await master.destroy();
  }
}

/** A master that listens may still be loading: it has to answer once, and then to have nothing more to do. */
async function settled(master: Deployment): Promise<void> {
  const probe = ['--minions', '1', '--prefix', 'probe-', '--auth-only', '--sign-in-time', '120'];
  const { report } = await fleetToEnd(master.ports.requests, probe, 150_000);
  if (report.signedIn !== 1) throw new Error('the master does not answer');
  await master.run('salt-key', ['-y', '-d', 'probe-0001'], { timeoutMs: commandMs });
  let [at, used] = [performance.now(), costOf(master.master.pid).cpuSeconds];
  const quiet = (): boolean => {
    if (performance.now() - at < 2000) return false;
    const now = costOf(master.master.pid).cpuSeconds;
    const share = ((now - used) * 1000) / (performance.now() - at);
    [at, used] = [performance.now(), now];
    return share < 0.05;
  };
  await eventually('the master to be quiet', quiet, { timeoutMs: 60_000 });
}

export async function withFleet(
  master: Deployment,
  args: readonly string[],
  work: (run: FleetRun) => Promise<Figures>,
): Promise<Figures> {
  const run = await FleetRun.ready(master.ports.requests, args, longMs);
  try {
    return await work(run);
  } finally {
    await run.kill();
  }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

/** Seconds of a command that must succeed. */
const command = (master: Deployment, name: string, args: readonly string[]): Promise<number> =>
  timed(async () => {
    const { code, stderr } = await master.run(name, args, { timeoutMs: commandMs });
    if (code !== 0) throw new Error(`${name} ${args.join(' ')} ended with ${code}: ${stderr.slice(-500)}`);
  });

const trueCount = (stdout: string): number => stdout.match(/: true\b/g)?.length ?? 0;

/** Closed loop: all results are ready before the first is sent. */
export const returns = (implementation: Implementation, { minions = 500, results = 2000 }): Promise<Figures> =>
  withMaster(implementation, (master) =>
    // Minions of Halite would also report that they are at work, because they keep their results back.
    withFleet(master, [...lightFleet(minions), '--hold', '--as', 'salt'], async (run) => {
      const jobs = Math.max(1, Math.round(results / minions));
      // A master that has just started is slower with its first results: twice as many go before.
      for (let n = 0; n < 2; n++) {
        await flood(master, run, jobs, minions);
        run.order('hold');
      }
      return flood(master, run, jobs, minions);
    }),
  );

async function flood(master: Deployment, run: FleetRun, jobs: number, minions: number): Promise<Figures> {
  for (let n = 0; n < jobs; n++) await master.salt('*', 'test.ping', '--async');
  await eventually('all results to be held', async () => (await run.stats()).returns.held === minions * jobs, {
    timeoutMs: longMs,
  });
  await run.reset();
  const before = costOf(master.master.pid);
  run.order('release');
  await eventually(
    'all results to be acknowledged',
    async () => (await run.stats()).returns.answerMs.count >= minions * jobs,
    { timeoutMs: longMs },
  );
  const { returns: got } = await run.stats();
  const cpu = costOf(master.master.pid).cpuSeconds - before.cpuSeconds;
  return {
    perSecond: got.perSecond,
    cpuMs: (cpu * 1000) / (minions * jobs),
    ackP50: got.acknowledgementMs.p50,
    ackP99: got.acknowledgementMs.p99,
  };
}

export const signIns = (implementation: Implementation, { minions = 1000 }): Promise<Figures> =>
  withMaster(implementation, async (master) => {
    const before = costOf(master.master.pid);
    const run = new FleetRun(master.ports.requests, [...lightFleet(minions), '--auth-only']);
    try {
      await run.next('signed-in', 0, longMs);
      const cpu = costOf(master.master.pid).cpuSeconds - before.cpuSeconds;
      const { report } = await run.quit();
      if (report.signIns.accepted !== minions) throw new Error(`${report.signIns.accepted} of ${minions} signed in`);
      return { perSecond: report.signIns.perSecond, cpuMs: (cpu * 1000) / minions };
    } finally {
      await run.kill();
    }
  });

export const ping = (implementation: Implementation, { minions = 200, share = 1 }): Promise<Figures> =>
  withMaster(implementation, (master) =>
    withFleet(master, [...lightFleet(minions), '--share', String(share)], async () => {
      // The first command after a start is slower for both.
      await master.run('salt', ['*', 'test.ping', '--out=json', '--static'], { timeoutMs: commandMs });
      const before = costOf(master.master.pid);
      let returned = 0;
      const seconds = await timed(async () => {
        const { stdout } = await master.run('salt', ['*', 'test.ping', '--out=json', '--static', '-t', '60'], {
          timeoutMs: commandMs,
        });
        returned = trueCount(stdout);
      });
      const after = costOf(master.master.pid);
      return { seconds, cpu: after.cpuSeconds - before.cpuSeconds, missing: minions - returned, memory: after.mb };
    }),
  );

/** Sign-in, pillar and start event of all at once. */
export const start = (implementation: Implementation, { minions = 1000, pillar = 0 }): Promise<Figures> =>
  withMaster(implementation, async (master) => {
    if (pillar > 0) writePillar(master, pillar);
    const before = costOf(master.master.pid);
    const began = Date.now();
    return withFleet(master, [...lightFleet(minions), '--boot', '--settle', '0'], async (run) => {
      const ready = run.events.find(({ event }) => event === 'ready');
      const cpu = costOf(master.master.pid).cpuSeconds - before.cpuSeconds;
      const booted = ready?.report?.boot;
      if (booted?.minions !== minions) throw new Error(`${booted?.minions} of ${minions} minions started`);
      return { seconds: booted.seconds, wall: ((ready?.at ?? 0) - began) / 1000, cpuMs: (cpu * 1000) / minions };
    });
  });

function writePillar(master: Deployment, files: number): void {
  const names = Array.from({ length: files }, (_, at) => `part${at}`);
  writeFileSync(master.path('srv/pillar/top.sls'), `base:\n  '*': [${names.join(', ')}]\n`);
  for (const name of names) {
    const values = Array.from({ length: 100 }, (_, at) => `  key${at}: {{ grains['id'] }} {{ ${at} * 2 }}`);
    writeFileSync(master.path('srv/pillar', `${name}.sls`), `${name}:\n${values.join('\n')}\n`);
  }
}

export const commandsAtOnce = (implementation: Implementation, { commands = 50, minions = 50 }): Promise<Figures> =>
  withMaster(implementation, (master) =>
    withFleet(master, lightFleet(minions), async () => {
      await master.salt('*', 'test.ping');
      let complete = 0;
      const seconds = await timed(async () => {
        const all = Array.from({ length: commands }, () =>
          master.run('salt', ['*', 'test.ping', '--out=json', '--static'], { timeoutMs: commandMs }),
        );
        for (const { stdout } of await Promise.all(all)) if (trueCount(stdout) === minions) complete += 1;
      });
      return { seconds, incomplete: commands - complete };
    }),
  );

/** From the request that publishes a job to its arrival at the first minion. */
export const publish = (implementation: Implementation, { times = 40, minions = 100 }): Promise<Figures> =>
  withMaster(implementation, (master) =>
    withFleet(master, lightFleet(minions), async (run) => {
      const client = (await getTransport('zeromq')).dial({ host: '127.0.0.1', port: master.ports.requests });
      const key = readFileSync(master.path('cache/master/.root_key'), 'utf8').trim();
      const load = {
        cmd: 'publish',
        tgt: '*',
        tgt_type: 'glob',
        fun: 'test.ping',
        arg: [],
        ret: '',
        jid: '',
        key,
        user: 'root',
        kwargs: {},
      };
      const waits: number[] = [];
      try {
        for (let n = 0; n < times; n++) {
          const sent = performance.timeOrigin + performance.now();
          const reply = unpack(await client.request(pack({ enc: 'clear', load, version: 3 }), { timeoutMs: 60_000 }));
          const jid = fieldOf(fieldOf(reply, 'load'), 'jid');
          const heard = await run.next('job', 0, 60_000, (event) => event.jid === jid);
          waits.push(heard.at - sent);
          await run.next('answered', 0, 60_000, (event) => event.jid === jid);
        }
      } finally {
        client.close();
      }
      return { ms: waits.sort((a, b) => a - b)[times >> 1] ?? 0 };
    }),
  );

export const memory = (implementation: Implementation, { minions = 0, share = 1 }): Promise<Figures> =>
  withMaster(implementation, async (master) => {
    if (minions === 0) return { mb: costOf(master.master.pid).mb };
    return withFleet(master, [...lightFleet(minions), '--share', String(share)], async () => {
      await master.run('salt', ['*', 'test.ping', '--out=json', '--static', '-t', '60'], { timeoutMs: commandMs });
      return { mb: costOf(master.master.pid).mb };
    });
  });

export const history = (implementation: Implementation, { jobs = 2000, minions = 1000 }): Promise<Figures> =>
  withMaster(
    implementation,
    (master) =>
      withFleet(master, [...lightFleet(minions), '--fill', String(jobs)], async (run) => {
        const { stdout } = await master.salt('*', 'test.ping', '--async');
        const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
        await run.next('answered', 0, longMs, (event) => event.jid === jid);
        return {
          list: await command(master, 'salt-run', ['jobs.list_jobs', '--out=json']),
          lookup: await command(master, 'salt-run', ['jobs.lookup_jid', jid, '--out=json']),
        };
      }),
    'keep_jobs_seconds: 864000',
  );

/** Keys that wait for acceptance, as files: that is how both have them. */
export const keys = async (implementation: Implementation, { keys: count = 2000 }): Promise<Figures> => {
  const { generateKeyPairSync } = await import('node:crypto');
  const text = publicPem(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey);
  return withMaster(implementation, async (master) => {
    const folder = master.path('etc/pki/master/minions_pre');
    mkdirSync(folder, { recursive: true });
    for (let n = 0; n < count; n++) writeFileSync(join(folder, `key-${String(n).padStart(6, '0')}`), text);
    return {
      list: await command(master, 'salt-key', ['-L', '--out=json']),
      accept: await command(master, 'salt-key', ['-A', '-y', '--out=json']),
    };
  });
};
