import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../../base/codec/value.ts';
import { testFolder, testOpts } from '../testing.ts';
import { mastersForCommand } from './choice.ts';
import { checkMasterType, listedTwice, lostLast, mastersInOrder, nameOf } from './order.ts';

const list = ['a', 'b:1', 'c', 'a:4506'];
function opts(more: Record<string, Value>) {
  const folder = testFolder();
  try {
    return testOpts(folder.path, newDict(Object.entries({ master: list, ...more })));
  } finally {
    folder.remove();
  }
}
const order = (more: Record<string, Value>, random?: () => number): string[] =>
  mastersInOrder(opts(more), list, random).map(nameOf);
const plain = ['a:4506', 'b:1', 'c:4506'];

describe('the order of masters', () => {
  it('is that of the configuration, each once', () => {
    for (const type of ['str', 'standard', 'failover']) expect(order({ master_type: type })).toEqual(plain);
    expect(listedTwice(opts({}), list)).toEqual(['a:4506']);
  });

  it('is random where that is asked for, and with failback the first one stays', () => {
    const last = () => 0;
    expect(order({ master_type: 'failover', random_master: true }, last)).toEqual(['b:1', 'c:4506', 'a:4506']);
    expect(order({ master_type: 'failover', master_shuffle: true }, last)).toEqual(['b:1', 'c:4506', 'a:4506']);
    const back = { master_type: 'failover', random_master: true, master_failback: true };
    expect(order(back, last)).toEqual(['a:4506', 'c:4506', 'b:1']);
    expect(order({ master_type: 'str', random_master: true }, last)).toEqual(plain);
  });

  it('starts with the master that the id selects', () => {
    for (const id of ['m1', 'web.example', 'ünï']) {
      const first = crc32(Buffer.from(id)) % 3;
      expect(order({ master_type: 'distributed', id })).toEqual([...plain.slice(first), ...plain.slice(0, first)]);
    }
  });

  it('has a lost master last', () => {
    const addresses = mastersInOrder(opts({}), list);
    expect(lostLast(addresses, 'a:4506').map(nameOf)).toEqual(['b:1', 'c:4506', 'a:4506']);
    expect(lostLast(addresses, undefined)).toEqual(addresses);
  });

  it('refuses an unknown type', () => {
    expect(() => checkMasterType({ master_type: 'hot' })).toThrow('"hot" is not known');
  });
});

describe('the masters of a command', () => {
  const evaluate = async (): Promise<Value> => ['x', 'y:7'];
  const names = async (more: Record<string, Value>) =>
    (await mastersForCommand({ opts: opts(more), evaluate })).map(nameOf);

  it('are shuffled by random_master, also where the minion uses all of them', async () => {
    const seen = new Set<string>();
    for (let n = 0; n < 200; n++) seen.add((await names({ random_master: true })).join());
    expect(seen.size).toBe(6);
    expect(await names({})).toEqual(plain);
  });

  it('are those that the function returns', async () => {
    expect(await names({ master: 'mod.fun', master_type: 'func' })).toEqual(['x:4506', 'y:7']);
    const nothing = mastersForCommand({
      opts: opts({ master: 'mod.fun', master_type: 'func' }),
      evaluate: async () => null,
    });
    await expect(nothing).rejects.toThrow('mod.fun returned no address');
  });
});
