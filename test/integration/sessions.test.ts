// Sessions of minions over the wire: they survive a restart of the master, end with the key of their minion, and those
// that a Salt master stored are taken until they expire.
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { Crypticle } from '../../src/base/crypto/index.ts';
import { Deployment } from '../support/deployment.ts';
import { RawMinion } from '../support/raw-minion.ts';

let fleet: Deployment;
const minions: RawMinion[] = [];
afterEach(async () => {
  for (const minion of minions.splice(0)) minion.stop();
  await fleet?.destroy();
});

async function start(id: string): Promise<RawMinion> {
  const minion = await RawMinion.start(fleet, id);
  minions.push(minion);
  return minion;
}
/** Whether the master answers, and the minion can open the answer. */
async function answered(minion: RawMinion): Promise<boolean> {
  return minion.open(await minion.ask(minion.seal({ cmd: '_file_envs' }))) !== undefined;
}

describe('a session', () => {
  it('goes on after a restart of the master, which stores one secret and no file for each minion', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    const minion = await start('web1');
    expect(await answered(minion)).toBe(true);
    const secret = fleet.path('cache/master/.session_secret');
    expect(statSync(secret).mode & 0o777).toBe(0o600);
    expect(existsSync(fleet.path('cache/master/sessions'))).toBe(false);
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
    expect(await answered(minion)).toBe(true);
    // A damaged secret is replaced: minions sign in again.
    await fleet.master.stop();
    writeFileSync(secret, 'damaged');
    await fleet.startMaster();
    expect(await answered(minion)).toBe(false);
    expect(readFileSync(secret, 'utf8')).not.toBe('damaged');
  });

  it('of a Salt master is taken until its file is too old, and answered under the same key', async () => {
    fleet = await Deployment.create();
    await fleet.startMaster();
    const minion = await start('web1');
    const other = await start('web2');
    await fleet.master.stop();
    const keys = [Crypticle.generateKeyString(), Crypticle.generateKeyString()];
    mkdirSync(fleet.path('cache/master/sessions'), { recursive: true });
    for (const [n, id] of ['web1', 'web2'].entries()) writeFileSync(fleet.path('cache/master/sessions', id), keys[n]!);
    const old = new Date(Date.now() - 86_500_000);
    utimesSync(fleet.path('cache/master/sessions/web2'), old, old);
    await fleet.startMaster();
    minion.session = new Crypticle(keys[0]!);
    other.session = new Crypticle(keys[1]!);
    expect(await answered(minion)).toBe(true);
    expect(await answered(other)).toBe(false);
    expect(existsSync(fleet.path('cache/master/sessions/web2'))).toBe(false);
    // The key of another minion opens nothing.
    other.session = new Crypticle(keys[0]!);
    expect(await answered(other)).toBe(false);
  });

  it('ends when the key of its minion is deleted, also for one with a file', async () => {
    fleet = await Deployment.create();
    const key = Crypticle.generateKeyString();
    mkdirSync(fleet.path('cache/master/sessions'), { recursive: true });
    writeFileSync(fleet.path('cache/master/sessions/web1'), key);
    await fleet.startMaster();
    const minion = await start('web1');
    expect(await answered(minion)).toBe(true);
    expect((await fleet.run('salt-key', ['-y', '-d', 'web1'])).code).toBe(0);
    expect(await answered(minion)).toBe(false);
    expect(existsSync(fleet.path('cache/master/sessions/web1'))).toBe(false);
    // Another machine with the same id has another key, and so another session.
    const successor = await start('web1');
    expect(await answered(successor)).toBe(true);
    successor.session = minion.session;
    expect(await answered(successor)).toBe(false);
    successor.session = new Crypticle(key);
    expect(await answered(successor)).toBe(false);
  });
});
