// A master that ends while a command waits for a job: the command goes on when it is back, and says what to do when not.
import { existsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/sqlite/driver.ts';
import { Deployment, startProgram } from '../support/deployment.ts';
import { EventListener } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { LocalCaller } from '../support/local-caller.ts';

const config = 'publisher_acl: {nobody: [test.echo]}';
let fleet: Deployment;
/** Its master does not come back. */
let lost: Deployment;
let losing: ReturnType<typeof loseMaster>;
beforeAll(async () => {
  [fleet, lost] = [await Deployment.create({ masterConfig: config }), await Deployment.create()];
  await Promise.all([fleet.startMaster(), lost.startMaster()]);
  for (const id of ['m1', 'm2', 'm3']) fleet.startMinion(id);
  for (const id of ['m1', 'm2']) lost.startMinion(id);
  await fleet.answering('m1', 'm2', 'm3');
  await lost.answering('m1', 'm2');
  losing = loseMaster();
  losing.catch(() => undefined);
});
afterAll(async () => {
  await fleet?.destroy();
  await lost?.destroy();
});

/** A job that ends on each minion when the test says so, or has removed its folder. */
const waits = (where: Deployment, name: string): string[] => [
  'cmd.run',
  `touch ${where.path(`started-${name}`)}; while test -e ${where.root} && ! test -e ${where.path(`${name}-{{ grains.id }}`)}; do sleep 0.1; done; echo done`,
  'template=jinja',
  'python_shell=True',
];
const release = (where: Deployment, name: string, id: string): void => writeFileSync(where.path(`${name}-${id}`), '');
function start(where: Deployment, command: string, args: readonly string[]) {
  const file = `${import.meta.dirname}/../../bin/${command}`;
  return startProgram(file, ['-c', where.masterConfigDir, ...args], { timeoutMs: 120_000 });
}
async function newestJob(where: Deployment): Promise<string> {
  const { stdout } = await where.run('salt-run', ['jobs.list_jobs', 'search_function=cmd.run', '--out=json']);
  return (
    Object.keys(JSON.parse(stdout) as object)
      .sort()
      .at(-1) ?? ''
  );
}
async function hasResult(where: Deployment, id: string): Promise<boolean> {
  const jid = await newestJob(where);
  if (jid === '') return false;
  const { stdout } = await where.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']);
  return id in (JSON.parse(stdout) as object);
}
const begun = (where: Deployment, name: string): Promise<void> =>
  eventually(`the job ${name}`, () => existsSync(where.path(`started-${name}`)));
/** Takes half a minute, in which the other tests run. */
async function loseMaster() {
  release(lost, 'one', 'm1');
  const command = start(lost, 'salt', ['*', ...waits(lost, 'one'), '--static', '--out=json']);
  await eventually('the first result', () => hasResult(lost, 'm1'));
  const runner = start(lost, 'salt-run', ['test.sleep', '100']);
  const runs = async (): Promise<boolean> =>
    (await lost.run('salt-run', ['jobs.master', '--out=json'])).stdout.includes('test.sleep');
  await eventually('the runner', runs);
  const jid = await newestJob(lost);
  await lost.master.stop('SIGKILL');
  return { jid, ran: await runner.done, waited: await command.done };
}
const times = (text: string, part: string): number => text.split(part).length - 1;

describe('a master that comes back', () => {
  it('gives the waiting command the rest of its job, and nothing twice', async () => {
    release(fleet, 'one', 'm1');
    const command = start(fleet, 'salt', ['*', ...waits(fleet, 'one'), '-v', '-t', '60']);
    await eventually('the first result', () => hasResult(fleet, 'm1'));
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
    release(fleet, 'one', 'm2');
    await eventually('the second result', () => hasResult(fleet, 'm2'));
    release(fleet, 'one', 'm3');
    const { stdout, stderr, code } = await command.done;
    for (const id of ['m1', 'm2', 'm3']) expect(times(stdout, `${id}:\n    done`)).toBe(1);
    expect(times(stdout, 'Executing job with jid')).toBe(1);
    expect(stderr).toMatch(
      /^The connection to the master was lost\. The job \d{20} goes on; waiting for the master…$/m,
    );
    expect(code).toBe(0);
  });

  it('twice is no different', async () => {
    const command = start(fleet, 'salt', ['-L', 'm1,m2', ...waits(fleet, 'two'), '--static', '--out=json', '-t', '60']);
    await begun(fleet, 'two');
    for (let i = 0; i < 2; i++) {
      await fleet.master.stop('SIGKILL');
      await fleet.startMaster();
    }
    for (const id of ['m1', 'm2']) release(fleet, 'two', id);
    const { stdout, code } = await command.done;
    expect(JSON.parse(stdout)).toEqual({ m1: 'done', m2: 'done' });
    expect(code).toBe(0);
  });

  it('has no more of a batch, which is said with the minions that did not get it', async () => {
    const command = start(fleet, 'salt', ['*', ...waits(fleet, 'three'), '-b', '1', '-t', '2']);
    await begun(fleet, 'three');
    await fleet.master.stop('SIGKILL');
    for (const id of ['m1', 'm2', 'm3']) release(fleet, 'three', id);
    await fleet.startMaster();
    const { stdout, stderr, code } = await command.done;
    expect(stderr).toMatch(
      /The batch ended with the master: the job was not sent to m\d, m\d\.\nSend it .* salt -L m\d,m\d$/m,
    );
    expect(times(stdout, '    done')).toBe(1);
    expect(code).toBe(1);
  });

  it.each([
    { kind: 'a command that waits', more: [] },
    { kind: 'one that does not', more: ['--async'] },
  ])('says which job it was sending when it did not come to say that it is sent: $kind', async ({ more }) => {
    const events = await EventListener.start(fleet);
    // The answer to the command comes when the job is stored, which has to wait here.
    const store = await openDatabase(fleet.path('cache/master/halite.db'));
    store.exec('BEGIN IMMEDIATE');
    try {
      const command = start(fleet, 'salt', ['m1', 'test.sleep', '20', ...more]);
      const sent = (): string[] =>
        events.tags().filter((tag) => tag.endsWith('/new') && events.seen(tag)[0]?.['fun'] === 'test.sleep');
      await eventually('the job to be sent', () => sent().length === 1);
      await fleet.master.stop('SIGKILL');
      store.exec('ROLLBACK');
      await fleet.startMaster();
      const { stdout, stderr, code } = await command.done;
      const jid = /^.* It did not say whether the job (\d{20}) was sent\.$/m.exec(stderr)?.[1];
      expect([`salt/job/${jid}/new`]).toEqual(sent());
      expect(stderr).toContain(`\nWhen it runs again, on this machine: salt-run jobs.lookup_jid ${jid}`);
      expect([stdout, code]).toEqual(['', 69]);
      if (more.length === 0)
        expect(stderr).toContain(`The connection to the master was lost while it sent the job ${jid}; waiting`);
      await fleet.answering('m1', 'm2', 'm3');
    } finally {
      store.close();
      events.stop();
    }
  });

  it('tells nobody else of a job', async () => {
    const jid = await newestJob(fleet);
    const nobody = await LocalCaller.connect(fleet, 'nobody');
    const root = await LocalCaller.connect(fleet, 'root');
    try {
      const refused = { items: [], error: 'The master knows no such job of this user.' };
      for (const odd of [jid, '20200101000000000000', '../x', 7, null]) {
        expect(await nobody.call('attach', { jid: odd })).toEqual(refused);
        if (odd !== jid) expect(await root.call('attach', { jid: odd })).toEqual(refused);
      }
      const { items } = await root.call('attach', { jid });
      expect(items.map(({ type }) => type)).toEqual([
        'job',
        ...Array.from({ length: 3 }, () => expect.stringMatching(/return|missing/)),
        'end',
      ]);
    } finally {
      nobody.close();
      root.close();
    }
  });
});

describe('a master that does not come back', () => {
  it('leaves the operator with the jid, the open minions and what to do; and so do runners', async () => {
    const { jid, ran, waited } = await losing;
    expect(ran.stderr).toMatch(
      /^ERROR: The master ended, and the runner test\.sleep \(\d{20}\) with it\nJobs that it started go on/m,
    );
    expect(ran.code).toBe(69);
    const { stdout, stderr, code } = waited;
    // What it had is shown.
    expect(JSON.parse(stdout)).toEqual({ m1: 'done' });
    expect(stderr).toContain('The master did not come back within 30 s.');
    expect(stderr).toMatch(/^No result yet from m2( \(.*\))?\.$/m);
    expect(stderr).toContain(`salt-run jobs.lookup_jid ${jid}`);
    expect(stderr).not.toContain('closed the connection');
    expect(code).toBe(69);
  });
});
