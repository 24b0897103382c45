// The end of a move: a master that is being retired publishes nothing, serves whom it still has, hands late minions over, and
// ends by itself when nobody comes any more.
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let old: Deployment;
let next: Deployment;
const addressOf = (master: Deployment): string => `127.0.0.1:${master.ports.requests}`;

async function runner(
  master: Deployment,
  ...words: string[]
): Promise<{ report: Record<string, unknown>; code: number | null; stderr: string }> {
  const { stdout, stderr, code } = await master.run('salt-run', [...words, '--out=json'], { timeoutMs: 150_000 });
  const report = stdout.startsWith('{') ? (JSON.parse(stdout) as Record<string, unknown>) : {};
  return { report, code, stderr: `${stdout}${stderr}` };
}

beforeAll(async () => {
  const schedule = "schedule: {tick: {function: test.arg, seconds: 1, args: ['ticked']}}";
  old = await Deployment.create({ masterConfig: schedule });
  next = await Deployment.create();
  await old.startMaster();
  cpSync(old.path('etc/pki/master'), next.path('etc/pki/master'), { recursive: true });
  await next.startMaster();
  for (const id of ['m1', 'm2']) old.startMinion(id);
  await old.answering('m1', 'm2');
});
afterAll(async () => {
  await Promise.all([old, next].map((each) => each?.destroy()));
});

describe('a retired master', () => {
  it('changes nothing with --dry-run, nor for what is no address', async () => {
    const plan = await runner(old, 'master.retire', addressOf(next), '--dry-run');
    expect(plan.report).toMatchObject({ number: 2, 'connected now': { m1: expect.stringContaining('connected') } });
    for (const wrong of ["x'; rm", 'new master', '--x'])
      expect((await runner(old, 'master.retire', `address=${wrong}`)).code).not.toBe(0);
    expect((await runner(old, 'master.retire', addressOf(next), 'quiet=0')).stderr).toContain('quiet=0');
    expect((await runner(old, 'master.retire')).report).toEqual({
      phase: 'this master works; it is not being retired',
    });
    expect(await old.json('m1', 'test.ping')).toEqual({ m1: true });
  });

  it('publishes no more jobs, and takes the results of those under way', async () => {
    const go = old.path('go');
    const { stdout } = await old.salt(
      'm1',
      'cmd.run',
      `touch ${old.path('began')}; while [ ! -e ${go} ]; do sleep 0.1; done; echo done-late`,
      '--async',
    );
    const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
    await eventually('the job to run', () => existsSync(old.path('began')));
    const begun = await runner(old, 'master.retire', addressOf(next), 'quiet=600');
    expect(begun.report).toMatchObject({
      'new master': addressOf(next),
      'jobs under way': [jid],
      'still come': { m1: expect.any(String), m2: expect.any(String) },
    });
    const refused = await old.salt('m2', 'test.ping');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(`Run it on ${addressOf(next)}`);
    writeFileSync(go, '');
    await eventually('the late result', async () =>
      (await old.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout.includes('done-late'),
    );
  });

  it('starts nothing by schedule, also after it was killed and started again', async () => {
    await old.master.stop('SIGKILL');
    await old.startMaster();
    await eventually(
      'both minions to be back',
      async () => {
        const { report } = await runner(old, 'master.retire');
        const here = report['still come'] as Record<string, string> | undefined;
        return here !== undefined && ['m1', 'm2'].every((id) => here[id]?.startsWith('connected'));
      },
      { timeoutMs: 120_000 },
    );
    expect((await old.salt('m1', 'test.ping')).stderr).toContain('being retired');
    // It ticked every second before, and the present log is that of a master that was started while it is retired.
    expect(old.master.output()).not.toContain('runner.test.arg');
    const runs = async (): Promise<number> => {
      const { stdout } = await old.run('salt-run', [
        'jobs.query',
        "SELECT count(*) AS n FROM job WHERE fun = 'runner.test.arg'",
        '--out=json',
      ]);
      return Number((JSON.parse(stdout) as { n: number }[])[0]?.n);
    };
    const before = await runs();
    await runner(old, 'master.retire', addressOf(next), 'quiet=600');
    expect(await runs()).toBe(before);
    expect(before).toBeGreaterThan(0);
  });

  it('works again when that is taken back', async () => {
    const { report } = await runner(old, 'master.retire', 'undo=True');
    expect(report).toEqual({ phase: 'this master works; it is not being retired' });
    expect(await old.json('m1', 'test.ping')).toEqual({ m1: true });
    await runner(old, 'master.retire', addressOf(next), 'quiet=10');
  });

  it('hands late minions over, and ends when nobody came for as long as was said', async () => {
    const moved = await runner(old, 'master.handover', addressOf(next), 'finish=True');
    expect(moved.report).toMatchObject({ halite: { m1: 'moved', m2: 'moved' } });
    await next.answering('m1', 'm2');
    await eventually('the retired master to end', () => old.master.exitCode !== null);
    expect(old.master.exitCode).toBe(0);
    expect(old.master.output()).toContain('this retired master ends');
    expect(await next.json('*', 'test.ping')).toEqual({ m1: true, m2: true });
  });
});
