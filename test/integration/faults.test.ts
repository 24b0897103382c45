// Real daemons with every fault for which there is a reason: each is reported correctly and in time, and no other
// minion has to wait.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Request } from 'zeromq';
import { pack } from '../../src/base/codec/msgpack/index.ts';
import { fingerprint } from '../../src/base/crypto/index.ts';
import { Deployment, halite, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { canCutNetworks, FarNetwork, LossyProxy, signalAll, withClock, wrapped } from '../support/faults.ts';
import { startStopwatch } from '../support/pace.ts';
import { freePorts } from '../support/ports.ts';

interface Reason {
  code: string;
  text: string;
  evidence: Record<string, unknown>;
}
interface Verdicts {
  answers: Record<string, unknown>;
  reasons: Record<string, Reason>;
  ms: number;
}

let fleet: Deployment;
let far: FarNetwork | undefined;
let proxy: LossyProxy;
const network = canCutNetworks();

/** Lines that win over the ones every test minion has. */
function override(id: string, lines: string): void {
  fleet.configureMinion(id);
  mkdirSync(fleet.path(id, 'etc/minion.d'), { recursive: true });
  writeFileSync(fleet.path(id, 'etc/minion.d/own.conf'), `${lines}\n`);
}

/** One job for `steady` and another: both have exactly one verdict, and `steady` has answered. */
async function ask(id: string, ...more: string[]): Promise<Verdicts> {
  const watch = await startStopwatch();
  const { stdout } = await fleet.salt(
    '-L',
    `steady,${id}`,
    'test.ping',
    '--static',
    '--explain',
    '--out=json',
    ...more,
  );
  const ms = await watch.ms();
  const { __explain__: reasons = {}, ...answers } = JSON.parse(stdout) as Record<string, never>;
  expect([...Object.keys(answers), ...Object.keys(reasons)].sort()).toEqual([id, 'steady'].sort());
  expect(answers['steady']).toBe(true);
  return { answers, reasons, ms };
}

async function reasonFor(id: string, ...more: string[]): Promise<Reason & { ms: number }> {
  const { reasons, ms } = await ask(id, ...more);
  const reason = reasons[id];
  if (!reason) throw new Error(`${id} answered`);
  return { ...reason, ms };
}

async function restart(id: string): Promise<void> {
  await fleet.minion(id).stop();
  fleet.startMinion(id);
  await fleet.answering(id);
}

/** Waits for the moment from which a reason can be known. */
const until = (id: string, code: string): Promise<void> =>
  eventually(`${id} to be ${code}`, async () => (await ask(id, '-t', '1')).reasons[id]?.code === code, {
    timeoutMs: 120_000,
  });

/** The newest job that people sent to a minion. */
async function lastJob(id: string): Promise<string> {
  const { stdout } = await fleet.run('salt-run', ['jobs.last_run', `target=${id}`, '--out=json']);
  return Object.keys(JSON.parse(stdout) as object)[0] ?? '';
}
const explain = async (jid: string): Promise<string> => (await fleet.run('salt-run', ['jobs.explain', jid])).stdout;
const jidIn = (text: string): string => /\b(20\d{18})\b/.exec(text)?.[1] ?? '';
const keys = async (...args: string[]): Promise<void> => {
  expect((await fleet.run('salt-key', ['-y', ...args])).code).toBe(0);
};
const printOf = (file: string): string => fingerprint(readFileSync(file, 'utf8'));

beforeAll(async () => {
  fleet = await Deployment.create({ autoAccept: false });
  const lines = ['request_server_ttl: 300', 'interface: 0.0.0.0', 'open_mode: False', 'timeout: 5'];
  writeFileSync(fleet.path('etc/master.d/faults.conf'), `${lines.join('\n')}\n`);
  await fleet.startMaster();
  proxy = await LossyProxy.to(fleet.ports.requests);
  const [closed] = await freePorts(1);
  for (const id of ['steady', 'victim', 'rekeyed', 'deleted', 'copied', 'worker']) fleet.startMinion(id);
  override('lossy', `master_port: ${proxy.port}`);
  fleet.startMinion('lossy');
  override('deaf', `publish_port: ${closed}`);
  fleet.startMinion('deaf');
  const ids = ['steady', 'victim', 'rekeyed', 'deleted', 'copied', 'worker', 'lossy', 'deaf'];
  if (network) {
    far = new FarNetwork();
    override('far', `master: ${far.near}`);
    fleet.startMinion('far', wrapped(fleet.root, 'far', ['ip', 'netns', 'exec', far.name]));
    ids.push('far');
  }
  await eventually('all keys to arrive', () =>
    ids.every((id) => existsSync(fleet.path('etc/pki/master/minions_pre', id))),
  );
  await keys('-A');
  await fleet.answering(...ids.filter((id) => id !== 'deaf'));
});

afterAll(async () => {
  await fleet?.destroy();
  await proxy?.close();
  far?.remove();
});

describe('a disconnected minion', () => {
  it('was stopped: reported immediately, with the time', async () => {
    await fleet.minion('victim').stop();
    await until('victim', 'connection-lost');
    const { text, evidence, ms } = await reasonFor('victim', '-t', '60');
    expect(text).toMatch(/lost \(at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\)/);
    expect(evidence).toHaveProperty('last_contact');
    expect(ms).toBeLessThan(1500);
  });

  it('was killed during a job: reported within two seconds, with its last output', async () => {
    await restart('victim');
    const running = fleet.salt('victim', 'cmd.run', 'echo half way; sleep 60', '--explain', '-t', '1');
    await eventually('its output', async () => (await explain(await lastJob('victim'))).includes('half way'));
    await fleet.minion('victim').stop('SIGKILL');
    const killed = await startStopwatch();
    const { stdout, code } = await running;
    expect(await killed.ms()).toBeLessThan(3000);
    expect(stdout).toContain('[Not connected]');
    expect(stdout).toContain('last_output: half way');
    expect(code).toBe(1);
  });

  it('is suspended: silent since the time it was last heard, as soon as it did not answer a question', async () => {
    await restart('victim');
    signalAll(fleet.minion('victim').pid, 'SIGSTOP');
    const { code, text, ms } = await reasonFor('victim', '-t', '2');
    expect(code).toBe('silent');
    expect(text).toMatch(/since \d{4}-/);
    // Two seconds of -t, one of gather_job_timeout: from then on it can be known.
    expect(ms).toBeLessThan(5000);
    signalAll(fleet.minion('victim').pid, 'SIGCONT');
    await fleet.answering('victim');
  });

  it.skipIf(!network)('is behind an interrupted network: silent first', async () => {
    far?.cut();
    const { code, ms } = await reasonFor('far', '-t', '2');
    expect(code).toBe('silent');
    expect(ms).toBeLessThan(5000);
  });

  it('reaches only one of the two ports: the other one is named', async () => {
    const { code, text } = await reasonFor('deaf', '-t', '1');
    expect(code).toBe('not-subscribed');
    expect(text).toContain(`port ${fleet.ports.publish}`);
  });
});

describe('keys', () => {
  it('deleted while a job runs: its end is no longer awaited', async () => {
    const running = fleet.salt('-L', 'steady,deleted', 'cmd.run', 'echo begun; sleep 300', '--explain', '--static');
    await eventually('it to run', async () => (await explain(await lastJob('deleted'))).includes('deleted: started'));
    const jid = await lastJob('deleted');
    // It is connected and says that it is at work, but its result would not be taken.
    await keys('-r', 'deleted', '--include-accepted');
    await fleet.salt('steady', 'saltutil.kill_job', jid);
    const { stdout, stderr } = await running;
    expect(stdout + stderr).toContain('its key is rejected');
    expect(await explain(jid)).toMatch(/deleted: missing, its key is rejected/);
    await fleet.minion('deleted').stop();
    await keys('-d', 'deleted');
    fleet.startMinion('deleted');
    await eventually('its key to be back', () => existsSync(fleet.path('etc/pki/master/minions_pre/deleted')), {
      timeoutMs: 120_000,
    });
    await keys('-a', 'deleted');
    await fleet.answering('deleted');
    await fleet.salt('deleted', 'saltutil.kill_all_jobs');
  });

  it('deleted: unknown, then waiting for acceptance with its fingerprint, then rejected', async () => {
    await fleet.minion('deleted').stop();
    await keys('-d', 'deleted');
    expect((await reasonFor('deleted')).code).toBe('no-key');
    fleet.startMinion('deleted', halite, 'rejected_retry: True');
    await until('deleted', 'key-pending');
    const { text, evidence } = await reasonFor('deleted');
    expect(text).toContain('salt-key -a deleted');
    expect(evidence['fingerprint']).toBe(printOf(fleet.path('deleted/pki/minion.pub')));
    await keys('-r', 'deleted');
    expect(await reasonFor('deleted')).toMatchObject({ code: 'key-rejected' });
    await fleet.minion('deleted').stop();
  });

  it('changed: denied, with both fingerprints', async () => {
    const accepted = printOf(fleet.path('rekeyed/pki/minion.pub'));
    await fleet.minion('rekeyed').stop();
    rmSync(fleet.path('rekeyed/pki'), { recursive: true });
    fleet.startMinion('rekeyed', halite, 'rejected_retry: True');
    await until('rekeyed', 'key-denied');
    const { evidence, ms } = await reasonFor('rekeyed');
    expect(evidence['accepted_fingerprint']).toBe(accepted);
    expect(evidence['presented_fingerprint']).toBe(printOf(fleet.path('rekeyed/pki/minion.pub')));
    expect(ms).toBeLessThan(1500);
    await fleet.minion('rekeyed').stop();
  });

  it('of a protocol older than allowed: its generation is named', async () => {
    const socket = new Request({ linger: 0, receiveTimeout: 5000 });
    socket.connect(`tcp://127.0.0.1:${fleet.ports.requests}`);
    await socket.send(pack({ enc: 'clear', load: { cmd: '_auth', id: 'ancient', pub: 'none' } }));
    await socket.receive();
    socket.close();
    const { code, text } = await reasonFor('ancient');
    expect([code, text]).toEqual(['too-old', expect.stringContaining('speaks protocol 0')]);
  });
});

describe('two minions with one id', () => {
  it('are both named, before a job and when they are silent', async () => {
    override('second', 'id: copied');
    cpSync(fleet.path('copied/pki'), fleet.path('second/pki'), { recursive: true });
    const second = fleet.startMinion('second');
    const preview = async (): Promise<string> => (await fleet.salt('copied', '--preview-target', '--explain')).stderr;
    await eventually('both to be connected', async () => (await preview()).includes('1 duplicate'));
    const first = fleet.minion('copied');
    expect(await preview()).toMatch(/copied: 127\.0\.0\.1 pid \d+ since .* UTC and 127\.0\.0\.1 pid \d+ since /);
    expect((await ask('copied')).answers['copied']).toBe(true);
    for (const daemon of [first, second]) signalAll(daemon.pid, 'SIGSTOP');
    const { code, text } = await reasonFor('copied', '-t', '1');
    expect(code).toBe('duplicate-id');
    expect(text).toMatch(/pid \d+ since .* and .*pid \d+/);
    for (const daemon of [first, second]) signalAll(daemon.pid, 'SIGCONT');
    await second.stop();
  });
});

describe('a job', () => {
  it('of sixty seconds: Ctrl-C says how to find it, and who still runs it since when with which output', async () => {
    const command = startProgram(join(halite.bin, 'salt'), [
      ...['-c', fleet.masterConfigDir, 'worker', 'cmd.run', 'echo unpacking; sleep 60'],
    ]);
    await eventually('its output', async () => (await explain(await lastJob('worker'))).includes('unpacking'));
    process.kill(command.pid, 'SIGINT');
    const { stderr, code } = await command.done;
    expect(code).toBe(130);
    expect(stderr).toContain("Exiting gracefully on Ctrl-c\nThis job's jid is: 20");
    expect(stderr).toContain('No result yet from worker (unpacking).');
    const jid = jidIn(stderr);
    expect(stderr).toContain(`salt-run jobs.lookup_jid ${jid}`);
    expect(await explain(jid)).toMatch(
      /worker: running, it still runs the job \(since .* UTC, last output: unpacking\)/,
    );
    await fleet.salt('worker', 'saltutil.kill_job', jid);
    await eventually('its end', async () => (await explain(jid)).includes('worker: failed'));
  });

  it('whose result is lost once in transit still arrives, and once', async () => {
    // A ping is over before anything is reported about it: the only message is the result.
    proxy.loseNext();
    const { stdout, code } = await fleet.salt('lossy', 'test.ping', '-t', '1', '-v');
    expect(proxy.lost).toBe(1);
    expect(stdout).toContain('lossy:\n    True');
    expect(code).toBe(0);
    const rows = await fleet.run('salt-run', [
      'jobs.query',
      `SELECT count(*) AS n FROM ret WHERE jid = '${jidIn(stdout)}'`,
      '--out=json',
    ]);
    expect(JSON.parse(rows.stdout)).toEqual([{ n: 1 }]);
  });

  it('for a minion whose clock is ten minutes slow: the clock is the reason', async () => {
    await fleet.minion('victim').stop();
    fleet.startMinion('victim', withClock(fleet.root, -600));
    await until('victim', 'clock-skew');
    const { text, evidence } = await reasonFor('victim', '-t', '1');
    expect(text).toMatch(/(59\d|60\d) s behind the master/);
    expect(evidence['last_refused_request']).toContain('request_server_ttl');
  });
});

// The last tests, because the heartbeat becomes overdue while the others run.
describe.skipIf(!network)('a minion behind a network that was interrupted', () => {
  it('is lost when its heartbeat is overdue, and reconnected automatically', async () => {
    await until('far', 'connection-lost');
    expect((await reasonFor('far', '-t', '60')).ms).toBeLessThan(1500);
    far?.heal();
    await fleet.answering('far');
  });
});
