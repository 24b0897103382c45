import { expect, it } from 'vitest';
import { checks } from './doctor-masters.ts';

const two = ['10.0.0.1', '10.0.0.2:4506'];
const found = (settings: object, signs = false): string[] =>
  checks.filter(({ applies }) => applies(settings, signs)).map(({ what }) => what);

it('compares whether keys are signed', () => {
  expect(found({ verify_master_pubkey_sign: true })).toEqual([expect.stringMatching(/this master does not sign/)]);
  expect(found({ verify_master_pubkey_sign: false }, true)).toEqual([expect.stringMatching(/does not expect that/)]);
  expect([found({ verify_master_pubkey_sign: true }, true), found({ verify_master_pubkey_sign: false })]).toEqual([
    [],
    [],
  ]);
});

it.each([
  ['one master', { master: 'salt', master_type: 'str', master_alive_interval: 30 }, []],
  ['two, as recommended', { master: two, master_type: 'str', cache_jobs: true, retry_dns: 30 }, []],
  [
    'two, checked',
    { master: two, master_type: 'str', cache_jobs: true, master_alive_interval: 30 },
    [/the whole minion ends/],
  ],
  ['failover without a check', { master: two, master_type: 'failover', cache_jobs: true }, [/never changes masters/]],
  ['failover', { master: two, master_type: 'failover', cache_jobs: true, master_alive_interval: 5 }, []],
  ['no copies', { master: two, master_type: 'str', cache_jobs: false }, [/keeps no copies/]],
  ['names', { master: ['m1', '[2001:db8::1]:4506'], cache_jobs: true, retry_dns: 30 }, [/makes it deaf/]],
  ['names without waiting', { master: ['m1', 'm2'], cache_jobs: true, retry_dns: 0 }, []],
  ['distributed', { master: two, master_type: 'distributed', cache_jobs: true }, [/fails in every release/]],
  ['nothing', {}, []],
])('%s', (_name, settings, wanted) => {
  expect(found(settings)).toEqual(wanted.map((what) => expect.stringMatching(what)));
});
