// Proxy minions across implementations: ours at real masters, real ones at ours.
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Deployment, halite } from '../support/deployment.ts';
import { type SaltVersion, saltRelease, saltVersions } from '../support/salt-release.ts';

const versions: readonly SaltVersion[] =
  process.env['HALITE_ALL_PAIRINGS'] === '1' ? saltVersions : ['3006.27', '3008.2'];

/** Dummies for all ids that begin with `p`, and a holder of two more. */
function writePillar(fleet: Deployment): void {
  writeFileSync(fleet.path('srv/pillar/top.sls'), "base:\n  'p*': [dummy]\n  holder: [holder]\n");
  writeFileSync(fleet.path('srv/pillar/dummy.sls'), 'proxy: {proxytype: dummy}\n');
  writeFileSync(fleet.path('srv/pillar/holder.sls'), 'proxy: {proxytype: deltaproxy, ids: [p3, p4]}\n');
}

describe.each(versions)('Halite proxies at a master of Salt %s', (version) => {
  it('start, answer by their device, share a key, and as deltaproxy get lists', async () => {
    const fleet = await Deployment.create({ master: saltRelease(version), masterConfig: 'zmq_filtering: True' });
    try {
      writePillar(fleet);
      await fleet.startMaster();
      fleet.startProxy('p1', halite, 'zmq_filtering: True');
      await fleet.answering('p1');
      fleet.startProxy('p2', halite, 'zmq_filtering: True');
      fleet.startProxy('holder', halite, 'zmq_filtering: True\nmetaproxy: deltaproxy', 'delta');
      await fleet.answering('p2', 'p3', 'p4');
      const listed = await fleet.json('-L', 'p1,p2,p3,p4', 'pkg.version', 'apache', '-t', '20');
      expect(listed).toEqual({ p1: '2.4', p2: '2.4', p3: '2.4', p4: '2.4' });
      expect(await fleet.json('p1', 'service.status', 'samba', '-t', '20')).toEqual({ p1: false });
      expect(await fleet.json('-G', 'dummy_grain_1:one', 'test.ping', '-t', '20')).toMatchObject({
        p1: true,
        p3: true,
      });
      expect((await fleet.salt('p3', 'state.single', 'test.nop', 'x', '-t', '20')).stdout).toContain('Succeeded: 1');
    } finally {
      await fleet.destroy();
    }
  });
});

describe.each(versions)('proxies of Salt %s at a Halite master', (version) => {
  it('start and answer by their device, two with one key', async () => {
    const fleet = await Deployment.create();
    try {
      writePillar(fleet);
      await fleet.startMaster();
      fleet.startProxy('p1', saltRelease(version));
      await fleet.answering('p1');
      fleet.startProxy('p2', saltRelease(version));
      await fleet.answering('p2');
      const both = (...args: string[]) => fleet.json('-L', 'p1,p2', ...args, '-t', '30');
      const each = (value: unknown): object => ({ p1: value, p2: value });
      expect(await both('test.ping')).toEqual(each(true));
      expect(await both('grains.item', 'id', 'os')).toMatchObject({ p1: { id: 'p1' }, p2: { id: 'p2' } });
      const state = await fleet.salt('p*', 'state.single', 'test.nop', 'x', '-t', '30');
      expect(state.stdout.match(/Succeeded: 1/g)).toHaveLength(2);
      // The newest release has the type, but no modules for it.
      if (version === '3006.27') {
        expect(await both('pkg.version', 'apache')).toEqual(each('2.4'));
        expect(await both('service.status', 'apache')).toEqual(each(true));
        expect(await fleet.json('p1', 'pkg.install', 'tool', 'version=3.1.4', '-t', '30')).toMatchObject({ p1: {} });
        expect(await both('pkg.list_pkgs')).toMatchObject({
          p1: { tool: '3.1.4', apache: '2.4' },
          p2: { apache: '2.4' },
        });
      }
      const [one, two] = ['p1', 'p2'].map((id) => readFileSync(fleet.path(`etc/pki/master/minions/${id}`), 'utf8'));
      expect(one).toBe(two);
    } finally {
      await fleet.destroy();
    }
  });
});
