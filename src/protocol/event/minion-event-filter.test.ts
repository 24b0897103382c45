// Which events minions may fire and which not.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minionMayFire } from './minion-event-filter.ts';

describe('minionMayFire', () => {
  it.each([
    'salt/job/20240101000000000000/new',
    'salt/job/20240101000000000000/publish',
    'salt/job/20240101000000000000/return',
    'salt/job/20240101000000000000/ret/other',
    'salt/job/20240101000000000000/ret/other/ret/web1',
    'salt/job/x/ret/web1/more',
    'salt/key',
    'salt/auth',
    'salt/presence/change',
    'salt/cloud/x/created',
    'salt/run/20240101000000000000/ret',
    'salt/cluster/join',
    'salt/wheel/20240101000000000000/ret',
    'key',
    'halite/error',
    '20240101000000000000',
    '',
    'a\0b',
    'x'.repeat(5000),
    'salt/minion/other/start',
    'salt/minion',
    'salt/beacon/other/load/',
    'salt/state_result/other/x',
    'salt/syndic/other/start',
    'salt/job/20240101000000000000/prog/other/3',
    'salt/job/20240101000000000000/returner/other',
    'salt/job/20240101000000000000/returner/web1/ret/other',
    'salt/job/20240101000000000000/x/ret/web1',
    'salt/job/20240101000000000000/error',
    'salt/auth/creds',
    'salt/auth/',
    'salt//auth',
    '/salt/auth',
    ' salt/auth',
    'SALT/AUTH',
    'salt//minion/web1/start',
    'Salt/minion/web1/start',
    'salt/run',
    'salt/netapi/hook/deploy',
    'salt/fileserver/roots/update',
    'syndic/other/salt/key',
    'minion/refresh/other',
    'a\nb',
    'a\u2028b',
    'a\u0085b',
  ])('refuses %s', (tag) => expect(minionMayFire(tag, 'web1')).toBe(false));

  it.each([
    'minion_start',
    'salt/minion/web1/start',
    'salt/beacon/web1/load/',
    'salt/job/20240101000000000000/ret/web1',
    'salt/job/20240101000000000000/prog/web1/3',
    'salt/job/20240101000000000000/returner/web1',
    'myapp/deploy/done',
    'syndic/web1/salt/job/20240101000000000000/ret/lower',
    'syndic/web1/salt/key',
    'keyboard',
    'salt/state_result/web1/restarted',
    'salt/engines/hook/deploy',
    'minion/refresh/web1',
    '_salt_error',
    'minion/other/thing',
    'über/straße',
  ])('lets %s pass', (tag) => expect(minionMayFire(tag, 'web1')).toBe(true));

  it('lets a syndic name the minions below it, but never fire their returns', () => {
    const below = { speaksFor: (name: string) => name === 'lower', isMinion: () => false };
    expect(minionMayFire('salt/minion/lower/start', 'syndic1', below)).toBe(true);
    expect(minionMayFire('salt/beacon/lower/load/', 'syndic1', below)).toBe(true);
    expect(minionMayFire('salt/minion/web1/start', 'syndic1', below)).toBe(false);
    expect(minionMayFire('salt/job/20240101000000000000/ret/lower', 'syndic1', below)).toBe(false);
  });

  it('refuses tags in the form of Salt that name another minion, and allows custom tags', () => {
    const fleet = { speaksFor: () => false, isMinion: (name: string) => name === 'web2' };
    const refused = ['minion/web2/start', 'beacon/web2/load/', 'job/20240101000000000000/ret/web2', 'Job/x/ret/web2'];
    for (const tag of refused) expect(minionMayFire(tag, 'web1', fleet)).toBe(false);
    for (const tag of ['minion/web1/start', 'minion/web3/start', 'myapp/web2/down', 'job/done', 'jobs/web2'])
      expect(minionMayFire(tag, 'web1', fleet)).toBe(true);
  });

  it('never throws, and always refuses a return of another minion', () => {
    const part = fc.oneof(fc.constantFrom('salt', 'job', 'ret', 'web1', 'web2', '', '*'), fc.string());
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const tag = parts.join('/');
        const passes = minionMayFire(tag, 'web1');
        if (/^salt\/job\/.*\/ret\/web2/s.test(tag)) expect(passes).toBe(false);
      }),
    );
  });
});
