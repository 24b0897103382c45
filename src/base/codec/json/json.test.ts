// JSON against texts written by Python's json module, and round trips.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newDict, PyFloat, type Value } from '../value.ts';
import { dumpJson, loadJson } from './index.ts';

interface Recorded {
  plain: string;
  indented: string;
  sorted: string;
  unicode: string;
}
const recorded = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/python-text/json.json', import.meta.url), 'utf8'),
) as Recorded[];

describe('dumpJson', () => {
  it('writes what json.dumps writes, in four styles', () => {
    expect(recorded.length).toBeGreaterThan(100);
    for (const sample of recorded) {
      const value = loadJson(sample.plain);
      expect(dumpJson(value)).toBe(sample.plain);
      expect(dumpJson(value, { indent: 4 })).toBe(sample.indented);
      expect(dumpJson(value, { sortKeys: true })).toBe(sample.sorted);
      expect(dumpJson(value, { ensureAscii: false })).toBe(sample.unicode);
    }
  });

  it('converts keys and foreign values as Python and Salt do', () => {
    const map = new Map<Value, Value>([
      [1, 'a'],
      [null, 'b'],
      [true, 'c'],
      [new PyFloat(2), 'd'],
      [['x', 1], 'e'],
    ]);
    expect(dumpJson(map)).toBe(`{"1": "a", "null": "b", "true": "c", "2.0": "d", "('x', 1)": "e"}`);
    expect(dumpJson([Buffer.from('a'), new Date(0)])).toBe(`["b'a'", "datetime.datetime(1970, 1, 1, 0, 0)"]`);
    expect(dumpJson([1n << 70n, Number.NaN, Number.NEGATIVE_INFINITY])).toBe(
      '[1180591620717411303424, NaN, -Infinity]',
    );
    expect(dumpJson([[], newDict()], { indent: 2 })).toBe('[\n  [],\n  {}\n]');
  });
});

describe('loadJson', () => {
  it('agrees with JSON.parse on everything that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const back = loadJson(JSON.stringify(value), { keepFloats: false });
        expect(JSON.parse(dumpJson(back))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('keeps integers, floats, order and unusual names', () => {
    expect(loadJson('[9007199254740993, -9007199254740993, 1.0, 1e2, 0.5, -0, NaN, -Infinity]')).toEqual([
      9007199254740993n,
      -9007199254740993n,
      new PyFloat(1),
      new PyFloat(100),
      0.5,
      0,
      Number.NaN,
      Number.NEGATIVE_INFINITY,
    ]);
    expect([...(loadJson('{"b": 1, "10": 2, "a": 3}') as Map<Value, Value>).keys()]).toEqual(['b', '10', 'a']);
    expect(Object.keys(loadJson('{"__proto__": {"x": 1}}') as object)).toEqual(['__proto__']);
    expect(loadJson('"\\ud83d\\ude00\\n\\/"')).toBe('😀\n/');
  });

  it('names the place of an error', () => {
    const wrong = [
      '',
      '{',
      '[1,]',
      '{"a":1,}',
      '{a: 1}',
      '"a\nb"',
      '"\\x"',
      '1 2',
      '01',
      'nul',
      '[1 2]',
      '"abc',
      '{"a" 1}',
    ];
    for (const text of wrong) expect(() => loadJson(text), text).toThrow(/Not valid JSON: .* at line \d+, column \d+/);
    expect(() => loadJson('[1,\n  x]')).toThrow('line 2, column 3');
    expect(() => loadJson('['.repeat(1000))).toThrow(/nested deeper/);
  });
});
