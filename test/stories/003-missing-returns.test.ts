// Story 003: “Then you ask yourself what the heck happened.” Each line of its checklist has a command that answers it,
// and each of its four takeaways is ended, for Halite minions and for real Salt minions.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { signalAll } from '../support/faults.ts';
import { startStopwatch } from '../support/pace.ts';
import { freePorts } from '../support/ports.ts';
import { saltRelease } from '../support/salt-release.ts';

/** `web` is a Halite minion, `db` a real one; the others have the troubles of the checklist. */
const trouble = ['stopped', 'blocked', 'newcomer'];
let fleet: Deployment;

const runner = async (...args: string[]): Promise<string> => (await fleet.run('salt-run', args)).stdout;
const explained = async (id: string): Promise<Record<string, unknown>> =>
  JSON.parse(await runner('manage.explain', id, '--out=json')) as Record<string, unknown>;
const keys = (...args: string[]): Promise<{ stdout: string }> => fleet.run('salt-key', ['-y', ...args]);
const lines = (file: string): number =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).length : 0;
const jidIn = (text: string): string => /\b(20\d{18})\b/.exec(text)?.[1] ?? '';
const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const watch = await startStopwatch();
  await work();
  return (await watch.ms()) / 1000;
};

beforeAll(async () => {
  fleet = await Deployment.create({ autoAccept: false });
  await fleet.startMaster();
  fleet.startMinion('web');
  fleet.startMinion('db', saltRelease('3006.27'));
  const [closed] = await freePorts(1);
  fleet.configureMinion('blocked');
  mkdirSync(fleet.path('blocked/etc/minion.d'));
  // As behind a firewall: the request port is reachable, the port of the jobs is not.
  writeFileSync(fleet.path('blocked/etc/minion.d/port.conf'), `publish_port: ${closed}\n`);
  for (const id of trouble) fleet.startMinion(id);
  const arrived = (id: string): boolean => existsSync(fleet.path('etc/pki/master/minions_pre', id));
  await eventually('all key requests', () => ['web', 'db', ...trouble].every(arrived));
  for (const id of ['web', 'db', 'stopped', 'blocked']) await keys('-a', id);
  await fleet.answering('web', 'db', 'stopped');
  await fleet.minion('stopped').stop();
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('Basic Check List', () => {
  it('1. “Is your Minion and Master running the same software version?”', async () => {
    const versions = JSON.parse(await runner('manage.versions', '--out=json')) as Record<string, object>;
    expect(versions).toHaveProperty('Master');
    const known = Object.assign({}, ...Object.values(versions).filter((group) => typeof group === 'object')) as object;
    expect(Object.keys(known)).toEqual(expect.arrayContaining(['web', 'db', 'stopped', 'blocked']));
    expect(await explained('db')).toMatchObject({ version: '3006.27', protocol: 'Salt, generation P3' });
  });

  it('2. “Is your salt-Minion service running?”', async () => {
    await eventually('the master to notice', async () => (await explained('stopped'))['connected'] === 'no');
    expect(await explained('stopped')).toMatchObject({
      reason: 'connection-lost',
      would_be_missing_because: expect.stringMatching(/^its connection to the master was lost \(at .* UTC\)$/),
    });
    expect(await explained('web')).toMatchObject({ connected: 'yes' });
  });

  it('3. “Has the Minions key been accepted by the Master?” and “you don’t even see a key request”', async () => {
    expect((await keys('-l', 'un')).stdout).toContain('newcomer');
    const { stdout } = await fleet.salt('-L', 'newcomer,nobody', 'test.ping', '--explain');
    expect(stdout).toMatch(
      /newcomer:\n {4}Minion did not return\. \[Not connected\]\n {4}Its key waits for acceptance \(accept it with: salt-key -a newcomer\)\n {6}fingerprint: /,
    );
    expect(stdout).toMatch(/nobody:\n {4}Minion did not return\. \[Not connected\]\n {4}No key of this id is known/);
  });

  it('4. “an unobstructed network path back to TCP port 4505 on the Master”', async () => {
    const { stdout } = await fleet.salt('blocked', 'test.ping', '-t', '1');
    expect(stdout).toContain('It reaches the request port of the master but not the publish port');
    expect(stdout).toContain(`check the way from the minion to port ${fleet.ports.publish}`);
  });

  it('5. “Check your Minions log file for key issues or any other issues”: the master knows them, too', async () => {
    await keys('-r', 'newcomer');
    await eventually('the minion to hear of it', async () =>
      String((await explained('newcomer'))['last_sign_in']).includes('reject'),
    );
    const { timeline } = (await explained('newcomer')) as { timeline: string[] };
    expect(timeline.at(-1)).toMatch(/UTC {2}sign-in: reject, the key of this id is rejected$/);
    const { web } = await fleet.json('web', 'cmd.run', `grep "signed in" ${fleet.path('web/log')}`);
    expect(web).toContain('signed in');
  });
});

describe('Basic Communication', () => {
  it('salt \\* cmd.run "echo HI": the command ends when the last answer is there, and says who is missing and why', async () => {
    const { stdout } = await fleet.salt('-v', '-E', 'web|db|stopped', 'cmd.run', 'echo HI', '-t', '60');
    for (const id of ['web', 'db']) expect(stdout).toContain(`${id}:\n    HI`);
    expect(stdout.match(/^stopped:$/gm)).toHaveLength(1);
    expect(stdout).toContain('Minion did not return. [Not connected]\n    Its connection to the master was lost');
    const told = await runner('jobs.explain', jidIn(stdout));
    expect(told).toMatch(/published, cmd\.run by root for web\|db\|stopped \(3 minions\)/);
    for (const id of ['web', 'db']) expect(told).toMatch(new RegExp(`${id}: returned, exit code 0`));
    expect(told).toMatch(/stopped: missing, its connection to the master was lost/);
  });

  it('“the same Minion that just failed a job finishes it with no problem”: what happened meanwhile is on record', async () => {
    signalAll(fleet.minion('web').pid, 'SIGSTOP');
    const { stdout } = await fleet.salt('-v', 'web', 'test.ping', '-t', '1');
    signalAll(fleet.minion('web').pid, 'SIGCONT');
    expect(stdout).toMatch(
      /Minion did not return\. \[No response\]\n {4}Its key is accepted, but it does not answer \(since /,
    );
    expect(await fleet.json('web', 'test.ping')).toEqual({ web: true });
    await eventually('the late result', async () =>
      /web: missing, .*its result came later/.test(await runner('jobs.explain', jidIn(stdout))),
    );
  });

  it('a real minion that dies at work: it took the job, and when it fell silent', async () => {
    const busy = fleet.salt('-v', 'db', 'cmd.run', 'sleep 33', '-t', '1');
    await eventually('the minion to say that it works', async () => {
      const jid = Object.keys(JSON.parse(await runner('jobs.last_run', '--out=json')) as object)[0] ?? '';
      return (await runner('jobs.explain', jid)).includes('db: still running');
    });
    await fleet.minion('db').stop('SIGKILL');
    expect((await busy).stdout).toMatch(/It took the job and then fell silent \(since .* UTC\)/);
    fleet.startMinion('db', saltRelease('3006.27'));
    await fleet.answering('db');
  });

  it('the polling behind it does not fill the history', async () => {
    expect(await runner('jobs.list_jobs')).not.toContain('saltutil.find_job');
    expect(await runner('jobs.list_jobs', 'internal=True')).toContain('saltutil.find_job');
  });
});

describe('Takeaways From This Info', () => {
  it('1. “There is no defined period on how long a job will take.” --deadline defines it, on both kinds', async () => {
    const took = await seconds(async () => {
      const { stdout, code } = await fleet.salt('-v', '-L', 'web,db', 'cmd.run', 'sleep 77', '--deadline', '2s');
      expect(stdout).toContain('web:\n    ERROR: The deadline of 2 s passed: its processes were killed');
      expect(stdout).toContain(
        'db:\n    Minion did not return. [No response]\n    The deadline of the job passed (2 s)',
      );
      expect(code).toBe(1);
      const sql = `SELECT id, verdict FROM verdict WHERE jid = '${jidIn(stdout)}' ORDER BY id`;
      expect(JSON.parse(await runner('jobs.query', sql, '--out=json'))).toEqual([
        { id: 'db', verdict: 'deadline' },
        { id: 'web', verdict: 'deadline' },
      ]);
    });
    expect(took).toBeLessThan(5);
    // kill_job reached the real minion.
    await eventually('the process to be gone', async () => (await sleepers()) === 0);
  });

  it('2. “It is not queued by the Master, and sent at a later time.” --durable does', async () => {
    const file = fleet.path('queued');
    await fleet.minion('db').stop('SIGKILL');
    const { stdout } = await fleet.salt(
      '-v',
      '-L',
      'stopped,db',
      'cmd.run',
      `echo ran >> ${file}`,
      '--durable=1h',
      '-t',
      '1',
    );
    expect(stdout.match(/The job waits for this minion until/g)).toHaveLength(2);
    fleet.startMinion('stopped');
    fleet.startMinion('db', saltRelease('3006.27'));
    const results = async (): Promise<string> => runner('jobs.lookup_jid', jidIn(stdout), '--out=json');
    await eventually('both results', async () => Object.keys(JSON.parse(await results()) as object).length === 2);
    expect(lines(file)).toBe(2);
    expect(JSON.parse(await runner('jobs.pending', '--out=json'))).toEqual({});
    await fleet.minion('stopped').stop();
  });

  it('3. “There is no hard timeout to force the Master to stop listening.” The deadline is one, whatever a minion does', async () => {
    signalAll(fleet.minion('db').pid, 'SIGSTOP');
    const took = await seconds(() => fleet.salt('db', 'test.ping', '--deadline', '2s', '-t', '3600'));
    expect(took).toBeLessThan(3.5);
    signalAll(fleet.minion('db').pid, 'SIGCONT');
  });

  it('4. “-t 3600: if even one Minion is not responding the CLI will wait the full 3600 seconds.”', async () => {
    const { stdout } = await fleet.salt('-L', 'stopped,web', 'test.ping', '-t', '3600');
    expect(stdout).toContain('[Not connected]');
    expect(await seconds(() => fleet.salt('-L', 'stopped,web', 'test.ping', '-t', '3600'))).toBeLessThan(1.5);
    // Nothing shows that a real minion has gone: the first question to it stays without an answer, and then it is known.
    await fleet.minion('db').stop('SIGKILL');
    expect(await seconds(() => fleet.salt('-L', 'db,web', 'test.ping', '-t', '3600'))).toBeLessThan(15);
    expect(await seconds(() => fleet.salt('-L', 'db,web', 'test.ping', '-t', '3600'))).toBeLessThan(3);
  });
});

/** Commands of the deadline test that still run, on this machine. */
async function sleepers(): Promise<number> {
  const found = await fleet.json('web', 'cmd.run', 'pgrep -cx -f "sleep 77" || true');
  return Number(found['web']);
}
