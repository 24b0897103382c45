// A Halite minion between real masters of two releases, with one key pair: failover, the way back, and the result of a job
// that ran across the switch.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';

let old: Deployment;
let fresh: Deployment;

const answers = async (master: Deployment): Promise<boolean> =>
  (await master.json('m1', 'test.ping', '-t', '3').catch(() => ({}) as Record<string, unknown>))['m1'] === true;
const patient = { timeoutMs: 120_000, describe: () => old.minion('m1').output().slice(-4000) };
const spooled = (): number =>
  readdirSync(old.path('m1/cache/halite/spool')).filter((name) => name.endsWith('.p')).length;

beforeAll(async () => {
  [old, fresh] = await Promise.all([
    Deployment.create({ master: saltRelease('3006.27') }),
    Deployment.create({ master: saltRelease('3008.2') }),
  ]);
  const events = `event_return: rawfile_json\nrawfile_json.filename: ${old.path('events.json')}\n`;
  writeFileSync(old.path('etc/master.d/events.conf'), events);
  await old.startMaster();
  cpSync(old.path('etc/pki/master'), fresh.path('etc/pki/master'), { recursive: true });
  await fresh.startMaster();
  mkdirSync(old.path('m1/etc/minion.d'), { recursive: true });
  const options = {
    master: [old, fresh].map(({ ports }) => `127.0.0.1:${ports.requests}`),
    ...{ master_type: 'failover', master_alive_interval: 4, master_failback: true, master_failback_interval: 2 },
    ...{ return_retry_timer: 1, return_retry_timer_max: 1 },
  };
  writeFileSync(old.path('m1/etc/minion.d/own.conf'), JSON.stringify(options));
  old.startMinion('m1');
  await old.answering('m1');
});
afterAll(async () => {
  await Promise.all([old, fresh].map((deployment) => deployment?.destroy()));
});

it('the next master is used, and the result for the first one is brought when it is back, in the form of Salt', async () => {
  const go = old.path('go');
  const { stdout } = await old.salt(
    'm1',
    'cmd.run',
    `while [ ! -e ${go} ]; do sleep 0.1; done; echo across`,
    '--async',
  );
  const jid = /\d{20}/.exec(stdout)?.[0] ?? stdout;
  await eventually('the job to run', () => readdirSync(old.path('m1/cache/proc')).includes(jid), patient);
  await old.master.stop('SIGKILL');
  await eventually('the second master to be used', () => answers(fresh), patient);
  writeFileSync(go, '');
  await eventually('the result to wait', () => spooled() === 1, patient);
  // A real master does not know whose result that would be: it gets none that it did not ask for.
  expect((await fresh.run('salt-run', ['jobs.lookup_jid', jid, '--out=json'])).stdout).not.toContain('across');
  await old.startMaster();
  await eventually('the first master to be used again', () => answers(old), patient);
  await eventually('the result to be delivered', () => spooled() === 0, patient);
  const told = (): Record<string, unknown> | undefined => {
    const line = readFileSync(old.path('events.json'), 'utf8')
      .split('\n')
      .find((text) => text.includes(`salt/job/${jid}/ret/m1`));
    return line === undefined ? undefined : (JSON.parse(line) as { data: Record<string, unknown> }).data;
  };
  await eventually('the event of the result', () => told() !== undefined, patient);
  expect(told()).toMatchObject({ id: 'm1', jid, return: 'across', retcode: 0, success: true });
  expect(Object.keys(told()!).filter((name) => name.startsWith('halite'))).toEqual([]);
});
