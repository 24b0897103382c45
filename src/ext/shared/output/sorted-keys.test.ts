import * as fc from 'fast-check';
import { dictOf, type Value } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { displayEntries, eachEntry } from './sorted-keys.ts';

describe('eachEntry', () => {
  it('walks in the order of displayEntries, also when shapes come again', () => {
    const key = fc.oneof(fc.constantFrom('a', 'b', 'b\nc', 'a\nb', 'c', '10', '\u{1f600}', '\uffee'), fc.string());
    const dict = fc.uniqueArray(key, { maxLength: 40 }).map((keys) => dictOf(keys.map((each) => [each, each])));
    fc.assert(
      fc.property(fc.array(dict, { maxLength: 4 }), (dicts) => {
        for (const each of [...dicts, ...dicts]) {
          const seen: [string, Value][] = [];
          eachEntry(each, (name, value) => seen.push([name, value]));
          expect(seen).toEqual(displayEntries(each));
        }
      }),
      { numRuns: 500 },
    );
  });
});
