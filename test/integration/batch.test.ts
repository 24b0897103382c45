// Batches: run by the master, counted exactly once, and independent of the command that started them.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, halite, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
const ids = ['n1', 'n2', 'n3', 'n4', 'n5'];
const runner = async (...args: string[]): Promise<string> => (await fleet.run('salt-run', args)).stdout;
const lines = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
const lastJob = async (): Promise<string> =>
  Object.keys(JSON.parse(await runner('jobs.last_run', '--out=json')) as object)[0] ?? '';

beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  for (const id of [...ids, 'dead']) fleet.startMinion(id);
  await fleet.answering(...ids, 'dead');
  await fleet.minion('dead').stop();
  await eventually('the master to notice', async () =>
    (await fleet.salt('dead', 'test.ping')).stdout.includes('[Not connected]'),
  );
});
afterAll(async () => {
  await fleet?.destroy();
});

/** Each line is one minion: the largest number of them at the same time. */
const noteRun = (file: string, seconds: number): string =>
  `echo start $$ >> ${file}; sleep ${seconds}; echo end $$ >> ${file}`;
function mostAtOnce(file: string): number {
  let now = 0;
  let most = 0;
  for (const line of lines(file)) {
    now += line.startsWith('start') ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

describe('a batch', () => {
  it('runs the given number at a time, has one job id, and every minion once', async () => {
    const file = fleet.path('two');
    const { stdout, code } = await fleet.salt('-b', '2', '*', 'cmd.run', noteRun(file, 0.3));
    expect(mostAtOnce(file)).toBe(2);
    expect(stdout).toContain('Minion dead did not respond. No job will be sent.');
    for (const id of ids) expect(stdout.split(`\n${id}:\n`)).toHaveLength(2);
    expect(stdout.match(/^dead|Minion dead/gm)).toHaveLength(1);
    expect(code).toBe(1);
    const record = JSON.parse(await runner('jobs.list_job', await lastJob(), '--out=json')) as Record<string, object>;
    expect(Object.keys(record['Result'] ?? {}).sort()).toEqual(ids);
    expect(Object.keys(record['Missing'] ?? {})).toEqual(['dead']);
    expect(record['Minions']).toHaveLength(6);
  });

  it('accepts a share of the connected minions, and a pause between them', async () => {
    const file = fleet.path('share');
    const before = Date.now();
    await fleet.salt('-b', '50%', '--batch-wait', '1', '-L', ids.join(','), 'cmd.run', noteRun(file, 0));
    // Two at a time, five minions: two pauses.
    expect(Date.now() - before).toBeGreaterThan(2000);
    expect(mostAtOnce(file)).toBeLessThanOrEqual(2);
    expect(lines(file)).toHaveLength(10);
  });

  it('starts automatically from --batch-safe-limit on', async () => {
    const { stdout } = await fleet.salt('--batch-safe-limit', '3', '--batch-safe-size', '1', 'n*', 'test.ping');
    expect(stdout).toContain('Too many minions targeted, switching to batch execution');
    expect(stdout.match(/Executing run on/g)).toHaveLength(5);
  });

  it('stops at the first failure with --failhard, and reports which minions did not get the job', async () => {
    const { stdout, code } = await fleet.salt('-b', '1', '--failhard', 'n*', 'cmd.run', 'exit 3');
    expect(stdout.match(/Executing run on/g)).toHaveLength(1);
    expect(stdout.match(/the batch was stopped after a failure/g)).toHaveLength(4);
    expect(code).toBe(3);
  });

  it('continues when the command is killed, and ends with a verdict for each minion', async () => {
    const file = fleet.path('orphan');
    const args = ['-c', fleet.masterConfigDir, '-b', '1', 'n*', 'cmd.run', noteRun(file, 0.3)];
    const command = startProgram(join(halite.bin, 'salt'), args);
    await eventually('the first to run', () => lines(file).length > 0);
    process.kill(command.pid, 'SIGKILL');
    await command.done;
    expect(lines(file).filter((line) => line.startsWith('end')).length).toBeLessThan(ids.length);
    await eventually('all to have run', () => lines(file).filter((line) => line.startsWith('end')).length === 5);
    expect(mostAtOnce(file)).toBe(1);
    const jid = await lastJob();
    const returned = async (): Promise<string[]> =>
      Object.keys(JSON.parse(await runner('jobs.lookup_jid', jid, '--out=json')) as object).sort();
    await eventually('all results', async () => (await returned()).length === ids.length);
    expect(await returned()).toEqual(ids);
  });

  it('reports on Ctrl-C that it continues, and can be stopped by its job id', async () => {
    const file = fleet.path('stopped');
    const args = ['-c', fleet.masterConfigDir, '-b', '1', 'n*', 'cmd.run', noteRun(file, 3)];
    const command = startProgram(join(halite.bin, 'salt'), args);
    await eventually('the first to run', () => lines(file).length > 0);
    process.kill(command.pid, 'SIGINT');
    const { stderr } = await command.done;
    const jid = await lastJob();
    expect(stderr).toContain(`To stop it: salt-run jobs.cancel ${jid}`);
    const cancelled = JSON.parse(await runner('jobs.cancel', jid, '--out=json')) as string[];
    expect(cancelled.length).toBeGreaterThanOrEqual(3);
    const record = async (): Promise<Record<string, object>> =>
      JSON.parse(await runner('jobs.list_job', jid, '--out=json')) as Record<string, object>;
    await eventually('its end', async () => {
      const { Result = {}, Missing = {} } = await record();
      return Object.keys(Result).length + Object.keys(Missing).length === ids.length;
    });
    expect(lines(file).filter((line) => line.startsWith('start')).length).toBe(ids.length - cancelled.length);
    expect((await record())['Missing']).toMatchObject({ [cancelled[0] ?? '']: { code: 'cancelled' } });
  });
});
