// The scheduler with real daemons: runs appear in the history, survive a restart, and happen once with two masters.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
let second: Deployment;
const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
type Job = Record<string, unknown>;

async function history(of: Deployment, fun: string): Promise<Record<string, Job>> {
  const { stdout } = await of.run('salt-run', ['jobs.list_jobs', `search_function=${fun}`, '--out=json']);
  return JSON.parse(stdout || '{}') as Record<string, Job>;
}
const scheduled = async (...args: string[]): Promise<Job> => (await fleet.json('m1', ...args))['m1'] as Job;

beforeAll(async () => {
  fleet = await Deployment.create({
    masterConfig: [
      'schedule:',
      '  hourly:',
      '    function: test.arg',
      '    args: [tick]',
      '    hours: 1',
      '    run_on_start: True',
    ].join('\n'),
  });
  second = await Deployment.create();
  writeFileSync(fleet.path('srv/pillar/top.sls'), 'base:\n  m1: [clock]\n');
  writeFileSync(
    fleet.path('srv/pillar/clock.sls'),
    'schedule:\n  from_pillar:\n    function: test.echo\n    args: [pillar]\n    seconds: 2\n    metadata: {why: pillar}\nmine_functions:\n  test.ping: []\n',
  );
  writeFileSync(fleet.path('srv/salt/hello.sls'), 'hello: {test.nop: []}\n');
  await fleet.startMaster();
  // Masters of one minion have one key.
  cpSync(fleet.path('etc/pki/master'), second.path('etc/pki/master'), { recursive: true });
  await second.startMaster();
  const masters = [fleet, second].map(({ ports }) => `127.0.0.1:${ports.requests}`);
  const twice = `  twice: {function: cmd.run, args: ["echo x >> ${fleet.path('twice')}"], hours: 1, run_on_start: True}`;
  mkdirSync(fleet.path('m1/etc/minion.d'), { recursive: true });
  writeFileSync(
    fleet.path('m1/etc/minion.d/more.conf'),
    `startup_states: sls\nsls_list: [hello]\nmaster: [${masters.map((address) => `"${address}"`).join(', ')}]\nschedule:\n${twice}\n`,
  );
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(async () => {
  await Promise.all([fleet?.destroy(), second?.destroy()]);
});

describe('the schedule of a minion', () => {
  it('runs jobs of the pillar and shows each run as a job', async () => {
    await eventually('two runs', async () => Object.keys(await history(fleet, 'test.echo')).length >= 2);
    const [job] = Object.values(await history(fleet, 'test.echo'));
    expect(job).toMatchObject({ Function: 'test.echo', Target: 'm1', Arguments: ['pillar'] });
    const [jid] = Object.keys(await history(fleet, 'test.echo'));
    const { stdout } = await fleet.run('salt-run', ['jobs.lookup_jid', String(jid), '--out=json']);
    expect(JSON.parse(stdout)).toEqual({ m1: 'pillar' });
  });

  it('runs once although there are two masters, and both get the result', async () => {
    await eventually('the run at the start', () => linesOf(fleet.path('twice')).length > 0);
    await eventually('the second master', async () => (await second.json('m1', 'test.ping'))['m1'] === true);
    await scheduled('schedule.run_job', 'twice');
    const jids = async (of: Deployment): Promise<string[]> => Object.keys(await history(of, 'cmd.run'));
    await eventually('both masters to know', async () => {
      const [first, other] = [await jids(fleet), await jids(second)];
      return first.length > 0 && other.some((jid) => jid === first.at(-1));
    });
    expect(linesOf(fleet.path('twice'))).toEqual(['x', 'x']);
  });

  it('applies startup_states', async () => {
    // The master that was there first knows.
    await eventually('the run at the start', async () => {
      const jobs = [await history(fleet, 'state.sls'), await history(second, 'state.sls')].flatMap(Object.keys);
      return jobs.length > 0;
    });
  });

  it('updates the mine periodically', async () => {
    await eventually('the mine', async () => {
      const { stdout } = await fleet.run('salt-run', ['mine.get', 'm1', 'test.ping', '--out=json']);
      return stdout.includes('"m1": true');
    });
    expect(Object.keys(await history(fleet, 'mine.update'))).toEqual([]);
  });

  it('is changed by functions and keeps changes in its file', async () => {
    const file = fleet.path('added');
    const hold = `${file}.hold`;
    const args = JSON.stringify([`echo $$ >> ${file}; sleep 1; while [ -e ${hold} ]; do sleep 0.1; done`]);
    const added = await scheduled('schedule.add', 'extra', 'function=cmd.run', `job_args=${args}`, 'seconds=1');
    expect(added).toEqual({ comment: 'Added job: extra to schedule.', result: true, changes: { extra: 'added' } });
    await eventually('it to run', () => linesOf(file).length >= 2);
    const listed = await scheduled('schedule.list', 'return_yaml=False');
    expect(Object.keys(listed)).toEqual(['from_pillar', 'twice', 'extra']);
    expect(listed['extra']).toMatchObject({ function: 'cmd.run', seconds: 1, enabled: true, maxrunning: 1 });
    expect(await scheduled('schedule.show_next_fire_time', 'extra')).toMatchObject({
      result: true,
      next_fire_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/),
    });
    expect(await scheduled('schedule.job_status', 'extra')).toMatchObject({ name: 'extra', _seconds: 1 });
    expect(await scheduled('schedule.disable_job', 'extra')).toMatchObject({ changes: { extra: 'disabled' } });
    expect(readFileSync(fleet.path('m1/etc/minion.d/_schedule.conf'), 'utf8')).toContain('extra');
    await eventually('the last run to end', async () => (await running()).length === 0);
    const count = linesOf(file).length;
    expect(await scheduled('schedule.run_job', 'extra')).toMatchObject({ comment: 'Job extra is disabled.' });
    // It runs until it has been seen.
    writeFileSync(hold, '');
    await scheduled('schedule.run_job', 'extra', 'force=True');
    await eventually('the forced run', () => linesOf(file).length === count + 1);
    expect((await running())[0]).toMatchObject({ fun: 'cmd.run', schedule: 'extra' });
    rmSync(hold);
  });

  it('applies changes of salt-call', async () => {
    const call = ['-c', fleet.path('m1/etc'), '--local', '--out=json'];
    const done = await runProgram(join(halite.bin, 'salt-call'), [
      ...call,
      'schedule.add',
      'called',
      'function=test.ping',
      'hours=9',
    ]);
    expect(done.stdout).toContain('Added job: called to schedule.');
    await eventually(
      'the daemon to see it',
      async () => 'called' in (await scheduled('schedule.list', 'return_yaml=False')),
    );
    expect(await scheduled('schedule.delete', 'called')).toMatchObject({
      result: true,
      changes: { called: 'removed' },
    });
  });

  it('is the same after a restart', async () => {
    await fleet.minion('m1').stop();
    fleet.startMinion('m1');
    await fleet.answering('m1');
    const listed = await scheduled('schedule.list', 'return_yaml=False');
    expect(listed['extra']).toMatchObject({ enabled: false, seconds: 1 });
    expect(listed['called']).toBeUndefined();
    expect(await scheduled('schedule.disable')).toMatchObject({ comment: 'Disabled schedule on minion.' });
    expect((await fleet.json('m1', 'schedule.is_enabled'))['m1']).toBe(false);
  });
});

async function running(): Promise<Job[]> {
  const jobs = (await fleet.json('m1', 'saltutil.running'))['m1'] as Job[];
  return jobs.filter((job) => job['schedule'] === 'extra');
}

describe('the schedule of a minion without a master', () => {
  it('runs', async () => {
    const [srv, file] = [fleet.path('alone-srv'), fleet.path('alone-ran')];
    mkdirSync(srv);
    writeFileSync(join(srv, 'touch.sls'), `${file}:\n  file.managed:\n    - contents: {{ pillar.word }}\n`);
    writeFileSync(join(srv, 'top.sls'), 'base: {"*": [data]}\n');
    writeFileSync(join(srv, 'data.sls'), 'word: mine\n');
    const roots = `file_roots: {base: [${srv}]}\npillar_roots: {base: [${srv}]}`;
    const jobs = 'schedule: {go: {function: state.sls, args: [touch], seconds: 60, run_on_start: True}}';
    fleet.startMinion('alone', halite, `master_type: disable\nfile_client: local\n${roots}\n${jobs}`);
    await eventually('the file', () => linesOf(file).length > 0, { describe: () => fleet.minion('alone').output() });
    expect(linesOf(file)).toEqual(['mine']);
  });
});

describe('the schedule of a master', () => {
  it('runs runners and keeps their results', async () => {
    await eventually('a run', async () => Object.keys(await history(fleet, 'runner.test.arg')).length === 1);
    const [jid] = Object.keys(await history(fleet, 'runner.test.arg'));
    const { stdout } = await fleet.run('salt-run', ['jobs.lookup_jid', String(jid), '--out=json']);
    expect(stdout).toContain('tick');
  });
});
