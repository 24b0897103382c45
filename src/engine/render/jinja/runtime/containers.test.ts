// Dicts, sets, slices, sorting and text: Python's rules against simple models.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitLines } from '../../../../base/util/pytext.ts';
import { eq } from './compare.ts';
import { PyDict } from './dict.ts';
import { repr } from './print.ts';
import { PyTuple } from './sequence.ts';
import { PySet } from './set.ts';
import { slice } from './slice.ts';
import { sorted } from './sort.ts';
import { compareText, pyLength } from './text.ts';
import { PyFloat, type PyValue } from './value.ts';

describe('dict', () => {
  it('keeps the first spelling of equal keys and the last value', () => {
    const dict = PyDict.from([
      [1, 'a'],
      [true, 'b'],
      [new PyFloat(1), 'c'],
      ['1', 'd'],
      [new PyTuple([1, 'x']), 'e'],
      [new PyTuple([true, 'x']), 'f'],
    ]);
    expect(repr(dict)).toBe("{1: 'c', '1': 'd', (1, 'x'): 'f'}");
  });

  it('distinguishes tuples from texts that look like their internal keys', () => {
    const dict = PyDict.from([
      [new PyTuple(['a']), 1],
      ['\0t1s1:a', 2],
    ]);
    expect(dict.size).toBe(2);
  });

  it('behaves like a Map for text keys, in insertion order', () => {
    const steps = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.option(fc.integer())));
    fc.assert(
      fc.property(steps, (list) => {
        const dict = new PyDict();
        const model = new Map<string, number>();
        for (const [key, value] of list) {
          if (value === null) expect(dict.delete(key)).toBe(model.delete(key));
          else {
            dict.set(key, value);
            model.set(key, value);
          }
        }
        expect([...dict.entries()]).toEqual([...model]);
      }),
    );
  });

  it('raises when it grows during iteration', () => {
    const dict = PyDict.from([['a', 1]]);
    const source = dict.iterate();
    source.next();
    dict.set('b', 2);
    expect(() => source.next()).toThrow('dictionary changed size during iteration');
  });
});

describe('set', () => {
  it('lists ints in the order of the hash table', () => {
    expect(repr(new PySet([10, 3, 7]))).toBe('{10, 3, 7}');
    expect(repr(new PySet([5, 3, 9, 1]))).toBe('{9, 3, 5, 1}');
    expect(repr(new PySet([]))).toBe('set()');
  });
});

describe('slices', () => {
  const bound = fc.option(fc.integer({ min: -12, max: 12 }));
  it('select what Python selects', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 9 }), bound, bound, bound, (list, from, to, step) => {
        fc.pre(step !== 0);
        const by = step ?? 1;
        const size = list.length;
        const fix = (value: number | null, fallback: number, low: number, high: number): number =>
          value === null ? fallback : Math.min(Math.max(value < 0 ? value + size : value, low), high);
        const wanted: number[] = [];
        if (by > 0) for (let at = fix(from, 0, 0, size); at < fix(to, size, 0, size); at += by) wanted.push(list[at]!);
        else
          for (let at = fix(from, size - 1, -1, size - 1); at > fix(to, -1, -1, size - 1); at += by)
            wanted.push(list[at]!);
        expect(slice(list, from, to, step)).toEqual(wanted);
      }),
    );
  });

  it('count characters, not UTF-16 units', () => {
    expect(slice('a😀b', 1, 2, null)).toBe('😀');
    expect(slice('a😀b', null, null, -1)).toBe('b😀a');
    expect(pyLength('a😀b')).toBe(3);
    expect(compareText('\uffff', '😀')).toBeLessThan(0);
  });
});

describe('sorted', () => {
  it('is stable both ways and ordered', () => {
    const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer()), { maxLength: 150 });
    fc.assert(
      fc.property(pairs, fc.boolean(), (list, reverse) => {
        const items: PyValue[] = list.map((pair) => new PyTuple(pair));
        const first = (item: PyValue): number => (item as PyTuple).items[0] as number;
        const done = sorted(items, first, reverse);
        const model = items
          .map((item, at) => ({ item, at }))
          .sort((a, b) => (reverse ? first(b.item) - first(a.item) : first(a.item) - first(b.item)) || a.at - b.at);
        expect(done).toEqual(model.map(({ item }) => item));
      }),
    );
  });
});

describe('equality', () => {
  it('goes by value across number types and by kind for sequences', () => {
    expect(eq(1, new PyFloat(1))).toBe(true);
    expect(eq(10n ** 20n, 1e20)).toBe(true);
    expect(eq([1], new PyTuple([1]))).toBe(false);
    expect(eq(PyDict.from([['a', [1]]]), PyDict.from([['a', [true]]]))).toBe(true);
    expect(eq(Number.NaN, Number.NaN)).toBe(false);
  });
});

describe('lines', () => {
  it('keep their ends on request', () => {
    expect(splitLines('a\r\nb\vc\u2028', true)).toEqual(['a\r\n', 'b\v', 'c\u2028']);
    fc.assert(fc.property(fc.string(), (text) => splitLines(text, true).join('') === text));
  });
});
