// Which grains of a minion are accepted.
import { describe, expect, it } from 'vitest';
import { dictOf, newDict, type Value } from '../../../base/codec/value.ts';
import { acceptGrains } from './minion-grains.ts';

const lists = (depth: number): Value => Array.from({ length: depth }).reduce<Value>((value) => [value], 1);

describe('grains', () => {
  it('are accepted unchanged, with everything that Salt would accept', () => {
    const odd = dictOf([
      [1, 2],
      [null, Number.NaN],
      ['__proto__', newDict([['os', 'x']])],
      ['deep', lists(90)],
      ['many', Array.from({ length: 50_000 }, () => '10.0.0.1')],
      ['bytes', Buffer.from([255])],
    ]);
    expect(acceptGrains(odd)).toEqual({ grains: odd, dropped: [] });
    expect(acceptGrains(odd).grains).toBe(odd);
  });

  it('lose only those that exceed the limits', () => {
    const given = dictOf([
      ['os', 'Debian'],
      ['deep', lists(200)],
      ['big', 'x'.repeat(2_000_000)],
      [[1], 'list'],
      [newDict(), 'map'],
      ['inside', new Map<Value, Value>([[['list'], 1]])],
      ['last', 1],
    ]);
    const { grains, dropped } = acceptGrains(given);
    expect(grains).toEqual({ os: 'Debian', last: 1 });
    expect(dropped).toEqual(['deep', 'big', 'one without a name', 'one without a name', 'inside']);
  });

  it('have a limit in total', () => {
    const many = newDict(Array.from({ length: 10 }, (_, n): [string, Value] => [`g${n}x`, 'x'.repeat(900_000)]));
    expect(acceptGrains(many).dropped).toHaveLength(6);
    const names = newDict(Array.from({ length: 10_005 }, (_, n): [string, Value] => [`g${n}x`, n]));
    expect(acceptGrains(names).dropped).toHaveLength(5);
  });
});
