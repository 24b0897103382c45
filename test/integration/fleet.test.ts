// A small fleet through the real commands: many at once, slow jobs, dead minions, killed jobs, restarts.
import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
const ids = ['a1', 'a2', 'b1'];

beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  for (const id of ids) fleet.startMinion(id);
  await fleet.answering(...ids);
});
afterAll(async () => {
  await fleet?.destroy();
});

const all = Object.fromEntries(ids.map((id) => [id, true]));
const jidIn = (text: string): string => /\b(20\d{18})\b/.exec(text)?.[1] ?? '';

describe('a fleet of three', () => {
  it('answers fifty commands at once, each completely', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => fleet.json('*', 'test.ping')));
    for (const answer of answers) expect(answer).toEqual(all);
  });

  it('waits for a slow job as long as it runs, whatever -t says', async () => {
    expect(await fleet.json('a1', 'test.sleep', '3', '-t', '1')).toEqual({ a1: true });
  });

  it('answers control functions while a job burns CPU, and kills it for certain', async () => {
    const started = await fleet.salt('a1', 'cmd.run', 'while :; do :; done', '--async');
    const jid = jidIn(started.stdout);
    expect(jid).not.toBe('');
    await eventually(
      'the job to run',
      async () =>
        (await fleet.json('a1', 'saltutil.find_job', jid))['a1'] !== undefined &&
        existsSync(fleet.path('a1/cache/proc', jid)),
    );
    expect(await fleet.json('a1', 'test.ping')).toEqual({ a1: true });
    const killed = await fleet.json('a1', 'saltutil.kill_job', jid);
    expect(killed['a1']).toMatch(new RegExp(`^Signal 9 sent to job ${jid} at pid \\d+$`));
    await eventually('the proc file to go', () => !existsSync(fleet.path('a1/cache/proc', jid)));
    expect((await fleet.json('a1', 'saltutil.find_job', jid))['a1']).toEqual({});
    expect(readdirSync(fleet.path('a1/cache/proc'))).toEqual([]);
  });

  it('finds results by job id, and lists no internal jobs', async () => {
    const started = await fleet.salt('*', 'test.echo', 'kept', '--async');
    const jid = jidIn(started.stdout);
    await eventually('all results', async () => {
      const { stdout } = await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']);
      return Object.keys(JSON.parse(stdout) as object).length === ids.length;
    });
    const { stdout } = await fleet.run('salt-run', ['jobs.list_jobs', '--out=json']);
    const jobs = JSON.parse(stdout) as Record<string, { Function: string }>;
    expect(jobs[jid]?.Function).toBe('test.echo');
    // The look-ups above are jobs too, of the kind nobody wants in a list of what people asked for.
    expect(Object.values(jobs).filter((job) => job.Function.startsWith('runner.'))).toEqual([]);
  });

  it('says at once which minion is away, and why, without making the others wait', async () => {
    await fleet.minion('b1').stop();
    await eventually('the master to notice', async () =>
      (await fleet.salt('b1', 'test.ping')).stdout.includes('[Not connected]'),
    );
    const { stdout, code } = await fleet.salt('-L', 'a1,b1', 'test.ping');
    expect(stdout).toContain('a1:\n    True');
    expect(stdout).toMatch(/b1:\n {4}Minion did not return\. \[Not connected\]/);
    expect(stdout).toContain('connection to the master was lost');
    expect(code).toBe(1);
    fleet.startMinion('b1');
    await fleet.answering('b1');
  });

  it('brings a result home that was ready while the master was away', async () => {
    const started = await fleet.salt('a2', 'cmd.run', 'sleep 2; echo survived', '--async');
    const jid = jidIn(started.stdout);
    await eventually('the job to run', () => existsSync(fleet.path('a2/cache/proc', jid)));
    await fleet.master.stop();
    await eventually('the job to end', () => !existsSync(fleet.path('a2/cache/proc', jid)));
    await fleet.startMaster();
    await eventually('the result to arrive', async () => {
      const { stdout } = await fleet.run('salt-run', ['jobs.lookup_jid', jid, '--out=json']);
      return stdout.includes('survived');
    });
    await fleet.answering(...ids);
  });

  it('goes on after the master was killed', async () => {
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
    await fleet.answering(...ids);
  });
});
