import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../msgpack/index.ts';
import { dictOf, isReorderedKey, PyFloat, type Value } from '../value.ts';
import { dumpJson, indentJson, isPlainJson, JsonText, loadJson, parsePlain, readValue } from './index.ts';

const key = fc.oneof(fc.string(), fc.constantFrom('1', '10', '__proto__', 'a"b\\', 'ключ', '-3', ''));
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Value>(null, true, false, 0, -5, 1.5, 1e-7, 2 ** 60, 12345678901234567890n, Number.NaN),
    fc.integer().map((each) => new PyFloat(each)),
    fc.string({ unit: 'grapheme' }),
    fc.string(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.uniqueArray(fc.tuple(key, tie('value')), { maxLength: 4, selector: ([name]) => name }).map(dictOf),
  ),
}));
const written = (each: Value): Buffer => Buffer.from(dumpJson(each, { ensureAscii: false }));

/** As SQLite writes it. */
const withoutBlanks = (text: string): string => text.replace(/("(?:[^"\\]|\\.)*")| /gs, '$1');

describe('indentJson', () => {
  it('writes the same as dumpJson does for the value, for every placement of spaces', () => {
    fc.assert(
      fc.property(value, fc.integer({ min: 0, max: 5 }), fc.boolean(), (each, indent, compact) => {
        const expected = dumpJson(each, { indent, ensureAscii: false });
        const source = compact ? Buffer.from(withoutBlanks(written(each).toString())) : written(each);
        expect(indentJson(source, indent).toString()).toBe(Buffer.from(expected).toString());
      }),
      { numRuns: 1000 },
    );
  });

  it('allocates enough space for deep lists', () => {
    const deep = `${'['.repeat(300)}1${']'.repeat(300)}`;
    expect(indentJson(Buffer.from(deep), 8).toString()).toBe(JSON.stringify(JSON.parse(deep), null, 8));
  });
});

describe('isPlainJson', () => {
  it('is true only for values that JSON.parse restores', () => {
    fc.assert(
      fc.property(value, (each) => {
        const text = dumpJson(each);
        if (isPlainJson(each)) expect(dumpJson(parsePlain(text))).toBe(dumpJson(loadJson(text)));
        else expect(text).toMatch(/\d\.0|\d{16}|NaN|"\d+": /);
      }),
      { numRuns: 1000 },
    );
  });

  it('finds keys that JavaScript would reorder', () => {
    expect(isPlainJson(dictOf([['20260101000000000000', 1]]))).toBe(true);
    expect(isReorderedKey('10') && isPlainJson(dictOf([['10', 1]]))).toBe(false);
  });
});

describe('JsonText', () => {
  const text = new JsonText([written(dictOf([['a', [1, new PyFloat(2)]]]))], { entries: 1 });

  it('represents its value, together with the outputter when there is one', () => {
    expect(dumpJson(readValue(text))).toBe('{"a": [1, 2.0]}');
    expect(dumpJson(readValue(text.withOutputter('highstate')))).toBe(
      '{"outputter": "highstate", "data": {"a": [1, 2.0]}}',
    );
    expect(text.withOutputter('')).toBe(text);
  });

  it('is sent unchanged to readers that ask for it, and as its value to all others', () => {
    const message = [1, { ret: text.withOutputter('yaml'), more: 'x' }] as unknown as Value;
    const [, kept] = unpack(pack(message, { jsonTexts: true }), { jsonTexts: true }) as unknown as [
      number,
      { ret: JsonText; more: string },
    ];
    expect(kept.ret).toBeInstanceOf(JsonText);
    expect(kept.more).toBe('x');
    expect(kept.ret.facts.outputter).toBe('yaml');
    expect(kept.ret.text).toBe('{"a": [1, 2.0]}');
    expect(dumpJson(unpack(pack(message)))).toBe(
      '[1, {"ret": {"outputter": "yaml", "data": {"a": [1, 2.0]}}, "more": "x"}]',
    );
  });

  it('is read as bytes by a reader that did not ask for it, and is harmless in a truncated message', () => {
    const bytes = pack([text] as unknown as Value, { jsonTexts: true });
    expect(Array.isArray(unpack(bytes))).toBe(true);
    // The length of the name exceeds the whole value.
    const cut = Buffer.from([0xc7, 2, 74, 0, 200]);
    expect(() => unpack(cut, { jsonTexts: true })).toThrow(/ends early/);
  });
});
