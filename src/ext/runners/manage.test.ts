// The runner manage with a simulated fleet.

import { dictOf, HaliteError, type MasterContext, type Value } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import manage from './manage.ts';

const fleet = ['db1', 'web1', 'web2'];

function call(name: string, args: Record<string, Value>, outcome?: object): Promise<unknown> {
  const master = {
    runJob: async () => {
      if (!outcome) throw new HaliteError('target.empty', 'No minions matched the target.');
      return outcome;
    },
    fleet: {
      all: () => fleet.map((id) => ({ id, connected: id === 'db1' ? 'no' : 'yes' })),
      status: (id: string) => ({ id, address: `10.0.0.${fleet.indexOf(id)}:4711` }),
      grains: async () => dictOf([]),
    },
  };
  const given = { tgt: '*', tgt_type: 'glob', timeout: null, subset: null, show_ip: false, ...args };
  return Promise.resolve(
    manage.functions[name as 'present']!.run(given as never, { master, opts: {} } as unknown as MasterContext),
  );
}

describe('manage', () => {
  it('answers an empty target with an empty list, as Salt does', async () => {
    expect(await call('status', {})).toEqual({ up: [], down: [] });
    expect(await call('up', {})).toEqual([]);
    expect(await call('versions', {})).toEqual({ Master: '3006.27' });
  });

  it('returns False for minions without a version', async () => {
    const returns = {
      web1: { ret: '3006.27', retcode: 0, success: true },
      web2: { ret: 'no', retcode: 1, success: false },
    };
    const outcome = { jid: '', minions: fleet, returns, missing: { db1: 'away' } };
    expect(await call('versions', {}, outcome)).toEqual({
      'Up to date': { web1: '3006.27' },
      'Minion offline': { db1: false, web2: false },
      Master: '3006.27',
    });
  });

  it('checks only a subset, and returns addresses only of connected minions', async () => {
    expect(await call('present', { subset: ['web2', 'db1'] })).toEqual(['web2']);
    expect(await call('present', { subset: 'web1,web2' })).toEqual(['web1', 'web2']);
    expect(await call('present', { show_ip: true })).toEqual({ web1: '10.0.0.1', web2: '10.0.0.2' });
    expect(await call('not_present', { show_ip: true })).toEqual(['db1']);
    expect(await call('not_present', { subset: ['web1'] })).toEqual([]);
  });
});
