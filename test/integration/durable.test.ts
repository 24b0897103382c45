// --durable: a job waits for a disconnected minion, across restarts of all daemons, and runs once.
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killTree } from '../../src/engine/exec/process-tree.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
const jidIn = (text: string): string => /\b(20\d{18})\b/.exec(text)?.[1] ?? '';
const runner = async (...args: string[]): Promise<string> => (await fleet.run('salt-run', args)).stdout;
const pending = async (): Promise<Record<string, unknown>> =>
  JSON.parse(await runner('jobs.pending', '--out=json')) as Record<string, unknown>;
const results = async (jid: string): Promise<Record<string, unknown>> =>
  JSON.parse(await runner('jobs.lookup_jid', jid, '--out=json')) as Record<string, unknown>;
const lines = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];

/** Sends a durable job to `away`, which is known to be away. */
async function queue(
  command: string,
  ...more: string[]
): Promise<{ jid: string; stdout: string; code: number | null }> {
  const { stdout, code } = await fleet.salt('-v', '-L', 'here,away', 'cmd.run', command, ...more);
  return { jid: jidIn(stdout), stdout, code };
}

async function stopAway(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  await fleet.minion('away').stop(signal);
  await eventually('the master to notice', async () =>
    (await runner('manage.explain', 'away', '--out=json')).includes('"connected": "no"'),
  );
}

beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  for (const id of ['here', 'away']) fleet.startMinion(id);
  await fleet.answering('here', 'away');
  await stopAway();
});
afterAll(async () => {
  await fleet?.destroy();
});

describe('a durable job', () => {
  it('runs once on a minion that reconnects after the master was restarted', async () => {
    const file = fleet.path('ran');
    const { jid, stdout, code } = await queue(`echo "$(id -u)" >> ${file}; echo done`, '--durable');
    expect(stdout).toContain('here:\n    done');
    expect(stdout).toMatch(/away:\n {4}The job waits for this minion until \d{4}-/);
    expect(code).toBe(0);
    expect(await pending()).toMatchObject({ [jid]: { Function: 'cmd.run', Minions: { away: expect.any(String) } } });
    expect(await runner('jobs.explain', jid)).toMatch(/away: queued, until/);
    await fleet.master.stop();
    await fleet.startMaster();
    await fleet.answering('here');
    expect(Object.keys(await pending())).toEqual([jid]);
    expect(lines(file)).toHaveLength(1);
    fleet.startMinion('away');
    await eventually('the result', async () => (await results(jid))['away'] === 'done');
    expect(lines(file)).toHaveLength(2);
    await eventually('nothing to wait for', async () => Object.keys(await pending()).length === 0);
    expect(await runner('jobs.explain', jid)).toMatch(
      /away: kept for it\n[\s\S]*away: delivered\n[\s\S]*away: returned, exit code 0/,
    );
  });

  it('runs once although it is delivered again and again while it runs', async () => {
    await stopAway();
    const file = fleet.path('again');
    const { stdout } = await fleet.salt('-v', 'away', 'cmd.run', `echo run >> ${file}; sleep 600`, '--durable');
    const jid = jidIn(stdout);
    fleet.startMinion('away');
    await eventually('it to begin', () => lines(file).length === 1);
    for (let restart = 0; restart < 2; restart++) {
      // Only the daemon dies; the job goes on and is delivered to the next daemon again.
      process.kill(fleet.minion('away').pid, 'SIGKILL');
      await eventually('the daemon to be gone', () => !fleet.minion('away').running);
      fleet.startMinion('away');
      await eventually(
        'another delivery',
        () => fleet.minion('away').output().split('delivered again and is not run twice').length > restart + 1,
      );
    }
    expect(lines(file)).toHaveLength(1);
    await fleet.salt('away', 'saltutil.kill_job', jid);
  });

  it('that was interrupted permanently is reported instead of running a second time', async () => {
    const file = fleet.path('interrupted');
    await stopAway('SIGKILL');
    const { stdout } = await fleet.salt('-v', 'away', 'cmd.run', `echo run >> ${file}; sleep 600`, '--durable');
    const jid = jidIn(stdout);
    fleet.startMinion('away');
    await eventually('it to begin', () => lines(file).length === 1);
    await eventually('its proc file', () => existsSync(fleet.path('away/cache/proc', jid)));
    // The machine loses power: daemon and job end without a message.
    const job = /"pid": (\d+)/.exec(await jobData(jid))?.[1];
    process.kill(fleet.minion('away').pid, 'SIGKILL');
    await killTree([Number(job)]);
    await eventually('the daemon to be gone', () => !fleet.minion('away').running);
    fleet.startMinion('away');
    await eventually('the result', async () =>
      String((await results(jid))['away']).includes('interrupted without a result'),
    );
    expect(lines(file)).toHaveLength(1);
  });

  it('expires visibly and does not run afterwards', async () => {
    await stopAway('SIGKILL');
    const file = fleet.path('expired');
    const { stdout } = await fleet.salt('-v', 'away', 'cmd.run', `echo run >> ${file}`, '--durable=1s');
    const jid = jidIn(stdout);
    await eventually('the expiry', async () => /away: expired, .*expired/.test(await runner('jobs.explain', jid)));
    expect(await pending()).toEqual({});
    const record = JSON.parse(await runner('jobs.list_job', jid, '--out=json')) as { Missing: object };
    expect(record.Missing).toMatchObject({ away: { code: 'expired' } });
  });

  it('can be cancelled', async () => {
    const file = fleet.path('cancelled');
    const { stdout } = await fleet.salt('-v', 'away', 'cmd.run', `echo run >> ${file}`, '--durable=2h');
    const jid = jidIn(stdout);
    expect(JSON.parse(await runner('jobs.cancel', jid, '--out=json'))).toEqual(['away']);
    expect(await pending()).toEqual({});
    fleet.startMinion('away');
    await fleet.answering('away');
    expect(await fleet.json('away', 'test.ping')).toEqual({ away: true });
    expect([lines(file), lines(fleet.path('expired'))]).toEqual([[], []]);
    expect(await runner('jobs.explain', jid)).toMatch(/away: expired, .*taken back/);
  });
});

async function jobData(jid: string): Promise<string> {
  return (await fleet.salt('away', 'saltutil.find_job', jid, '--out=json')).stdout;
}
