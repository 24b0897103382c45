// Python's text forms.
import { describe, expect, it } from 'vitest';
import { pyBytesRepr, pyFloat, pyFloatRepr, pyInt, pyRepr, pyStr, pyStrip } from './py-text.ts';

describe('repr', () => {
  it.each([
    ['a', "'a'"],
    ["it's", '"it\'s"'],
    [`'"`, `'\\'"'`],
    ['a\n\t\\\x00é\u200b😀', "'a\\n\\t\\\\\\x00é\\u200b😀'"],
    ['\u{e0001}', "'\\U000e0001'"],
  ])('of %j', (text, repr) => {
    expect(pyRepr(text)).toBe(repr);
  });

  it.each([
    [1, '1.0'],
    [-0, '-0.0'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e+16'],
    [1.5e300, '1.5e+300'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [0.1, '0.1'],
    [Number.NaN, 'nan'],
    [-Infinity, '-inf'],
  ])('of the float %d', (number, repr) => {
    expect(pyFloatRepr(number)).toBe(repr);
  });

  it('of bytes and other scalars', () => {
    expect(pyBytesRepr(Buffer.from('a\x00\'"\n\xff', 'latin1'))).toBe(`b'a\\x00\\'"\\n\\xff'`);
    expect([null, true, false, 5, 10n ** 20n, 1.5].map(pyStr)).toEqual([
      'None',
      'True',
      'False',
      '5',
      '100000000000000000000',
      '1.5',
    ]);
  });
});

describe('numbers from text', () => {
  it('accept what Python accepts', () => {
    expect(pyInt(' +12\n', 10)).toBe(12n);
    expect(pyInt('0o17', 8)).toBe(15n);
    expect(pyInt('-0xff', 16)).toBe(-255n);
    expect([' 1e3 ', '.5', '5.', 'Infinity', '-inf'].map(pyFloat)).toEqual([1000, 0.5, 5, Infinity, -Infinity]);
    expect(pyFloat('NaN')).toBeNaN();
  });

  it('refuse the rest with the messages of Python', () => {
    expect(() => pyInt('1 2', 10)).toThrow("invalid literal for int() with base 10: '1 2'");
    expect(() => pyInt('8', 8)).toThrow("invalid literal for int() with base 8: '8'");
    expect(() => pyFloat('.')).toThrow("could not convert string to float: '.'");
  });
});

it('strip removes what Python treats as white space', () => {
  expect(pyStrip('\x1f\x85 a b\u3000\n')).toBe('a b');
  expect(pyStrip('\ufeffa')).toBe('\ufeffa');
});
