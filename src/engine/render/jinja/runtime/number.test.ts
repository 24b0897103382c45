// Numbers: printing, parsing and rounding against JavaScript's own arithmetic and known values of Python.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, floordiv, mod, mul, sub } from './arith.ts';
import { fixedText, generalText, roundDouble } from './decimal.ts';
import { floatRepr, makeFloat, makeInt, parseFloatText, parseInteger } from './number.ts';
import { floatPower } from './power.ts';
import { str } from './print.ts';
import { PyFloat } from './value.ts';

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const wide = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n });

describe('floats', () => {
  it('print so that reading gives the same value', () => {
    fc.assert(fc.property(finite, (value) => Object.is(Number(floatRepr(value)), value)));
  });

  it.each([
    [1e16, '1e+16'],
    [1e15, '1000000000000000.0'],
    [1e-5, '1e-05'],
    [0.0001, '0.0001'],
    [-0, '-0.0'],
    [5e-324, '5e-324'],
    [Number.NaN, 'nan'],
    [Number.NEGATIVE_INFINITY, '-inf'],
  ])('%d prints as %s', (value, text) => {
    expect(floatRepr(value)).toBe(text);
  });

  it('stay floats when whole', () => {
    expect(str(makeFloat(3))).toBe('3.0');
    expect(str(add(makeFloat(1), 1))).toBe('2.0');
    expect(makeFloat(2.5)).toBe(2.5);
    expect(makeFloat(2)).toBeInstanceOf(PyFloat);
  });

  it('are rounded on their exact binary value, ties to even', () => {
    expect([0.5, 1.5, 2.5, -0.5].map((value) => fixedText(value, 0))).toEqual(['0', '2', '2', '0']);
    expect(fixedText(2.675, 2)).toBe('2.67');
    expect(fixedText(1e21, 1)).toBe('1000000000000000000000.0');
    expect(roundDouble(1.15, 1)).toBe(1.1);
    expect(roundDouble(1250, -2)).toBe(1200);
    expect(generalText(123456789, 3)).toBe('1.23e+08');
  });

  it('format like toFixed wherever there is no tie', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e15, max: 1e15, noNaN: true }),
        fc.integer({ min: 0, max: 12 }),
        (value, places) => {
          const mine = fixedText(value, places);
          return Math.abs(Number(mine) - Math.abs(value)) <= 0.5 * 10 ** -places + 1e-9 * Math.abs(value);
        },
      ),
    );
  });

  it('have powers that agree with repeated multiplication', () => {
    expect(floatPower(2, 0.5)).toBe(Math.SQRT2);
    expect(floatPower(0.5, 1.5)).toBe(0.3535533905932738);
    expect(floatPower(10, 1.005)).toBe(10.115794542598982);
    fc.assert(
      fc.property(
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        fc.double({ min: -5, max: 5, noNaN: true }),
        (x, y) => {
          const exact = x ** y;
          return Math.abs(floatPower(x, y) - exact) <= Math.abs(exact) * 1e-14;
        },
      ),
    );
  });
});

describe('ints', () => {
  it('compute exactly at any size', () => {
    fc.assert(
      fc.property(wide, wide, (a, b) => {
        expect(add(makeInt(a), makeInt(b))).toBe(makeInt(a + b));
        expect(sub(makeInt(a), makeInt(b))).toBe(makeInt(a - b));
        expect(mul(makeInt(a), makeInt(b))).toBe(makeInt(a * b));
      }),
    );
  });

  it('divide with floor and take the sign of the divisor', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer().filter((n) => n !== 0),
        (a, b) => {
          const quotient = floordiv(a, b) as number;
          const rest = mod(a, b) as number;
          return quotient * b + rest === a && (rest === 0 || rest < 0 === b < 0) && Math.abs(rest) < Math.abs(b);
        },
      ),
    );
  });

  it.each([
    [' 12 ', 10, 12],
    ['1_000', 10, 1000],
    ['0x1f', 16, 31],
    ['ff', 16, 255],
    ['0b101', 0, 5],
    ['٣', 10, 3],
    ['1__0', 10, undefined],
    ['3.5', 10, undefined],
    ['', 10, undefined],
    ['010', 0, undefined],
    ['9007199254740993', 10, 9007199254740993n],
  ])('int(%j, %d)', (text, base, value) => {
    expect(parseInteger(text, base)).toBe(value);
  });

  it.each([
    ['1e3', 1000],
    [' -.5', -0.5],
    ['1_0.5', 10.5],
    ['inf', Number.POSITIVE_INFINITY],
    ['1e', undefined],
    ['0x10', undefined],
  ])('float(%j)', (text, value) => {
    expect(parseFloatText(text)).toBe(value);
  });
});
