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

  it('waits for a slow job as long as it runs, independent of -t', async () => {
    expect(await fleet.json('a1', 'test.sleep', '3', '-t', '1')).toEqual({ a1: true });
  });

  it('answers control functions while a job uses the CPU, and kills it reliably', async () => {
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

  it('reports a missing function in Salt’s words, and suggests a name on stderr', async () => {
    const typo = await fleet.salt('a1', 'test.pnig');
    expect([typo.code, typo.stdout]).toEqual([1, "a1:\n    'test.pnig' is not available.\n"]);
    expect(typo.stderr).toBe("ERROR: Minions returned with non-zero exit code\nDid you mean 'test.ping'?\n");
    const runner = await fleet.run('salt-run', ['manage.statsu']);
    expect([runner.stdout, runner.stderr]).toEqual([
      "'manage.statsu' is not available.\n",
      "Did you mean 'manage.status'?\n",
    ]);
  });

  const runners: [string, string[], unknown][] = [
    ['keeps a value in a bank', ['cache.store', 'bank', 'key', '[1, a]'], null],
    ['finds it', ['cache.fetch', 'bank', 'key'], [1, 'a']],
    ['lists keys', ['cache.list', 'bank'], ['key']],
    ['lists minions', ['cache.list', 'minions'], ids],
    ['forgets it', ['cache.flush', 'bank', 'key'], true],
    ['and only once', ['cache.flush', 'bank', 'key'], false],
    ['finds nothing then', ['cache.fetch', 'bank', 'key'], {}],
    ['has no data of unknown minions to remove', ['cache.clear_grains', 'stranger'], true],
    ['has no words for Brazil', ['test.metasyntactic', 'locality=br'], null],
    ['reports that no minion matched', ['salt.execute', 'nobody', 'test.ping'], undefined],
  ];
  it.each(runners)('%s', async (_what, words, expected) => {
    const { stdout } = await fleet.run('salt-run', [...words, '--out=json']);
    if (expected === undefined) expect(stdout).toContain('No minions matched the target.');
    else expect(JSON.parse(stdout)).toEqual(expected);
  });

  it('shows where minions are and which version they run', async () => {
    const ips = JSON.parse((await fleet.run('salt-run', ['manage.present', 'show_ip=True', '--out=json'])).stdout);
    expect(Object.keys(ips as object).sort()).toEqual(ids);
    for (const ip of Object.values(ips as object)) expect(ip).toMatch(/^[\d.]+$|:/);
    const versions = JSON.parse((await fleet.run('salt-run', ['manage.versions', '--out=json'])).stdout) as object;
    expect(Object.keys(versions)).toEqual(['Up to date', 'Master']);
  });

  it('reports the arguments of a runner when they are wrong, and where one failed', async () => {
    const wrong = await fleet.run('salt-run', ['jobs.lookup_jid']);
    expect(wrong.stdout).toMatch(
      /^\nPassed invalid arguments: lookup_jid\(\) missing 1 required positional argument: 'jid'\n\nUsage:\n/,
    );
    const failed = await fleet.run('salt-run', ['error.error', 'name=ValueError', 'message=bad']);
    expect(failed.stdout).toMatch(
      /^Exception occurred in runner error\.error: Traceback \(most recent call last\):\n[\s\S]*\nValueError: bad\n$/,
    );
    expect(failed.code).toBe(1);
  });

  it('reports immediately which minion is disconnected, and why, without delaying the others', async () => {
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

  it('delivers a result that was ready while the master was down', async () => {
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

  it('continues after the master was killed', async () => {
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
    await fleet.answering(...ids);
  });
});
