// Masters behind one address, with the keys, sessions and AES key of one: a minion's two connections end on different
// masters, and it does not notice.
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { OneAddress, oneAddressPrograms } from '../support/one-address.ts';

const programs = oneAddressPrograms();
let masters: OneAddress;
const key = (master: Deployment, folder: string, id: string): string => master.path('etc/pki/master', folder, id);
const aesKeys = (): string[] =>
  masters.all.map(
    (master) => readFileSync(master.path('cache/master/.shared_keys'), 'utf8').trim().split('\n').at(-1)!,
  );

describe.skipIf(!programs)('masters behind one address', () => {
  beforeAll(async () => {
    masters = await OneAddress.start({ autoAccept: false });
    masters.startMinion('web1');
    await masters.everywhere('the key', (master) => existsSync(key(master, 'minions_pre', 'web1')));
    expect((await masters.master(1).run('salt-key', ['-y', '-a', 'web1'])).code).toBe(0);
    await masters.answering('web1');
  });
  afterAll(() => masters?.destroy());

  it('have one AES key, which a restart does not change', async () => {
    const [first, second] = aesKeys();
    expect(second).toBe(first);
    await masters.master(1).master.stop();
    await masters.master(1).startMaster();
    expect(aesKeys()).toEqual([first, first]);
    await masters.answering('web1');
  });

  it('change it together', async () => {
    const [before] = aesKeys();
    const signIns = (): number =>
      masters.all
        .map(({ master }) => master.output())
        .join()
        .split('minion signed in').length;
    const { stdout, code } = await masters.master(1).run('salt-run', ['cluster.rotate_aes', '--out=json']);
    expect([JSON.parse(stdout), code]).toEqual([2, 0]);
    await eventually('the new key on both', () => aesKeys().every((one) => one !== before && one === aesKeys()[0]));
    await masters.answering('web1');
    expect(signIns()).toBeGreaterThan(0);
  });

  it('decide once about a key', async () => {
    const [m1, m2] = [masters.master(0), masters.master(1)];
    masters.startMinion('web2');
    await masters.everywhere('the key', (master) => existsSync(key(master, 'minions_pre', 'web2')));
    // By hand, as some scripts do.
    cpSync(key(m2, 'minions_pre', 'web2'), key(m2, 'minions', 'web2'));
    rmSync(key(m2, 'minions_pre', 'web2'));
    await eventually('it is accepted on the other', () => existsSync(key(m1, 'minions', 'web2')));
    await masters.answering('web2');
    expect((await m1.run('salt-key', ['-y', '-d', 'web1'])).code).toBe(0);
    await eventually('it is gone on the other', () => !existsSync(key(m2, 'minions', 'web1')));
  });

  it('do not let a master in that has another key', async () => {
    const stranger = await masters
      .add((master) => rmSync(key(master, '', 'master.pem')))
      .catch((error: unknown) => error);
    expect(String(stranger)).toContain('has another key than the cluster test');
  });
});
