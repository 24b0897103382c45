// The syndic of an old release below a Halite master: a master, a syndic and a minion of that release.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { oldPeers } from '../support/old-fleet.ts';

for (const { version, implementation } of oldPeers(['2019.2.8']))
  describe.skipIf(!implementation)(`a syndic of Salt ${version}`, () => {
    let top: Deployment;
    let low: Deployment;

    beforeAll(async () => {
      if (!implementation) return;
      // The lists of this release come with its next events, half a second apart.
      const masterConfig = 'order_masters: True\nmaster_id: top\nsyndic_wait: 10\nminimum_auth_version: 0';
      top = await Deployment.create({ masterConfig });
      low = await Deployment.create({ master: implementation });
      await Promise.all([top.startMaster(), low.startMaster()]);
      top.startMinion('top1');
      low.startMinion('low1', implementation);
      await Promise.all([top.answering('top1'), low.answering('low1')]);
      await low.startSyndic('synd', [top], implementation);
    });
    afterAll(async () => {
      await low?.destroy();
      await top?.destroy();
    });

    it('takes jobs down and brings results up', async () => {
      let seen = '';
      await eventually(
        'both levels to answer',
        async () => {
          seen = JSON.stringify(await top.json('*', 'test.ping', '-t', '20').catch(() => ({})));
          return seen.includes('"low1":true') && seen.includes('"top1":true');
        },
        { timeoutMs: 120_000, describe: () => [seen, low.syndic.output().slice(-2000)].join('\n') },
      );
      expect(await top.json('low1', 'test.echo', 'x', '-t', '20')).toEqual({ low1: 'x' });
    });
  });
