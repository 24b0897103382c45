// Python's int and float on JavaScript numbers: kinds, conversion, parsing and printing.
import { overflowError, valueError } from '../errors.ts';
import { PyFloat, type PyValue } from './value.ts';

export type PyInt = number | bigint;

/** A float value: boxed only when JavaScript could mistake it for an int. */
export function makeFloat(value: number): number | PyFloat {
  return Number.isInteger(value) ? new PyFloat(value) : value;
}

/** An int value: a number when safe, a bigint beyond. */
export function makeInt(value: bigint): PyInt {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

export function isFloat(value: PyValue): value is number | PyFloat {
  return typeof value === 'number' ? !Number.isInteger(value) : value instanceof PyFloat;
}

/** ints without bool. */
export function isInt(value: PyValue): value is PyInt {
  return typeof value === 'number' ? Number.isInteger(value) : typeof value === 'bigint';
}

/** int or bool as an int. */
export function asInt(value: PyValue): PyInt | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined;
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return undefined;
}

/** The number inside a float, undefined for anything else. */
export function floatOf(value: PyValue): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? undefined : value;
  return value instanceof PyFloat ? value.value : undefined;
}

/** Any Python number (bool too) as a double; undefined for other types. */
export function asDouble(value: PyValue): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof PyFloat) return value.value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'bigint') return bigToDouble(value);
  return undefined;
}

function bigToDouble(value: bigint): number {
  const number = Number(value);
  if (!Number.isFinite(number)) throw overflowError('int too large to convert to float');
  return number;
}

/** Shortest round-trip text, laid out as Python's `repr`. */
export function floatRepr(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  if (value === Number.NEGATIVE_INFINITY) return '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const size = Math.abs(value);
  if (size >= 1e16 || size < 1e-4) {
    const [mantissa = '', power = ''] = value.toExponential().split('e');
    const digits = power.slice(1).padStart(2, '0');
    return `${mantissa}e${power[0]}${digits}`;
  }
  const text = String(value);
  return text.includes('.') ? text : `${text}.0`;
}

const maxDigits = 4300;
const tooLong = 10n ** BigInt(maxDigits);

export function intRepr(value: PyInt): string {
  if (typeof value === 'number') return String(value);
  // Python refuses longer conversions; the check also prevents a hostile template from printing megabytes of digits.
  if (value >= tooLong || value <= -tooLong) {
    throw valueError(
      `Exceeds the limit (${maxDigits} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit`,
    );
  }
  return value.toString();
}

const digitValue = /\p{Nd}/gu;

/** Any decimal digit of Unicode as 0-9, the way int() and float() read text. */
function asciiDigits(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return text.replace(digitValue, (digit) => String(decimalValue(digit.codePointAt(0)!)));
}

/** Value of a decimal digit: runs of ten start at the first code point that has no decimal before it. */
function decimalValue(code: number): number {
  let start = code;
  while (start > 0 && code - start < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(start - 1))) start -= 1;
  return code - start;
}

const pySpace = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const edges = new RegExp(`^${pySpace}+|${pySpace}+$`, 'g');
const bases: Record<string, number> = { b: 2, o: 8, x: 16 };

/** `int(text, base)`; undefined when Python would raise ValueError. */
export function parseInteger(source: string, base = 10): PyInt | undefined {
  const text = asciiDigits(source.replace(edges, '')).toLowerCase();
  const match = /^([+-]?)(0[box])?_?([0-9a-z]+(?:_[0-9a-z]+)*)$/.exec(text);
  if (match === null) return undefined;
  const prefix = match[2];
  let digits = match[3]!.replaceAll('_', '');
  let radix = base;
  if (base === 0) {
    radix = prefix === undefined ? 10 : bases[prefix[1]!]!;
    if (prefix === undefined && /^0+[1-9]/.test(digits)) return undefined;
  } else if (prefix !== undefined && bases[prefix[1]!] !== base) {
    if (text.includes('_')) return undefined;
    digits = prefix + digits;
  }
  if (prefix === undefined && /^[+-]?_/.test(text)) return undefined;
  const size = digitsToBig(digits, radix);
  return size === undefined ? undefined : makeInt(match[1] === '-' ? -size : size);
}

function digitsToBig(digits: string, radix: number): bigint | undefined {
  if (radix === 10 && /^[0-9]{1,15}$/.test(digits)) return BigInt(digits);
  let total = 0n;
  const big = BigInt(radix);
  for (const char of digits) {
    const value = Number.parseInt(char, 36);
    if (value >= radix) return undefined;
    total = total * big + BigInt(value);
  }
  return total;
}

const floatPattern =
  /^[+-]?(?:(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?|inf(?:inity)?|nan)$/i;

/** `float(text)`; undefined when Python would raise ValueError. */
export function parseFloatText(source: string): number | undefined {
  const text = asciiDigits(source.replace(edges, ''));
  if (!floatPattern.test(text)) return undefined;
  const lower = text.toLowerCase();
  if (lower.includes('inf')) return lower.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (lower.includes('nan')) return Number.NaN;
  return Number(lower.replaceAll('_', ''));
}

/** `int(float)`: cut toward zero, with Python's errors for nan and inf. */
export function truncateFloat(value: number): PyInt {
  if (Number.isNaN(value)) throw valueError('cannot convert float NaN to integer');
  if (!Number.isFinite(value)) throw overflowError('cannot convert float infinity to integer');
  return wholeToInt(Math.trunc(value));
}

/** A whole double as an int. */
export function wholeToInt(value: number): PyInt {
  return Number.isSafeInteger(value) ? value + 0 : makeInt(BigInt(value));
}
