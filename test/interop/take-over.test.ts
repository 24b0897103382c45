// A master's folder is used by Salt, then by Halite, then by Salt again, without touching a key.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Deployment, halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';

describe('take-over', () => {
  it('a Halite master serves the minions of a Salt master unchanged, and Salt can take over again', async () => {
    const salt = saltRelease('3006.27');
    const fleet = await Deployment.create({ master: salt });
    try {
      await fleet.startMaster();
      fleet.startMinion('m1', salt);
      await fleet.answering('m1');
      const keyBefore = readFileSync(join(fleet.masterConfigDir, 'pki/master/master.pem'), 'utf8');
      const accepted = readFileSync(join(fleet.masterConfigDir, 'pki/master/minions/m1'), 'utf8');
      await fleet.master.dispose();
      await fleet.startMaster(halite);
      await fleet.answering('m1');
      expect(readFileSync(join(fleet.masterConfigDir, 'pki/master/master.pem'), 'utf8')).toBe(keyBefore);
      expect(readFileSync(join(fleet.masterConfigDir, 'pki/master/minions/m1'), 'utf8')).toBe(accepted);
      await fleet.master.stop();
      await fleet.startMaster(salt);
      await fleet.answering('m1');
      await eventually('the minion to stay', () => fleet.minion('m1').running);
    } finally {
      await fleet.destroy();
    }
  });
});
