// Globs, expressions, paths and merges against results recorded from Python and real Salt.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Tagged, untag } from '../codec/python/tagged.ts';
import { type Dict, dictKeys, isDict, newDict, type Value } from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';
import { Budget, CostError } from './budget.ts';
import { type MergeStrategy, mergeDicts } from './deep-merge.ts';
import { traverse } from './dict-path.ts';
import { generalMatcher, globMatcher, hasGlob, matchesGlob } from './fnmatch.ts';
import { pyDictGet, pyEquals } from './py-equals.ts';
import { pyRegex, pyRegexFull, pyRegexSearch } from './pyregex.ts';
import { subdictMatch } from './subdict.ts';

function load<T>(name: string): T {
  const url = new URL(`../../../test/fixtures/python-match/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as T;
}

describe('globs', () => {
  const cases = load<[string, [string, boolean][]][]>('fnmatch');
  it(`agrees with Python on ${cases.length} patterns`, () => {
    expect(cases.length).toBeGreaterThan(600);
    for (const [pattern, names] of cases) {
      for (const [name, expected] of names) {
        expect([pattern, name, matchesGlob(name, pattern)]).toEqual([pattern, name, expected]);
        expect([pattern, name, generalMatcher(pattern)(name)]).toEqual([pattern, name, expected]);
      }
    }
  });

  it('matches a text without special characters only with itself, and stars anywhere', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
        const plain = (text: string) => text.replace(/[*?[]/g, '');
        expect(matchesGlob(plain(a), plain(b))).toBe(plain(a) === plain(b));
        expect(matchesGlob(plain(a) + b + plain(c), `${plain(a)}*${plain(c)}`)).toBe(true);
      }),
    );
  });

  it('matches hostile patterns quickly', () => {
    const pattern = `${'*a'.repeat(200)}*b`;
    expect(matchesGlob('a'.repeat(5000), pattern)).toBe(false);
    expect(globMatcher(pattern)).toBe(globMatcher(pattern));
    expect(matchesGlob('a'.repeat(5000), '['.repeat(20_000))).toBe(false);
    expect(matchesGlob('a', `[${'a-'.repeat(20_000)}]`)).toBe(true);
    expect(matchesGlob('z', `[${'z-a'.repeat(20_000)}]`)).toBe(false);
    expect(() => generalMatcher('*a?b')('a'.repeat(5000), new Budget(100))).toThrow(CostError);
    expect([hasGlob('web-1'), hasGlob('web*')]).toEqual([false, true]);
  });
});

describe('expressions', () => {
  type Groups = (string | null)[] | null;
  const cases = load<[string, [string, Groups, Groups, Groups][] | null][]>('regex');
  const run = (expression: RegExp, text: string): Groups => {
    const found = expression.exec(text);
    return found ? Array.from(found, (group) => group ?? null) : null;
  };
  // Groups are numbered or filled differently here; the matched text is the same.
  const wholeOnly = new Set(['(?>a+)b', 'a++b', 'a*+a', '(x*)*y']);
  // Python refuses a lookbehind of variable width; accepting it is harmless.
  const taken = new Set(['(?<=ab|c)d']);
  it(`agrees with Python on ${cases.length} expressions`, () => {
    for (const [pattern, results] of cases) {
      if (results === null) {
        if (!taken.has(pattern)) expect(() => pyRegex(pattern), pattern).toThrow(HaliteError);
        continue;
      }
      for (const [text, match, search, full] of results) {
        const forms: [RegExp, Groups][] = [
          [pyRegex(pattern), match],
          [pyRegexSearch(pattern), search],
          [pyRegexFull(pattern), full],
        ];
        const cut = (groups: Groups): Groups => (wholeOnly.has(pattern) ? (groups?.slice(0, 1) ?? null) : groups);
        for (const [expression, expected] of forms) {
          expect([pattern, text, cut(run(expression, text))]).toEqual([pattern, text, cut(expected)]);
        }
      }
    }
  });

  it('accepts flags by letter and refuses what it cannot express', () => {
    expect(pyRegex('web', 'i').test('WEB')).toBe(true);
    expect(() => pyRegex('(a)(?(1)b|c)')).toThrow(/conditional/);
    expect(() => pyRegex('('.repeat(500))).toThrow(HaliteError);
    expect(() => pyRegex('a'.repeat(20_000))).toThrow(/too long/);
    expect(pyRegex('a.c')).toBe(pyRegex('a.c'));
  });

  it('never throws anything but HaliteError', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'abA1(){}[]|*+?.^$\\<>=!P:i-#dwsbBZA,2n') }), (pattern) => {
        try {
          pyRegex(pattern).test('ab');
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(HaliteError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a dot that matches any character', () => {
  it.each([
    ['(?s)a.*b', ''],
    ['(?s)a.+?b', ''],
    ['a.{2,}b', 's'],
    ['a.*b$', 'sm'],
  ])('%s with flags %j crosses lines', (pattern, flags) => {
    expect(pyRegexSearch(pattern, flags).test('a\n\nb')).toBe(true);
    expect(pyRegexSearch(pattern, flags).test('a--b')).toBe(true);
    expect(pyRegexSearch(pattern, flags).test('b--a')).toBe(false);
  });
});

describe('paths', () => {
  const cases = load<[Tagged, [string, string, Tagged, boolean, boolean, boolean][]][]>('subdict');
  it('finds what traverse_dict_and_list finds', () => {
    for (const [data, rows] of cases) {
      for (const [path, delimiter, expected] of rows) {
        const found = traverse(untag(data), path, delimiter) ?? '$none';
        expect([path, found]).toEqual([path, untag(expected) ?? '$none']);
      }
    }
  });

  it('matches what subdict_match matches', () => {
    let hits = 0;
    for (const [data, rows] of cases) {
      const value = untag(data);
      for (const [expression, delimiter, , glob, regex, exact] of rows) {
        const seen = [
          subdictMatch(value, expression, { delimiter }),
          subdictMatch(value, expression, { delimiter, regex: true }),
          subdictMatch(value, expression, { delimiter, exact: true }),
        ];
        expect([data, expression, delimiter, ...seen]).toEqual([data, expression, delimiter, glob, regex, exact]);
        hits += Number(glob);
      }
    }
    expect(hits).toBeGreaterThan(250);
  });

  it('traverses lists and numeric keys, and nothing else', () => {
    const data = newDict([
      ['ports', new Map<Value, Value>([[80, 'http']])],
      ['list', [newDict([['name', 'x']]), 'second']],
    ]);
    expect(traverse(data, 'ports:80')).toBe('http');
    expect(traverse(data, 'list:name')).toBe('x');
    expect(traverse(data, 'list:-1')).toBe('second');
    expect(traverse(data, ['list', 1])).toBe('second');
    expect(traverse(data, 'list:name:0')).toBeUndefined();
    expect(traverse(data, '__proto__:toString')).toBeUndefined();
    expect(traverse(data, 'constructor')).toBeUndefined();
  });
});

describe('merging', () => {
  const cases = load<[Tagged, Tagged, ...[MergeStrategy, boolean, Tagged][]][]>('merge');
  /** Python dicts compare without order; here the order counts too. */
  const orderOf = (value: Value): Value => {
    if (Array.isArray(value)) return value.map(orderOf);
    if (!isDict(value)) return null;
    return dictKeys(value).map((key): Value => [key, orderOf(pyDictGet(value, key) ?? null)]);
  };

  it('gives the same as dictupdate.merge, for all strategies', () => {
    for (const [a, b, ...results] of cases) {
      for (const [strategy, mergeLists, expected] of results) {
        const base = untag(a) as Dict;
        const over = untag(b) as Dict;
        const merged = mergeDicts(base, over, { strategy, mergeLists });
        const wanted = untag(expected);
        expect([strategy, a, b, pyEquals(merged, wanted)]).toEqual([strategy, a, b, true]);
        expect(orderOf(merged)).toEqual(orderOf(wanted));
        expect(base).toEqual(untag(a));
        expect(over).toEqual(untag(b));
      }
    }
  });

  it('lets smart follow the renderer', () => {
    const base = newDict([['a', newDict([['x', 1]])]]);
    const over = newDict([['a', newDict([['y', 2]])]]);
    expect(mergeDicts(base, over)).toEqual({ a: { x: 1, y: 2 } });
    expect(mergeDicts(base, over, { renderer: 'jinja|yamlex' })).toEqual({ a: { y: 2 } });
  });
});
