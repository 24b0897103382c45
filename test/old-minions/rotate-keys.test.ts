// A master changes its key under real minions: those that verify signatures take the new one by themselves, one of them
// prepared by jobs; the others, down to 2015.5, are served with the old key until its end. No job runs twice.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fingerprint } from '../../src/base/crypto/index.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { oldPeers } from '../support/old-fleet.ts';
import { saltRelease } from '../support/salt-release.ts';
import { restartOf, supervised } from '../support/supervised.ts';

const [oldest] = oldPeers(['2015.5.11']);
let fleet: Deployment;
const unprepared = ['plain', ...(oldest?.implementation ? ['oldest'] : [])];
const all = ['h1', 'prepared', 'verifies', ...unprepared].sort();
type Report = Record<string, unknown>;

async function rotate(...words: string[]): Promise<{ report: Report; text: string }> {
  const { stdout, stderr } = await fleet.run('salt-run', ['master.rotate_keys', ...words, '--out=json'], {
    timeoutMs: 280_000,
  });
  const text = `${stdout}${stderr}`;
  try {
    return { report: JSON.parse(stdout) as Report, text };
  } catch {
    return { report: {}, text };
  }
}
const ids = (report: Report, title: string): string[] =>
  Object.keys((report[title] as Report | undefined) ?? {}).sort();
const printOf = (file: string): string => (existsSync(file) ? fingerprint(readFileSync(file, 'utf8')) : '');
const trusted = (id: string): string => printOf(fleet.path(id, 'pki/minion_master.pub'));
const logs = (): string => all.map((id) => `--- ${id}\n${fleet.minion(id).output().slice(-2500)}`).join('\n');

async function eachOnce(what: string): Promise<void> {
  const file = fleet.path(`runs-${what}`);
  writeFileSync(file, '');
  const answers = await fleet.json('*', 'cmd.run', `echo $PPID ${what} >> ${file}`, '-t', '60');
  expect(Object.keys(answers).sort(), logs()).toEqual(all);
  // A second run would have ended by now: each minion answers a later job.
  expect(await fleet.json('*', 'test.ping', '-t', '60')).toEqual(Object.fromEntries(all.map((id) => [id, true])));
  expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(all.length);
}

beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig: 'minimum_auth_version: 0\nmaster_sign_pubkey: auto' });
  await fleet.startMaster();
  fleet.startMinion('h1');
  fleet.startMinion('prepared', supervised(saltRelease('3008.2'), fleet.path('supervisor')));
  fleet.startMinion('verifies', saltRelease('3006.27'));
  fleet.startMinion('plain', saltRelease('3006.27'), 'sign_pub_messages: True');
  if (oldest?.implementation) fleet.startMinion('oldest', oldest.implementation, 'hash_type: sha256');
  await fleet.answering(...all);
});
afterAll(() => fleet?.destroy());

describe('a new key for the master of real minions', () => {
  let before = '';
  let after = '';

  it('prepares one that runs with jobs, and takes it back where the minion does not return', async () => {
    const restart = restartOf(fleet.path('prepared/etc'));
    const plan = await rotate('prepare=True', 'tgt=prepared', '--dry-run');
    expect(String(plan.report['plan'])).toContain('verify_master_pubkey_sign');
    expect(existsSync(fleet.path('prepared/etc/minion.d/_verify_master.conf'))).toBe(false);
    const { report, text } = await rotate('prepare=True', 'tgt=prepared', `restart=${restart}`);
    expect(report['prepared'], `${text}\n${logs()}`).toEqual(['prepared']);
    await fleet.answering('prepared');
    // This one is "restarted" by a command that does nothing.
    const failed = await rotate('prepare=True', 'tgt=plain', 'restart=true', 'patience=3');
    expect(failed.report['stopped'], failed.text).toContain('no start event');
    expect(existsSync(fleet.path('plain/etc/minion.d/_verify_master.conf'))).toBe(false);
    // An operator did the same by hand.
    await fleet.minion('verifies').stop('SIGKILL');
    writeFileSync(
      fleet.path('verifies/pki/master_sign.pub'),
      readFileSync(fleet.path('etc/pki/master/master_sign.pub')),
    );
    writeFileSync(fleet.path('etc/pki/master/master_sign.minions'), '["prepared","verifies"]\n');
    await fleet.master.stop();
    await fleet.startMaster();
    fleet.startMinion('verifies', saltRelease('3006.27'), 'verify_master_pubkey_sign: True');
    await fleet.answering(...all);
  });

  it('announces, and names those that cannot follow with what to do', async () => {
    const { report, text } = await rotate('wait=60');
    before = String(report['key before']);
    after = String(report['key after']);
    expect(ids(report, 'ready'), text).toEqual(['h1', 'prepared', 'verifies']);
    expect(ids(report, 'cannot take a new key')).toEqual([...unprepared].sort());
    expect(String(report['before the switch'])).toContain('minion_master.pub');
    await eachOnce('announced');
  });

  it('switches: all go on, each job once, and those that can have the new key', async () => {
    const { text } = await rotate('switch=True');
    expect(printOf(fleet.path('etc/pki/master/master.pub')), text).toBe(after);
    await fleet.answering(...all);
    await eachOnce('switched');
    await eventually(
      'those that can to have the new key',
      () => ['h1', 'prepared', 'verifies'].every((id) => trusted(id) === after),
      {
        timeoutMs: 120_000,
        describe: logs,
      },
    );
    for (const id of unprepared) expect(trusted(id)).toBe(before);
    for (let n = 0; n < 3; n++) await eachOnce(`again-${n}`);
    expect(await fleet.json('*', 'pillar.items', '-t', '60')).toEqual(Object.fromEntries(all.map((id) => [id, {}])));
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
    await fleet.answering(...all);
    await eachOnce('restarted');
    for (const id of unprepared) expect(trusted(id)).toBe(before);
    expect((await rotate('end=True')).text).toContain('do not have the new key');
  });

  it('ends: the others need the listed commands, and come back with them', async () => {
    const { report } = await rotate('end=True', 'force=True');
    expect(ids(report, 'cannot take it')).toEqual([...unprepared].sort());
    await fleet.minion('plain').stop('SIGKILL');
    rmSync(fleet.path('plain/pki/minion_master.pub'));
    fleet.startMinion('plain', saltRelease('3006.27'), 'sign_pub_messages: True');
    await fleet.answering('h1', 'prepared', 'verifies', 'plain');
    expect(trusted('plain')).toBe(after);
  });
});
