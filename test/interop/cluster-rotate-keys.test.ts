// Two masters that work as one change their key under real minions of both: one that was prepared on one master is
// answered rightly by the other, one that was not keeps the old key, and no job runs twice although it comes in two forms
// from two masters.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fingerprint } from '../../src/base/crypto/index.ts';
import { halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { Masters } from '../support/masters.ts';
import { saltRelease } from '../support/salt-release.ts';
import { restartOf, supervised } from '../support/supervised.ts';

let masters: Masters;
const all = ['h1', 'plain', 'prepared'];
const first = (...parts: string[]): string => masters.master(0).path(...parts);
const trusted = (id: string): string => fingerprint(readFileSync(first(id, 'pki/minion_master.pub'), 'utf8'));
const logs = (): string =>
  all.map((id) => `--- ${id}\n${masters.master(0).minion(id).output().slice(-2500)}`).join('\n');

async function rotate(at: number, ...words: string[]): Promise<{ report: Record<string, unknown>; text: string }> {
  const master = masters.master(at);
  const { stdout, stderr } = await master.run('salt-run', ['master.rotate_keys', ...words, '--out=json'], {
    timeoutMs: 150_000,
  });
  const text = `${stdout}${stderr}`;
  return { report: text.includes('{') ? (JSON.parse(stdout) as Record<string, unknown>) : {}, text };
}

async function eachOnce(at: number, what: string): Promise<void> {
  const file = first(`runs-${what}-${at}`);
  writeFileSync(file, '');
  const master = masters.master(at);
  const answers = await master.json('*', 'cmd.run', `echo $PPID >> ${file}`, '-t', '60');
  expect(Object.keys(answers).sort(), logs()).toEqual(all);
  // A second run would have ended by now: each minion answers a later job.
  expect(Object.keys(await master.json('*', 'test.ping', '-t', '60')).sort()).toEqual(all);
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(all.length);
}

beforeAll(async () => {
  masters = await Masters.start({ count: 2 });
  masters.startMinion('h1', halite);
  masters.startMinion('prepared', supervised(saltRelease('3006.27'), first('supervisor')));
  masters.startMinion('plain', saltRelease('3008.2'));
  await masters.answering(all);
});
afterAll(() => masters?.destroy());

it('two masters change their key under real minions', async () => {
  const before = trusted('plain');
  const { report, text } = await rotate(
    0,
    'prepare=True',
    'tgt=prepared',
    `restart=${restartOf(first('prepared/etc'))}`,
  );
  expect(report['prepared'], `${text}\n${logs()}`).toEqual(['prepared']);
  const signing = masters.all.map((master) => readFileSync(master.path('etc/pki/master/master_sign.pem'), 'utf8'));
  expect(signing[0]).toBe(signing[1]);
  await masters.answering(all);
  const announced = await rotate(1, 'wait=60');
  const after = String(announced.report['key after']);
  expect(Object.keys(announced.report['ready'] ?? {}).sort(), announced.text).toEqual(['h1', 'prepared']);
  for (const at of [0, 1]) await eachOnce(at, 'announced');
  const switched = await rotate(0, 'switch=True');
  await masters.answering(all);
  for (const at of [0, 1]) await eachOnce(at, 'switched');
  const follow = ['h1', 'prepared'];
  await eventually('those that can to have the new key', () => follow.every((id) => trusted(id) === after), {
    timeoutMs: 120_000,
    describe: () => `${switched.text}\n${logs()}`,
  });
  expect(trusted('plain')).toBe(before);
  // Who was answered by one master is known on the other, also after a kill.
  await masters.master(1).master.stop('SIGKILL');
  await masters.master(1).startMaster();
  await masters.answering(all);
  for (const at of [0, 1]) await eachOnce(at, 'restarted');
  expect(existsSync(masters.master(1).path('etc/pki/master/master_old.pem'))).toBe(true);
  expect((await rotate(1, 'end=True')).text).toContain('plain');
});
