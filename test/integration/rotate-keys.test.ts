// A new RSA key for a master: announced to Halite minions, switched, ended; minions that were there, that were away during
// the switch, and that stayed away; kills at every step; the way back.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fingerprint } from '../../src/base/crypto/index.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
type Report = Record<string, unknown>;

async function rotate(...words: string[]): Promise<{ report: Report; code: number | null; text: string }> {
  const { stdout, stderr, code } = await fleet.run('salt-run', ['master.rotate_keys', ...words, '--out=json'], {
    timeoutMs: 150_000,
  });
  let report: Report = {};
  try {
    report = JSON.parse(stdout) as Report;
  } catch {
    // A refusal is text.
  }
  return { report, code, text: `${stdout}${stderr}` };
}

const keyFile = (name: string): string => fleet.path('etc/pki/master', name);
const printOf = (file: string): string => (existsSync(file) ? fingerprint(readFileSync(file, 'utf8')) : '');
const masterKey = (): string => printOf(keyFile('master.pub'));
const trusted = (id: string): string => printOf(fleet.path(id, 'pki/minion_master.pub'));
const ids = (report: Report, title: string): string[] =>
  Object.keys((report[title] as Report | undefined) ?? {}).sort();
const patient = { timeoutMs: 120_000 };
const moved = async (...wanted: string[]): Promise<void> =>
  eventually(
    `${wanted.join(', ')} to have the new key`,
    async () => {
      const { report } = await rotate('status=True');
      return wanted.every((id) => ids(report, 'have the new key').includes(id));
    },
    { ...patient, describe: () => wanted.map((id) => fleet.minion(id).output().slice(-3000)).join('\n---\n') },
  );

beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  for (const id of ['m1', 'm2', 'm3']) fleet.startMinion(id);
  await fleet.answering('m1', 'm2', 'm3');
});
afterAll(() => fleet?.destroy());

describe('a new key for a master', () => {
  let first = '';
  let next = '';

  it('changes nothing with --dry-run, and can be withdrawn', async () => {
    first = masterKey();
    const { report, code } = await rotate('--dry-run');
    expect(code).toBe(0);
    expect(String(report['plan'])).toContain('master_next.pem');
    expect(existsSync(keyFile('master_next.pem'))).toBe(false);
    expect((await rotate('switch=True')).text).toContain('No next key is announced');
    await rotate();
    expect(existsSync(keyFile('master_next.pem'))).toBe(true);
    await rotate('abort=True');
    expect(existsSync(keyFile('master_next.pem'))).toBe(false);
    expect(existsSync(keyFile('master_rollover.json'))).toBe(false);
    expect((await rotate('end=True')).text).toContain('There is nothing to end');
  });

  it('is announced; connected minions store it, and one killed meanwhile stores it after its restart', async () => {
    await fleet.minion('m3').stop('SIGKILL');
    const { report, text } = await rotate('wait=90');
    next = String(report['key after']);
    expect(report['key before'], text).toBe(first);
    expect(ids(report, 'ready')).toEqual(['m1', 'm2']);
    expect(ids(report, 'not yet; get it when they come')).toEqual(['m3']);
    fleet.startMinion('m3');
    await eventually(
      'm3 to have it',
      async () => ids((await rotate('status=True')).report, 'ready').includes('m3'),
      patient,
    );
    expect(trusted('m1')).toBe(first);
    expect((await rotate()).report['key after']).toBe(next);
  });

  it('is switched after kill -9; minions follow at once, one that was away when it comes', async () => {
    await fleet.minion('m2').stop();
    await fleet.minion('m3').stop();
    // m3 lost what was announced: only the answer to its sign-in tells it.
    rmSync(fleet.path('m3/pki/minion_master_next.pub'), { force: true });
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
    await fleet.answering('m1');
    const { text } = await rotate('switch=True');
    expect(masterKey(), text).toBe(next);
    expect(await fleet.json('m1', 'test.ping')).toEqual({ m1: true });
    await moved('m1');
    expect(trusted('m1')).toBe(next);
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
    fleet.startMinion('m2');
    fleet.startMinion('m3');
    await fleet.answering('m1', 'm2', 'm3');
    await moved('m1', 'm2', 'm3');
    expect(trusted('m3')).toBe(next);
    expect(await fleet.json('*', 'pillar.items')).toEqual({ m1: {}, m2: {}, m3: {} });
    for (const id of ['m1', 'm2', 'm3']) expect(fleet.minion(id).output()).not.toContain('presents another key');
  });

  it('can be taken back during the grace, and switched again', async () => {
    await rotate('back=True');
    expect(masterKey()).toBe(first);
    await fleet.answering('m1', 'm2', 'm3');
    await moved('m1', 'm2', 'm3');
    expect(trusted('m2')).toBe(first);
    await rotate('back=True');
    expect(masterKey()).toBe(next);
    await fleet.answering('m1', 'm2', 'm3');
    await moved('m1', 'm2', 'm3');
  });

  it('ends; a minion that stayed away is left behind and listed', async () => {
    await fleet.minion('m3').stop();
    writeFileSync(fleet.path('m3/pki/minion_master.pub'), readFileSync(keyFile('master_old.pub')));
    await rotate('abort=True');
    const { report } = await rotate('end=True', 'force=True');
    expect(report['phase']).toBe('ended');
    expect(existsSync(keyFile('master_old.pem'))).toBe(false);
    expect(existsSync(keyFile('master_rollover.json'))).toBe(false);
    fleet.startMinion('m3');
    await eventually(
      'm3 to refuse the key',
      () => fleet.minion('m3').output().includes('presents another key'),
      patient,
    );
    rmSync(fleet.path('m3/pki/minion_master.pub'));
    await fleet.answering('m1', 'm2', 'm3');
  });
});
