// How long a command waits: deadlines, dead minions, required shares, and what the terminal shows meanwhile.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive } from '../../src/engine/exec/process-tree.ts';
import { Deployment, halite, runProgram, startProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { startStopwatch } from '../support/pace.ts';

let fleet: Deployment;
/** A batch in whose middle the master was killed. */
let interrupted = '';
const jidIn = (text: string): string => /\b(20\d{18})\b/.exec(text)?.[1] ?? '';
const runner = async (...args: string[]): Promise<string> => (await fleet.run('salt-run', args)).stdout;
const sum = (values: object): number => Object.values(values as Record<string, number>).reduce((a, b) => a + b, 0);

beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  for (const id of ['w1', 'w2', 'w3', 'dead']) fleet.startMinion(id);
  await fleet.answering('w1', 'w2', 'w3', 'dead');
  await fleet.minion('dead').stop();
  await eventually('the master to notice', async () =>
    (await fleet.salt('dead', 'test.ping')).stdout.includes('[Not connected]'),
  );
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('--deadline', () => {
  it('kills the whole process tree on the minion and is a separate verdict', async () => {
    const file = fleet.path('pids');
    const command = `echo unpacking; sleep 300 & echo $! > ${file}; sleep 300`;
    const watch = await startStopwatch();
    const { stdout, code } = await fleet.salt('w1', 'cmd.run', command, '--deadline', '1s', '-v', '--summary');
    expect(await watch.ms()).toBeLessThan(4000);
    expect(stdout).toContain('ERROR: The deadline of 1 s passed: its processes were killed');
    expect(stdout).toContain('Last output: unpacking');
    expect(stdout).toContain('# of minions ended at the deadline: 1');
    expect(code).toBe(1);
    const { stdout: pids } = await fleet.salt('w1', 'cmd.run', `cat ${file}`, '--out=newline_values_only');
    expect(isAlive(Number(pids.trim()))).toBe(false);
    const jid = jidIn(stdout);
    const rows = await runner('jobs.query', `SELECT verdict, reason FROM verdict WHERE jid = '${jid}'`, '--out=json');
    expect(JSON.parse(rows)).toEqual([{ verdict: 'deadline', reason: 'deadline' }]);
    const record = JSON.parse(await runner('jobs.list_job', jid, '--out=json')) as { Result: object };
    expect(record.Result).toMatchObject({ w1: { retcode: 124, success: false } });
  });

  it('applies when the minion daemon is restarted in between', async () => {
    const { stdout } = await fleet.salt('w3', 'cmd.run', 'sleep 300', '--deadline', '4s', '--async');
    const jid = jidIn(stdout);
    await eventually('the job to run', () => existsSync(fleet.path('w3/cache/proc', jid)));
    process.kill(fleet.minion('w3').pid, 'SIGKILL');
    await eventually('the daemon to be gone', () => !fleet.minion('w3').running);
    fleet.startMinion('w3');
    await eventually('the result', async () =>
      (await runner('jobs.lookup_jid', jid)).includes('The deadline of 4 s passed'),
    );
    expect(existsSync(fleet.path('w3/cache/proc', jid))).toBe(false);
    await fleet.answering('w3');
  });

  it('does not touch a job that is done in time', async () => {
    expect(await fleet.json('w1', 'cmd.run', 'echo quick', '--deadline', '5m')).toEqual({ w1: 'quick' });
    const wrong = await fleet.salt('w1', 'test.ping', '--deadline', 'soon');
    expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining("invalid time: 'soon'")]);
  });
});

describe('a long job on Halite minions', () => {
  it('is awaited without asking minions, and ends with the last result', async () => {
    const asked = async (): Promise<number> =>
      (await runner('jobs.list_jobs', 'internal=True')).split('saltutil.find_job').length - 1;
    const before = await asked();
    const watch = await startStopwatch();
    expect(await fleet.json('-L', 'w1,w2', 'cmd.run', 'sleep 4; echo slept', '-t', '1')).toEqual({
      w1: 'slept',
      w2: 'slept',
    });
    expect(await watch.ms()).toBeLessThan(6000);
    expect(await asked()).toBe(before);
  });
});

describe('a dead minion', () => {
  it('does not delay others, independent of -t', async () => {
    const watch = await startStopwatch();
    const { stdout, code } = await fleet.salt('-L', 'dead,w1', 'test.ping', '-t', '3600');
    expect(await watch.ms()).toBeLessThan(1500);
    expect(stdout).toContain('w1:\n    True');
    expect(stdout).toMatch(
      /dead:\n {4}Minion did not return\. \[Not connected\]\n {4}Its connection to the master was lost/,
    );
    expect(code).toBe(1);
  });

  it('is also known after a restart of the master, once all minions had time to reconnect', async () => {
    const batch = startProgram(join(halite.bin, 'salt'), [
      ...['-c', fleet.masterConfigDir, '-b', '1', 'w*', 'cmd.run', 'sleep 300'],
    ]);
    const last = async (): Promise<string> => jidIn(await runner('jobs.last_run', 'target=w*', '--out=json'));
    await eventually('the batch to begin', async () =>
      (await runner('jobs.explain', await last())).includes(': started'),
    );
    interrupted = await last();
    await fleet.master.stop('SIGKILL');
    await batch.done;
    await fleet.startMaster();
    await fleet.answering('w1', 'w2', 'w3');
    await eventually(
      'the master to be sure',
      async () => (await runner('manage.explain', 'dead', '--out=json')).includes('"connected": "no"'),
      { timeoutMs: 120_000 },
    );
    const watch = await startStopwatch();
    const { stdout } = await fleet.salt('-L', 'dead,w1', 'test.ping', '-t', '60');
    expect(await watch.ms()).toBeLessThan(1500);
    expect(stdout).toContain('[Not connected]\n    Has not connected to this master since it started');
  });

  it('does not leave a job without an end: the new master process tracks the jobs of the old one', async () => {
    const record = async (): Promise<{ Result: object; Missing?: Record<string, { code: string }> }> =>
      JSON.parse(await runner('jobs.list_job', interrupted, '--out=json'));
    await fleet.salt('w*', 'saltutil.kill_job', interrupted);
    await eventually('every minion to have its verdict', async () => {
      const { Result, Missing = {} } = await record();
      return Object.keys(Result).length === 1 && Object.keys(Missing).length === 2;
    });
    const { Missing = {} } = await record();
    expect(Object.values(Missing).map(({ code }) => code)).toEqual(['no-record', 'no-record']);
  });

  it('is in JSON with its reason, under its own key, and in the job record', async () => {
    const { stdout } = await fleet.salt('*', 'test.ping', '--static', '--explain', '--out=json');
    const answer = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(answer).sort()).toEqual(['__explain__', 'w1', 'w2', 'w3']);
    expect(answer['__explain__']).toMatchObject({ dead: { code: 'never-connected', evidence: expect.any(Object) } });
    const record = await runner('jobs.last_run', '--out=json');
    expect(Object.values(JSON.parse(record) as object)[0]).toMatchObject({
      Missing: { dead: { code: 'never-connected' } },
    });
  });
});

describe('shares and groups', () => {
  it('--require refuses before anything is sent', async () => {
    const jobs = async (): Promise<number> =>
      Object.keys(JSON.parse(await runner('jobs.list_jobs', '--out=json')) as object).length;
    const before = await jobs();
    const { code, stderr, stdout } = await fleet.salt('*', 'test.ping', '--require', '98%');
    expect([code, stdout]).toEqual([75, '']);
    expect(stderr).toContain('Not sent: --require 98% needs 4 of 4 minions, 3 (75%) are reachable');
    expect(stderr).toContain('4 minions: 3 connected, 1 away (dead: ');
    expect(await jobs()).toBe(before);
    expect((await fleet.salt('*', 'test.ping', '--require', '75%')).code).toBe(0);
    expect((await fleet.salt('*', 'test.ping', '--require', '4')).code).toBe(75);
    expect((await fleet.salt('*', 'test.ping', '--require', 'most')).code).toBe(64);
  });

  it('--group folds equal answers and ends with one line', async () => {
    const { stdout } = await fleet.salt('*', 'grains.get', 'nothing', 'default=same', '--group');
    expect(stdout).toContain('3 minions (w1, w2, w3):\n    same\n');
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^3 minions: same · 1 missing: has not connected/);
  });

  it('--subset runs on that many, connected ones first', async () => {
    for (let at = 0; at < 3; at++) {
      const answer = await fleet.json('*', 'test.ping', '--subset', '2');
      expect(Object.keys(answer)).toHaveLength(2);
      expect(answer).not.toHaveProperty('dead');
    }
  });

  it('--preview-target counts every minion in one class', async () => {
    const { stdout, stderr } = await fleet.salt('-L', 'w1,dead,nobody', '--preview-target', '--explain');
    expect(stdout).toBe('- dead\n- w1\n');
    expect(stderr).toMatch(/^3 minions: 1 connected, 2 away \(dead: .*; nobody: no key of this id is known\)\n$/);
    const json = await fleet.salt('*', '--preview-target', '--explain', '--out=json');
    const classes = JSON.parse(json.stdout) as Record<string, object>;
    const counts = Object.entries(classes).filter(([name]) => name !== 'minions');
    expect(sum(Object.fromEntries(counts.map(([name, ids]) => [name, Object.keys(ids).length])))).toBe(4);
  });
});

describe('on a terminal', () => {
  it('progress is shown by default for more than twenty targets, and not for fewer', async () => {
    const many = Array.from({ length: 25 }, (_, at) => `none${at}`).join(',');
    const onTerminal = (targets: string): Promise<string> => {
      const command = `${join(halite.bin, 'salt')} -c ${fleet.masterConfigDir} -L ${targets} test.ping`;
      return runProgram('script', ['-qec', command, '/dev/null']).then(({ stdout }) => stdout);
    };
    expect(await onTerminal(`w1,${many}`)).toMatch(/\[#* *\] \d+% {2}Returns: \[\d+\/\d+\]/);
    expect(await onTerminal('w1,w2')).not.toContain('Returns: [');
    const piped = await fleet.salt('-L', `w1,${many}`, 'test.ping');
    expect(piped.stderr).not.toContain('Returns: [');
    expect((await fleet.salt('w1', 'test.ping', '--progress')).stderr).toContain('100%  Returns: [1/1]');
  });
});
