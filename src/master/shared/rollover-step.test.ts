import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { identityOf, newIdentityPem } from '../../engine/cluster/identity.ts';
import { slotKey, slotValue } from '../../engine/cluster/slots.ts';
import { openKeys, readStep, sealKeys, stepValue } from './rollover-step.ts';
import { Fabric } from './testing.ts';

const keys = { presented: 'a private key', other: 'another one' };
const record = {
  ...{ phase: 'announced' as const, from: 'aa', to: 'bb', statement: 'text', announced: 1, at: 0, graceMs: 5 },
  ...{ switched: 0, until: 0 },
};

describe('the keys of a step', () => {
  it('can be opened by each member that is not forgotten, and by nobody else', async () => {
    const reg = new Fabric().registry.bucket<Value>('reg');
    const [member, forgotten, stranger] = [0, 1, 2].map(() => identityOf(newIdentityPem()));
    const hex = (of: typeof member): string => Buffer.from(of!.publicKey).toString('hex');
    await reg.create(slotKey(0), slotValue({ id: 'm1', identity: 'x', key: hex(member), at: 1 }));
    await reg.create(slotKey(1), slotValue({ id: 'm2', identity: 'y', key: hex(forgotten), at: 1, freeAt: 2 }));
    await reg.create(slotKey(2), slotValue({ id: 'm3', identity: 'z', key: '', at: 1 }));
    const sealed = await sealKeys('prod', reg, keys);
    expect([...sealed.keys()]).toEqual([0]);
    expect(openKeys('prod', sealed.get(0), member)).toEqual(keys);
    for (const other of [forgotten, stranger, undefined])
      expect(openKeys('prod', sealed.get(0), other)).toBeUndefined();
    // Neither in the place of another cluster's keys, nor changed.
    expect(openKeys('other', sealed.get(0), member)).toBeUndefined();
    const changed = Buffer.from(sealed.get(0)!);
    changed[40]! ^= 1;
    expect(openKeys('prod', changed, member)).toBeUndefined();
    expect(Buffer.from(sealed.get(0)!).includes('private key')).toBe(false);
  });

  it('is read with care', () => {
    const step = { number: 3, record, presented: 'aa', sealed: new Map([[4, Buffer.from('x')]]) };
    expect(readStep(stepValue(step))).toEqual(step);
    expect(readStep(stepValue({ ...step, record: undefined }))?.record).toBeUndefined();
    const fields = (...changes: [string, Value][]): Value => newDict([...Object.entries(stepValue(step)), ...changes]);
    for (const wrong of [
      ...[null, 3, 'text', [], newDict()],
      ...[fields(['number', 0]), fields(['number', '3']), fields(['presented', 5]), fields(['record', newDict()])],
    ])
      expect(readStep(wrong as Value)).toBeUndefined();
    const odd = readStep(
      fields([
        'sealed',
        newDict([
          ['1', 'text'],
          ['2', Buffer.alloc(100_000)],
        ]),
      ]),
    );
    expect(odd?.sealed.size).toBe(0);
  });
});
