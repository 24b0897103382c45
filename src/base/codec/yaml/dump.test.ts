// Dumping: options, aliases, order, types without a recorded case; expected texts are those of real Salt.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HaliteError } from '../../errors/index.ts';
import { dictOf, newDict, PyFloat, type Value } from '../value.ts';
import { markOrdered, setOf, tupleOf } from './collections.ts';
import { dumpYaml } from './dump.ts';
import { loadYaml } from './load.ts';
import { encodeValue } from './testing.ts';

const inAllStyles = (value: Value): string[] => [true, false, null].map((flow) => dumpYaml(value, { flow }));

describe('aliases', () => {
  it('replace collections that occur again', () => {
    const dict = newDict([['a', 1]]);
    const list = [1, 2];
    expect(inAllStyles({ m: [dict, [list, dict]], n: list })).toEqual([
      '{m: [&id001 {a: 1}, [&id002 [1, 2], *id001]], n: *id002}\n',
      'm:\n- &id001\n  a: 1\n- - &id002\n    - 1\n    - 2\n  - *id001\nn: *id002\n',
      'm:\n- &id001 {a: 1}\n- - &id002 [1, 2]\n  - *id001\nn: *id002\n',
    ]);
    const tuple = tupleOf([1, 2]);
    expect(inAllStyles(new Map([[tuple, tuple]]))).toEqual([
      '{? &id001 [1, 2] : *id001}\n',
      '? &id001\n- 1\n- 2\n: *id001\n',
      '? &id001 [1, 2]\n: *id001\n',
    ]);
    const empty = tupleOf([]);
    expect(dumpYaml([empty, empty], { flow: true })).toBe('[[], []]\n');
  });

  it('also represent a cycle', () => {
    const circle: Value[] = [];
    circle.push(circle);
    expect(inAllStyles(circle)).toEqual(['&id001 [*id001]\n', '&id001\n- *id001\n', '&id001\n- *id001\n']);
  });
});

describe('order of keys', () => {
  it('is sorted, by code point, unless the dict is ordered or its keys have no common order', () => {
    const inner = { k: 1, c: 2 };
    expect(dumpYaml(markOrdered({ z: 1, m: inner }), { flow: true })).toBe('{z: 1, m: {c: 2, k: 1}}\n');
    expect(dumpYaml({ b: 1, a: inner }, { flow: true, sortKeys: false })).toBe('{b: 1, a: {k: 1, c: 2}}\n');
    expect(dumpYaml({ '\uffee': 1, '😀': 2, Z: 3, a: 4 }, { flow: true })).toBe(
      '{Z: 3, a: 4, ￮: 1, "\\U0001F600": 2}\n',
    );
    const numbers = new Map<Value, Value>([
      [2, 'a'],
      [new PyFloat(1), 'b'],
      [true, 'c'],
      [10n ** 20n, 'd'],
      [0.5, 'e'],
    ]);
    expect(dumpYaml(numbers, { flow: true })).toBe('{0.5: e, 1.0: b, true: c, 2: a, 100000000000000000000: d}\n');
    const mixed = new Map<Value, Value>([
      ['b', 1],
      [1, 2],
      ['a', 3],
    ]);
    expect(dumpYaml(mixed, { flow: true })).toBe('{b: 1, 1: 2, a: 3}\n');
    expect(dumpYaml(loadYaml('b: 1\na: {d: 1, c: 2}', { ordered: true }), { flow: true })).toBe(
      '{b: 1, a: {d: 1, c: 2}}\n',
    );
  });
});

describe('options', () => {
  it('set indentation and width, within what libyaml takes', () => {
    const value = { a: { b: ['some words that go on for a while'] } };
    expect(dumpYaml(value, { flow: false, indent: 4 })).toBe('a:\n    b:\n    - some words that go on for a while\n');
    expect(dumpYaml(value, { flow: false, indent: 20 })).toBe('a:\n  b:\n  - some words that go on for a while\n');
    expect(dumpYaml(value, { flow: false, width: 10 })).toBe(
      'a:\n  b:\n  - some words\n    that go\n    on for a\n    while\n',
    );
    expect(dumpYaml('word '.repeat(50), { width: -1 })).toBe(`'${'word '.repeat(50)}'\n`);
  });

  it('escape letters when asked', () => {
    expect(dumpYaml('é☃', { allowUnicode: false })).toBe('"\\xE9\\u2603"\n');
  });
});

describe('kinds', () => {
  it('are written as Salt writes them', () => {
    const bytes = new Uint8Array(Buffer.from('hello'));
    expect(inAllStyles({ a: bytes })).toEqual([
      '{a: !!binary "aGVsbG8=\\n"}\n',
      'a: !!binary |\n  aGVsbG8=\n',
      'a: !!binary |\n  aGVsbG8=\n',
    ]);
    expect(inAllStyles(setOf(['y', 'x']))).toEqual([
      '!!set {x: null, y: null}\n',
      '!!set\nx: null\ny: null\n',
      '!!set {x: null, y: null}\n',
    ]);
    expect(dumpYaml(tupleOf([1, 'a']), { flow: false })).toBe('- 1\n- a\n');
    const date = new Date(Date.UTC(2001, 1, 3, 4, 5, 6));
    expect(dumpYaml([date], { flow: false })).toBe('- 2001-02-03 04:05:06\n');
    expect(dumpYaml([date], { flow: true })).toBe("[! '2001-02-03 04:05:06']\n");
    expect(dumpYaml(new Date(Date.UTC(2001, 1, 3, 4, 5, 6, 120)))).toBe('2001-02-03 04:05:06.120000\n');
    expect(dumpYaml([-0, new PyFloat(-0), 2 ** 53, 1e22, Number.NaN, -Infinity], { flow: true })).toBe(
      '[0, -0.0, 9007199254740992, 10000000000000000000000, .nan, -.inf]\n',
    );
    expect(dumpYaml(undefined as unknown as Value)).toBe('NULL\n');
  });

  it('are refused when nested deeper than allowed', () => {
    let value: Value = [];
    for (let i = 0; i < 2000; i++) value = [value];
    expect(() => dumpYaml(value)).toThrow('Value is nested deeper than 1000 levels.');
    for (let i = 0; i < 100_000; i++) value = [value];
    expect(() => dumpYaml(value, { maxDepth: 1_000_000 })).toThrow(HaliteError);
  });
});

describe('reading back', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.string({
      unit: fc.constantFrom(
        ...'ab01.-: #\n\t\'"\\[]{},&*!|>%@`?=~_é☃😀',
        '  ',
        '\n\n',
        '- ',
        ': ',
        'a long run of words ',
      ),
      maxLength: 30,
    }),
    fc.constantFrom('yes', 'null', '1', '0x1f', '1.0', '.inf', '=', '<<', '2001-01-01', '12:30', '', '---', '...'),
  );
  const float = fc.double({ noNaN: true }).map((x) => (Number.isInteger(x) ? new PyFloat(x) : x));
  const int = fc.oneof(
    fc.integer(),
    fc.bigInt().filter((x) => !Number.isSafeInteger(Number(x))),
  );
  const bytes = fc.uint8Array({ maxLength: 100 }).map((x) => Uint8Array.from(x));
  const scalar: fc.Arbitrary<Value> = fc.oneof(text, int, float, bytes, fc.boolean(), fc.constant(null));
  const key: fc.Arbitrary<Value> = fc.oneof(
    { weight: 4, arbitrary: text },
    fc.integer({ min: 2, max: 99 }),
    fc.constant(null),
  );
  const { value } = fc.letrec<{ value: Value }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      scalar,
      fc.array(tie('value'), { maxLength: 5 }),
      fc
        .uniqueArray(fc.tuple(key, tie('value')), { selector: ([k]) => `${typeof k}${String(k)}`, maxLength: 5 })
        .map((entries) => dictOf(entries)),
    ),
  }));

  it('is loaded as the same value, in every style', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(true, false, null), fc.boolean(), (before, flow, allowUnicode) => {
        const after = loadYaml(dumpYaml(before, { flow, allowUnicode, sortKeys: false }));
        expect(encodeValue(after)).toEqual(encodeValue(before));
      }),
      { numRuns: 1500 },
    );
  });
});
