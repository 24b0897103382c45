import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../../base/codec/value.ts';
import { type Cell, pageOfRows, readPage } from './page.ts';

const cols = ['id', 'n', 'tags'];
const rows: Cell[][] = [
  ['b', 2, ['web']],
  ['a', null, []],
  ['c', 10, ['db', 'web']],
];
const page = (args: Record<string, Value>): unknown => {
  const { total, rows: found } = pageOfRows(cols, rows, readPage(newDict(Object.entries(args))));
  return [total, (found as Value[][]).map(([id]) => id)];
};

describe('a page', () => {
  it('is sorted as numbers and texts, with empty cells last in both directions', () => {
    expect(page({})).toEqual([3, ['a', 'b', 'c']]);
    expect(page({ sort: 'n' })).toEqual([3, ['b', 'c', 'a']]);
    expect(page({ sort: '-n' })).toEqual([3, ['c', 'b', 'a']]);
    expect(() => page({ sort: 'x' })).toThrow("There is no column 'x'");
  });

  it('has the rows with all words, cut to the window', () => {
    expect(page({ q: 'WEB d' })).toEqual([1, ['c']]);
    expect(page({ offset: 1, limit: 1 })).toEqual([3, ['b']]);
    expect(page({ offset: 1e12, limit: -5 })).toEqual([3, []]);
    expect(page({ offset: 'x', limit: Number.NaN })).toEqual([3, ['a', 'b', 'c']]);
    expect(() => page({ q: 'x'.repeat(1_001) })).toThrow('1000');
  });
});
