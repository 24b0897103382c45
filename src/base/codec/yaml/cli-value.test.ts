// Command-line values against facts recorded from real Salt.
import { describe, expect, it } from 'vitest';
import { newDict } from '../value.ts';
import { conditionInput, parseCliYaml, parseInput } from './cli-value.ts';
import { type Encoded, encodeValue, readFixture } from './testing.ts';

interface InputFact {
  readonly input: string[];
  readonly noParse?: string[] | undefined;
  readonly args: Encoded;
  readonly kwargs: Encoded;
  readonly conditioned: Encoded;
}

const facts = readFixture<{ values: [string, Encoded][]; inputs: InputFact[] }>('cli-values.json');

describe('parseCliYaml', () => {
  it('gives what Salt gives for hundreds of texts', () => {
    expect(facts.values.length).toBeGreaterThan(400);
    const got = facts.values.map(([text]) => [text, encodeValue(parseCliYaml(text))]);
    expect(got).toEqual(facts.values);
  });

  it.each([
    ['0123', 123],
    ['1_000', '1_000'],
    ['a: b', 'a: b'],
    ['foo #bar', 'foo #bar'],
    [' x ', 'x'],
    ['None', null],
    ['2001-01-01', '2001-01-01'],
    ['{a', '{a'],
    ['[&a [*a]]', '[&a [*a]]'],
  ])('%j gives %j', (text, value) => {
    expect(parseCliYaml(text)).toEqual(value);
  });
});

describe('parseInput', () => {
  it('separates keyword arguments as Salt does', () => {
    for (const { input, noParse, ...expected } of facts.inputs) {
      const parsed = parseInput(input, { noParse, condition: false });
      const got = {
        args: encodeValue(parsed.args),
        kwargs: encodeValue(parsed.kwargs),
        conditioned: encodeValue(conditionInput(parseInput(input, { noParse }))),
      };
      expect({ input, ...got }).toEqual({ input, ...expected });
    }
    expect(facts.inputs.length).toBeGreaterThan(100);
  });

  it('does not convert job ids without conditioning', () => {
    expect(parseInput(['20240101000000000000'], { condition: false }).args).toEqual([20240101000000000000n]);
    expect(parseInput(['20240101000000000000']).args).toEqual(['20240101000000000000']);
  });

  it('accepts marked dicts as keyword arguments and drops a false mark', () => {
    const marked = newDict([
      ['__kwarg__', true],
      ['a', 1],
    ]);
    const unmarked = newDict([
      ['__kwarg__', false],
      ['b', 2],
    ]);
    const input = parseInput(['x=1', marked, unmarked, new Map([[1, 'c']]), 7]);
    expect(input).toEqual({ args: [{ b: 2 }, new Map([[1, 'c']]), 7], kwargs: { x: 1, a: 1 } });
  });

  it('keeps __proto__ an ordinary name', () => {
    const { kwargs } = parseInput(['__proto__={a: 1}']);
    expect(Object.keys(kwargs)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(kwargs)).toBeNull();
  });
});
