// A Halite minion with several Halite masters: real daemons, killed and frozen, listed twice, with another key, exchanged.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fingerprint } from '../../src/base/crypto/index.ts';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { signalAll } from '../support/faults.ts';

/** Two masters with one key pair, one with another. Minions belong to the folder of the first. */
let a: Deployment;
let b: Deployment;
let stranger: Deployment;

const at = (master: Deployment, host = '127.0.0.1'): string => `${host}:${master.ports.requests}`;

function configure(id: string, masters: readonly string[], more: Record<string, unknown> = {}): void {
  mkdirSync(a.path(id, 'etc/minion.d'), { recursive: true });
  const options = { master: masters, return_retry_timer: 1, return_retry_timer_max: 1, ...more };
  writeFileSync(a.path(id, 'etc/minion.d/own.conf'), JSON.stringify(options));
}

function start(id: string, masters: readonly string[], more: Record<string, unknown> = {}): void {
  configure(id, masters, more);
  a.startMinion(id);
}

/** The masters that the minion says it uses, as the one that is asked hears it. */
async function status(id: string, asked = a): Promise<Record<string, unknown>[]> {
  const answer = (await asked.json(id, 'status.masters', '-t', '5'))[id];
  return Array.isArray(answer) ? (answer as Record<string, unknown>[]) : [];
}

const answers = async (id: string, master: Deployment): Promise<boolean> =>
  (await master.json(id, 'test.ping', '-t', '2').catch(() => ({}) as Record<string, unknown>))[id] === true;

async function begin(id: string, text: string, master: Deployment, until: string): Promise<string> {
  const command = `touch ${a.path(`${text}.began`)}; while [ ! -e ${until} ]; do sleep 0.1; done; echo ${text}`;
  const { stdout } = await master.salt(id, 'cmd.run', command, '--async');
  const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
  await eventually(`the job ${text} to run`, () => readdirSync(a.root).includes(`${text}.began`));
  return jid;
}

async function recorded(jid: string, id: string, master: Deployment): Promise<unknown> {
  const { stdout } = await master.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']);
  try {
    return (JSON.parse(stdout) as Record<string, unknown>)[id];
  } catch {
    return undefined;
  }
}

const isRecorded = (jid: string, id: string, master: Deployment, text: string): Promise<void> =>
  eventually(`the result of ${jid} (${text})`, async () => (await recorded(jid, id, master)) === text, {
    timeoutMs: 120_000,
    describe: () => a.minion(id).output().slice(-4000),
  });

const spooled = (id: string): string[] => {
  try {
    return readdirSync(a.path(id, 'cache/halite/spool')).filter((name) => name.endsWith('.p'));
  } catch {
    return [];
  }
};

async function settled(id: string): Promise<void> {
  await eventually(`the spool of ${id} to be empty`, () => spooled(id).length === 0, {
    timeoutMs: 120_000,
    describe: () => a.minion(id).output().slice(-4000),
  });
}

beforeAll(async () => {
  [a, b, stranger] = await Promise.all([Deployment.create(), Deployment.create(), Deployment.create()]);
  await Promise.all([a.startMaster(), stranger.startMaster()]);
  cpSync(a.path('etc/pki/master'), b.path('etc/pki/master'), { recursive: true });
  await b.startMaster();
});
afterAll(async () => {
  await Promise.all([a, b, stranger].map((deployment) => deployment?.destroy()));
});

describe('all masters at the same time', () => {
  beforeAll(async () => {
    start('hot', [at(a), at(b)]);
    await eventually(
      'both masters to be answered',
      async () => (await answers('hot', a)) && (await answers('hot', b)),
      {
        timeoutMs: 120_000,
      },
    );
  });

  it('a result whose master was killed is taken by the other one, and told to the first when it is back', async () => {
    const jid = await begin('hot', 'killed', a, a.path('go-1'));
    await a.master.stop('SIGKILL');
    writeFileSync(a.path('go-1'), '');
    await isRecorded(jid, 'hot', b, 'killed');
    expect(spooled('hot')).toHaveLength(1);
    await a.startMaster();
    await settled('hot');
    await isRecorded(jid, 'hot', a, 'killed');
  });

  it('the same when the master is frozen, which no connection shows', async () => {
    const jid = await begin('hot', 'frozen', a, a.path('go-2'));
    signalAll(a.master.pid, 'SIGSTOP');
    try {
      writeFileSync(a.path('go-2'), '');
      await isRecorded(jid, 'hot', b, 'frozen');
      await eventually('hot to answer', () => answers('hot', b));
    } finally {
      signalAll(a.master.pid, 'SIGCONT');
    }
    await settled('hot');
    await isRecorded(jid, 'hot', a, 'frozen');
  });

  it('a minion that is restarted with other masters while a job runs brings its result to one of them', async () => {
    const jid = await begin('hot', 'moved', a, a.path('go-3'));
    await a.minion('hot').stop();
    start('hot', [at(b)]);
    await eventually('the other master to be answered', () => answers('hot', b));
    writeFileSync(a.path('go-3'), '');
    await isRecorded(jid, 'hot', b, 'moved');
    await settled('hot');
  });
});

it('one master with two names is used once, a job runs once, and it stays reachable', async () => {
  start('twice', [at(a), at(a, 'localhost')]);
  await a.answering('twice');
  await eventually('the second entry to be dropped', () =>
    a.minion('twice').said(['are the same machine: the second is not used']),
  );
  await eventually('one link', async () => (await status('twice')).filter((link) => link['ready']).length === 1);
  const [used] = (await status('twice')).filter((link) => link['ready']);
  expect(used).toMatchObject({ master: at(a), also_listed_as: [at(a, 'localhost')], halite: true });
  const file = a.path('twice.count');
  await a.salt('twice', 'cmd.run', `echo x >> ${file}`);
  expect(readFileSync(file, 'utf8')).toBe('x\n');
});

it('a master with another key is refused with both fingerprints; the others are used', async () => {
  // The order of contact decides whom a new minion trusts: this one knows its masters.
  mkdirSync(a.path('careful/pki'), { recursive: true });
  cpSync(a.path('etc/pki/master/master.pub'), a.path('careful/pki/minion_master.pub'));
  start('careful', [at(stranger), at(a), at(b)]);
  await a.answering('careful');
  const keys = [a, stranger].map((one) => fingerprint(readFileSync(one.path('etc/pki/master/master.pub'), 'utf8')));
  await eventually('both fingerprints to be named', () =>
    keys.every((key) => a.minion('careful').output().includes(key)),
  );
  await eventually('careful to answer', () => answers('careful', b));
  expect((await status('careful')).map((link) => link['ready'])).toEqual([false, true, true]);
  expect(await answers('careful', stranger)).toBe(false);
});

it('a second process of the same minion is refused, and the first one is named; kill -9 leaves nothing behind', async () => {
  start('single', [at(a)]);
  await a.answering('single');
  const first = a.minion('single').pid;
  const again = ['-c', a.path('single/etc'), '--pid-file', a.path('single/other.pid'), '-l', 'info'];
  const second = await runProgram(join(halite.bin, 'salt-minion'), again);
  expect(second.code).not.toBe(0);
  expect(second.stderr + second.stdout).toContain(`process ${first}, minion single, started `);
  await a.minion('single').stop('SIGKILL');
  start('single', [at(a)]);
  await a.answering('single');
});

describe('one master at a time', () => {
  const failover = {
    master_type: 'failover',
    master_alive_interval: 2,
    master_failback: true,
    master_failback_interval: 1,
  };

  beforeAll(async () => {
    start('careless', [at(a), at(b)], failover);
    await a.answering('careless');
  });

  it('the second one has no connection', async () => {
    expect(await answers('careless', b)).toBe(false);
    expect(await status('careless')).toMatchObject([{ master: at(a), ready: true }]);
  });

  it('the next one is used when the first dies, running jobs go on, and the first is used again when it is back', async () => {
    const jid = await begin('careless', 'across', a, a.path('go-4'));
    await a.master.stop('SIGKILL');
    await eventually('the second master to be used', () => answers('careless', b), {
      timeoutMs: 120_000,
      describe: () => a.minion('careless').output().slice(-4000),
    });
    writeFileSync(a.path('go-4'), '');
    await isRecorded(jid, 'careless', b, 'across');
    await a.startMaster();
    await eventually('the first master to be used again', () => answers('careless', a), {
      timeoutMs: 120_000,
      describe: () => a.minion('careless').output().slice(-4000),
    });
    await settled('careless');
    await isRecorded(jid, 'careless', a, 'across');
    await eventually('the second one to be left', async () => !(await answers('careless', b)));
  });

  it('a frozen master is left as well, a running state gets its files from the next one, and salt-call too', async () => {
    const state = `wait:\n  cmd.run:\n    - name: while [ ! -e ${a.path('go-5')} ]; do sleep 0.1; done\n`;
    const file = `after:\n  file.managed:\n    - name: ${a.path('from-next')}\n    - source: salt://body\n    - require: [cmd: wait]\n`;
    for (const master of [a, b]) {
      writeFileSync(master.path('srv/salt/across.sls'), state + file);
      writeFileSync(master.path('srv/salt/body'), 'the body\n');
    }
    await a.salt('careless', 'state.apply', 'across', '--async');
    await eventually('the state to run', async () =>
      JSON.stringify(await a.json('careless', 'saltutil.running')).includes('state.apply'),
    );
    signalAll(a.master.pid, 'SIGSTOP');
    try {
      await eventually('the second master to be used', () => answers('careless', b));
      writeFileSync(a.path('go-5'), '');
      await eventually('the file of the second master', () => existsSync(a.path('from-next')), {
        timeoutMs: 120_000,
        describe: () => a.minion('careless').output().slice(-4000),
      });
      expect(readFileSync(a.path('from-next'), 'utf8')).toBe('the body\n');
      const call = await runProgram(join(halite.bin, 'salt-call'), ['-c', a.path('careless/etc'), 'pillar.items']);
      expect({ code: call.code, text: call.stdout + call.stderr }).toMatchObject({ code: 0 });
    } finally {
      signalAll(a.master.pid, 'SIGCONT');
    }
    await eventually('the first master to be used again', () => answers('careless', a));
  });
});
