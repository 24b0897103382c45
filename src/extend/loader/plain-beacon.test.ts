// Users' beacons written with Salt's plain functions.
import { describe, expect, it } from 'vitest';
import { newDict } from '../../base/codec/value.ts';
import type { BeaconContext } from '../sdk/index.ts';
import { plainBeacon } from './plain-beacon.ts';

const ctx = { name: 'mine', id: 'm1' } as unknown as BeaconContext;
const settings = newDict([['folder', '/x']]);

describe('a plain beacon', () => {
  it('gets its settings as a list of maps, and its results are read', async () => {
    const closed: unknown[] = [];
    const beacon = plainBeacon(
      'count',
      {
        __virtual__: () => [false, 'not here'],
        __virtualname__: 'counter',
        validate: (config: unknown[]) => [config.length > 1, 'too little'],
        beacon(this: BeaconContext, config: unknown) {
          return [{ tag: 't', config, id: this.id }, 'no map'];
        },
        close: (config: unknown) => void closed.push(config),
      },
      '// Counts.\n',
    );
    expect(beacon).toMatchObject({ kind: 'beacons', name: 'count', virtualName: 'counter', doc: 'Counts.' });
    expect(await beacon?.available?.({ grains: newDict(), opts: {} } as never)).toBe('not here');
    expect(await beacon?.validate?.(settings, ctx)).toBeUndefined();
    expect(await beacon?.validate?.(newDict(), ctx)).toBe('too little');
    const session = await beacon?.open(settings, ctx);
    const config = [{ folder: '/x' }, { _beacon_name: 'mine' }];
    expect(await session?.read()).toEqual([{ tag: 't', config, id: 'm1' }]);
    await session?.close?.();
    expect(closed).toEqual([config]);
  });

  it('needs a function beacon, which must return a list', async () => {
    expect(plainBeacon('x', { validate: () => [true, ''] }, '')).toBeUndefined();
    const session = await plainBeacon('x', { beacon: () => 'text' }, '')?.open(settings, ctx);
    await expect(session?.read()).rejects.toThrow('did not return a list');
  });
});
