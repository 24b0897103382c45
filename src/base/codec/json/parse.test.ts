import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dumpJson, loadJson } from './index.ts';
import { parseValue } from './parse.ts';

describe('parseValue', () => {
  it('gives the same as loadJson', () => {
    const numbers = ['1', '-5', '1.0', '1e5', '12345678901234567890', 'NaN', '-Infinity', '0.1'];
    const text = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('true', 'false', 'null', ...numbers),
        fc.string().map((each) => JSON.stringify(each)),
        fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
        fc
          .array(fc.tuple(fc.oneof(fc.string(), fc.constantFrom('1', '10', '__proto__', 'a', '-3')), tie('value')), {
            maxLength: 4,
          })
          .map((pairs) => `{${pairs.map(([key, value]) => `${JSON.stringify(key)}: ${value}`).join(', ')}}`),
      ),
    })).value;
    fc.assert(
      fc.property(text, (each) => {
        expect(dumpJson(parseValue(each))).toBe(dumpJson(loadJson(each)));
      }),
      { numRuns: 2000 },
    );
  });

  it('gives objects without a prototype at every level', () => {
    const value = parseValue('{"a": [{"b": {}}]}') as { a: { b: object }[] };
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.getPrototypeOf(value.a[0]!.b)).toBeNull();
  });
});
