// The readers of JSON5 and Hjson: what they accept, and the positions in their errors.

import { pyRepr, RenderError } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { loadHjson } from './shared/hjson.ts';
import { loadJson5 } from './shared/json5.ts';

const five = (text: string): string => pyRepr(loadJson5(text, undefined, 1));
const h = (text: string): string => pyRepr(loadHjson(text, undefined, 1));

function placeOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(RenderError);
    const { message, place } = error as RenderError;
    return `${place.file}:${place.line}:${place.column} ${message}`;
  }
  throw new Error('nothing was wrong');
}

describe('json5', () => {
  it.each([
    ['{a: 1, \'b\': "c", $d_1: [1, 2,],}', "{'a': 1, 'b': 'c', '$d_1': [1, 2]}"],
    ['// c\n{ /* x\n */ "a": null }// end', "{'a': None}"],
    [
      '[0xff, -0x10, +1, .5, 5., 1e3, -0, Infinity, -Infinity, NaN]',
      '[255, -16, 1, 0.5, 5.0, 1000.0, 0, inf, -inf, nan]',
    ],
    ['[123456789012345678901234567890, 1.0]', '[123456789012345678901234567890, 1.0]'],
    ["'it\\'s \\x41\\u00e9\\n\\v\\0 \\q\\\nnext'", '"it\'s Aé\\n\\x0b\\x00 qnext"'],
    ['{__proto__: {x: 1}, "10": 1, a: true, a: false}', "{'__proto__': {'x': 1}, '10': 1, 'a': False}"],
    ['{\\u0061b: 1, ünï: 2}', "{'ab': 1, 'ünï': 2}"],
    ['\ufeff [ ]\u00a0', '[]'],
  ])('reads %s', (text, shown) => expect(five(text)).toBe(shown));

  it.each([
    ['{a: 1,\n b 2}', '/x.sls:4:4 <string>:4 Unexpected "2" at column 4'],
    ['[1 2]', '/x.sls:3:4 <string>:3 Unexpected "2" at column 4'],
    ['{a: }', '/x.sls:3:5 <string>:3 Unexpected "}" at column 5'],
    ['[1,', '/x.sls:3:4 <string>:3 Unexpected end of input at column 4'],
    ['"abc', '/x.sls:3:1 <string>:3 Unterminated string at column 1'],
    ['[01]', '/x.sls:3:3 <string>:3 Unexpected "1" at column 3'],
    ['"\\01"', '/x.sls:3:4 <string>:3 Unexpected "1" at column 4'],
    ['"\\xg0"', '/x.sls:3:3 <string>:3 Invalid \\x escape at column 3'],
    ['nulls', '/x.sls:3:1 <string>:3 Unexpected "n" at column 1'],
    ['[,]', '/x.sls:3:2 <string>:3 Unexpected "," at column 2'],
    ['1 1', '/x.sls:3:3 <string>:3 Unexpected "1" at column 3'],
  ])('refuses %s', (text, shown) => expect(placeOf(() => loadJson5(text, '/x.sls', 3))).toBe(shown));

  it('refuses data that is nested too deeply', () => {
    expect(placeOf(() => five('['.repeat(100_000)))).toContain('nested too deeply');
  });
});

describe('hjson', () => {
  it.each([
    [
      '{\n  # c\n  a: a text, with # signs\n  b: 5 // five\n  c: [1 2, x\n  "y"]\n}',
      "{'a': 'a text, with # signs', 'b': 5, 'c': ['1 2, x', 'y']}",
    ],
    ['a: 1\nb: true\nc: nullable\nd: -1.5e3', "{'a': 1, 'b': True, 'c': 'nullable', 'd': -1500}"],
    ["a:\n  '''\n  one\n    two\n  '''\n", "{'a': 'one\\n  two'}"],
    ['{a: \'x\', b: "y\\n"}', "{'a': 'x', 'b': 'y\\n'}"],
    ['[1, 2\n3]', '[1, 2, 3]'],
    ['just text', "'just text'"],
    ['42', '42'],
  ])('reads %s', (text, shown) => expect(h(text)).toBe(shown));

  it.each([
    ['{a: 1', '/x.sls:2:6 <string>:2 Unexpected end of input at column 6'],
    ['{a\n1}', '/x.sls:3:1 <string>:3 Unexpected "1" at column 1'],
    ["{a: '''x}", '/x.sls:2:5 <string>:2 Unterminated string at column 5'],
    ['{a: "\\q"}', '/x.sls:2:7 <string>:2 Unexpected "q" at column 7'],
  ])('refuses %s', (text, shown) => expect(placeOf(() => loadHjson(text, '/x.sls', 2))).toBe(shown));
});
