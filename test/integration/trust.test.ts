// Keys and trust between real daemons: pending, accepted, rejected, another key, another master.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { fingerprint } from '../../src/base/crypto/index.ts';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
afterEach(async () => {
  await fleet?.destroy();
});

const keyFile = (state: string, id: string): string => fleet.path('etc/pki/master', state, id);

describe('keys', () => {
  it('wait for acceptance, work after it, and not after deletion', async () => {
    fleet = await Deployment.create({ autoAccept: false });
    await fleet.startMaster();
    fleet.startMinion('m1');
    await eventually('the key to arrive', () => existsSync(keyFile('minions_pre', 'm1')));
    const pending = await fleet.salt('m1', 'test.ping');
    expect(pending.code).toBe(2);
    expect(pending.stdout + pending.stderr).toContain('No minions matched the target');
    const listed = await fleet.salt('-L', 'm1', 'test.ping');
    expect(listed.stdout).toContain('Minion did not return.');
    expect(listed.stdout).toContain('waits for acceptance');
    expect((await fleet.run('salt-key', ['-y', '-a', 'm1'])).code).toBe(0);
    await fleet.answering('m1');
    expect((await fleet.run('salt-key', ['-y', '-d', 'm1'])).code).toBe(0);
    expect((await fleet.salt('m1', 'test.ping')).code).toBe(2);
  });

  it('show the same fingerprint on both sides', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
    const onMinion = fingerprint(readFileSync(fleet.path('m1/pki/minion.pub'), 'utf8'));
    const { stdout } = await fleet.run('salt-key', ['-f', 'm1']);
    expect(stdout).toContain(onMinion);
    expect(await fleet.json('m1', 'key.finger')).toEqual({ m1: onMinion });
  });

  it('are denied when another machine uses an accepted id', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
    await fleet.minion('m1').stop();
    rmSync(fleet.path('m1/pki'), { recursive: true });
    fleet.startMinion('m1', undefined, 'rejected_retry: True');
    await eventually('the second key to be denied', () => existsSync(keyFile('minions_denied', 'm1')));
    await eventually('the master to say so', () => /denied.*m1|m1.*denied/.test(fleet.master.output()));
  });

  it('are accepted by autosign_file and rejected by autoreject_file', async () => {
    fleet = await Deployment.create({
      autoAccept: false,
      masterConfig: 'autosign_file: autosign.conf\nautoreject_file: autoreject.conf',
    });
    writeFileSync(fleet.path('autosign.conf'), '# trusted\nweb*\n', { mode: 0o644 });
    writeFileSync(fleet.path('autoreject.conf'), 'bad\\d+\n', { mode: 0o644 });
    await fleet.startMaster();
    fleet.startMinion('web1');
    fleet.startMinion('bad7', undefined, 'rejected_retry: True');
    await fleet.answering('web1');
    await eventually('bad7 to be rejected', () => existsSync(keyFile('minions_rejected', 'bad7')));
  });
});

describe('a master with another key', () => {
  it('is explained in one readable message, and the minion retries until it is resolved', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    fleet.startMinion('m1');
    await fleet.answering('m1');
    await fleet.master.stop();
    const pki = fleet.path('etc/pki/master');
    const oldKey = readFileSync(`${pki}/master.pub`, 'utf8');
    cpSync(pki, fleet.path('backup'), { recursive: true });
    rmSync(`${pki}/master.pem`);
    rmSync(`${pki}/master.pub`);
    await fleet.startMaster();
    const newKey = readFileSync(`${pki}/master.pub`, 'utf8');
    await eventually('the minion to explain', () => fleet.minion('m1').output().includes(fingerprint(newKey)), {
      timeoutMs: 120_000,
      describe: () => fleet.minion('m1').output().slice(-3000),
    });
    const said = fleet.minion('m1').output();
    expect(said).toContain(fingerprint(oldKey));
    expect(said).toContain('minion_master.pub');
    expect(said).not.toMatch(/^\s+at .*\.js:\d+/m);
    expect(fleet.minion('m1').running).toBe(true);
    await eventually('the master to record it too', () =>
      fleet.master.output().includes('minion trusts another master key'),
    );
    await fleet.master.stop();
    rmSync(pki, { recursive: true });
    cpSync(fleet.path('backup'), pki, { recursive: true });
    await fleet.startMaster();
    await fleet.answering('m1');
  });
});
