// Halite minions are told another master by master.handover: verified before anything is written, kept until it has held,
// continued after a restart, refused when the other master has another key.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let old: Deployment;
let next: Deployment;
let stranger: Deployment;

const at = (master: Deployment): string => `127.0.0.1:${master.ports.requests}`;
const listFile = (id: string): string => old.path(id, 'etc/minion.d/_masters.conf');
const listed = (id: string): string => (existsSync(listFile(id)) ? readFileSync(listFile(id), 'utf8') : '');

async function handover(
  from: Deployment,
  to: string,
  ...more: string[]
): Promise<{ report: Record<string, Record<string, string>>; code: number | null }> {
  const { stdout, stderr, code } = await from.run('salt-run', ['master.handover', to, ...more, '--out=json'], {
    timeoutMs: 150_000,
  });
  try {
    return { report: JSON.parse(stdout) as Record<string, Record<string, string>>, code };
  } catch {
    throw new Error(`${stdout}\n${stderr}`);
  }
}

const answers = async (master: Deployment, id: string): Promise<boolean> =>
  (await master.json(id, 'test.ping', '-t', '2').catch(() => ({}) as Record<string, unknown>))[id] === true;
const comes = (master: Deployment, id: string, text: string): Promise<void> =>
  eventually(text, () => answers(master, id), {
    timeoutMs: 120_000,
    describe: () => old.minion(id).output().slice(-3000),
  });

describe('minions are handed over', () => {
  beforeAll(async () => {
    [old, next, stranger] = await Promise.all([Deployment.create(), Deployment.create(), Deployment.create()]);
    await Promise.all([old.startMaster(), stranger.startMaster()]);
    cpSync(old.path('etc/pki/master'), next.path('etc/pki/master'), { recursive: true });
    await next.startMaster();
    for (const id of ['m1', 'm2', 'm3']) old.startMinion(id);
    await old.answering('m1', 'm2', 'm3');
  });
  afterAll(async () => {
    await Promise.all([old, next, stranger].map((each) => each?.destroy()));
  });

  it('writes nothing with --dry-run, nor for a master with another key or none at all', async () => {
    const { report, code } = await handover(old, at(next), '--dry-run');
    expect(report['halite']).toEqual({ m1: 'would move', m2: 'would move', m3: 'would move' });
    expect(code).toBe(0);
    const [other, nobody] = await Promise.all([
      handover(old, at(stranger), 'tgt=m1'),
      handover(old, '127.0.0.1:1', 'tgt=m2'),
    ]);
    expect(other.code).toBe(1);
    expect(other.report['refused']?.['m1']).toContain('presents another key');
    expect(nobody.report['refused']?.['m2']).toMatch(/does not answer|Sign-in at/);
    const shell = await old.run('salt-run', ['master.handover', "x'; touch pwned; '"]);
    expect(shell.code).not.toBe(0);
    for (const id of ['m1', 'm2', 'm3']) expect(listed(id)).toBe('');
    await comes(old, 'm1', 'm1 to answer');
  });

  it('keeps the old master until the new one has held, also over a restart of the minion', async () => {
    const { report } = await handover(old, at(next), 'tgt=m1', 'hold=3000');
    expect(report['halite']?.['m1']).toContain('connected; the others are left in 3000 seconds');
    expect(listed('m1')).toContain(`- '${at(next)}'\n  - '${at(old)}'`);
    await comes(next, 'm1', 'm1 to answer');
    await comes(old, 'm1', 'm1 to answer');
    await old.minion('m1').stop('SIGKILL');
    writeFileSync(old.path('m1/cache/halite/handover.json'), JSON.stringify({ to: at(next), hold: 1 }));
    old.startMinion('m1');
    await eventually('the old master to be left', () => !listed('m1').includes(at(old)));
    await comes(next, 'm1', 'm1 to answer its new master');
    await eventually('the old master to have no answer', async () => !(await answers(old, 'm1')), {
      timeoutMs: 120_000,
    });
  });

  it('delivers the result of the job that is under way while its minion is moved', async () => {
    const until = old.path('go');
    const { stdout } = await old.salt(
      'm2',
      'cmd.run',
      `touch ${old.path('began')}; while [ ! -e ${until} ]; do sleep 0.1; done; echo moved`,
      '--async',
    );
    const jid = /\d{20}/.exec(stdout)?.[0] ?? '';
    await eventually('the job to run', () => existsSync(old.path('began')));
    const { report } = await handover(old, at(next), 'tgt=m2', 'hold=0');
    expect(report['halite']).toEqual({ m2: 'moved' });
    await comes(next, 'm2', 'm2 to answer its new master');
    writeFileSync(until, '');
    const lookup = async (master: Deployment): Promise<string> =>
      (await master.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout;
    await eventually(
      'the result at one of the masters',
      async () => `${await lookup(next)}${await lookup(old)}`.includes('moved'),
      {
        timeoutMs: 120_000,
        describe: () => old.minion('m2').output().slice(-3000),
      },
    );
  });

  it('goes back the same way, also before the link to the old master was dropped', async () => {
    const { report } = await handover(next, at(old), 'tgt=m2', 'finish=True');
    expect(report['halite']).toEqual({ m2: 'moved' });
    await comes(old, 'm2', 'm2 to answer its old master again');
    const there = await handover(old, at(next), 'tgt=m2', 'finish=True');
    const back = await handover(next, at(old), 'tgt=m2', 'finish=True');
    expect([there.report['halite'], back.report['halite']]).toEqual([{ m2: 'moved' }, { m2: 'moved' }]);
    await eventually('m2 to leave the other master', async () => !(await answers(next, 'm2')));
    await comes(old, 'm2', 'm2 to answer its old master still');
    expect(listed('m2')).not.toContain(at(next));
  });

  it('leaves the configuration as it is when another file sets the masters', async () => {
    const own = old.path('m3/etc/minion.d/zz-own.conf');
    mkdirSync(old.path('m3/etc/minion.d'), { recursive: true });
    writeFileSync(own, 'master: other.example\n');
    const { report, code } = await handover(old, at(next), 'tgt=m3', 'finish=True');
    expect(code).toBe(1);
    expect(report['refused']?.['m3']).toContain('Another file sets master as well');
    expect(listed('m3')).toBe('');
    rmSync(own);
    await comes(old, 'm3', 'm3 to answer');
  });
});
