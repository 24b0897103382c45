// Printing against 400 values recorded from Python 3.11: repr, str and pprint in two widths.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { newDict, type Value } from '../value.ts';
import { pprintValue, pyRepr, pyStr, reprFloat } from './index.ts';
import { type Tagged, untag } from './tagged.ts';

interface Recorded {
  value: Tagged;
  repr: string;
  str: string;
  pprint: string;
  narrow: string;
}
const recorded = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/python-text/repr.json', import.meta.url), 'utf8'),
) as Recorded[];

describe('Python text', () => {
  for (const form of ['repr', 'str', 'pprint', 'narrow'] as const) {
    it(`${form} of 400 recorded values`, () => {
      const print = {
        repr: pyRepr,
        str: pyStr,
        pprint: (value: Value) => pprintValue(value),
        narrow: (value: Value) => pprintValue(value, { width: 40, indent: 4 }),
      }[form];
      expect(recorded).toHaveLength(400);
      for (const sample of recorded) expect(print(untag(sample.value))).toBe(sample[form]);
    });
  }

  it('prints values that only JavaScript has', () => {
    expect(pyRepr(undefined)).toBe('None');
    expect(pyRepr(newDict([['a', 1e21]]))).toBe("{'a': 1000000000000000000000}");
    expect(reprFloat(Number.NaN)).toBe('nan');
    expect(pyRepr(-0)).toBe('0');
    expect(pyRepr('\ud800')).toBe("'\\ud800'");
  });
});
