// Built-in filters on numbers.
import { filterArgumentError, isPyError, PyError, typeError } from '../errors.ts';
import { absolute, div, mul, pow } from '../runtime/arith.ts';
import { fixedText, roundDouble } from '../runtime/decimal.ts';
import { define, type FunctionTable, tableOf } from '../runtime/define.ts';
import { truth } from '../runtime/iterate.ts';
import { textOf } from '../runtime/markup.ts';
import {
  asDouble,
  asInt,
  floatOf,
  makeFloat,
  makeInt,
  type PyInt,
  parseFloatText,
  parseInteger,
  truncateFloat,
  wholeToInt,
} from '../runtime/number.ts';
import { repr, str } from '../runtime/print.ts';
import { Undefined } from '../runtime/undefined.ts';
import { type PyValue, typeName } from '../runtime/value.ts';
import { intOf } from './support.ts';

/** `float(value)`. */
export function toFloat(value: PyValue): number {
  if (value instanceof Undefined) value.fail();
  const number = asDouble(value);
  if (number !== undefined) return number;
  const text = textOf(value);
  if (text === undefined)
    throw typeError(`float() argument must be a string or a real number, not '${typeName(value)}'`);
  const parsed = parseFloatText(text);
  if (parsed === undefined) throw new PyError('ValueError', `could not convert string to float: ${repr(value)}`);
  return parsed;
}

/** `int(value)`, or undefined where Python raises TypeError or ValueError. */
export function tryInt(value: PyValue, base = 10): PyInt | undefined {
  if (value instanceof Undefined) value.fail();
  const int = asInt(value);
  if (int !== undefined) return int;
  const double = floatOf(value);
  if (double !== undefined) return Number.isNaN(double) ? undefined : truncateFloat(double);
  const text = textOf(value);
  if (text === undefined || (base !== 0 && (base < 2 || base > 36))) return undefined;
  return parseInteger(text, base);
}

function toInt(value: PyValue, fallback: PyValue, base: PyValue): PyValue {
  const radix = asInt(base);
  const int = radix === undefined && textOf(value) !== undefined ? undefined : tryInt(value, Number(radix ?? 10));
  if (int !== undefined) return int;
  try {
    return truncateFloat(toFloat(value));
  } catch (error) {
    if (isPyError(error, 'TypeError', 'ValueError', 'OverflowError')) return fallback;
    throw error;
  }
}

function floatFilter(value: PyValue, fallback: PyValue): PyValue {
  try {
    return makeFloat(toFloat(value));
  } catch (error) {
    if (isPyError(error, 'TypeError', 'ValueError')) return fallback;
    throw error;
  }
}

/** `round(int, -places)`: half to even on the exact value. */
function roundInt(value: PyInt, places: number): PyInt {
  if (places >= 0) return value;
  const unit = 10n ** BigInt(Math.min(-places, 400));
  const big = BigInt(value);
  const rest = ((big % unit) + unit) % unit;
  let low = big - rest;
  const twice = rest * 2n;
  if (twice > unit || (twice === unit && (low / unit) % 2n !== 0n)) low += unit;
  return makeInt(low);
}

/** Python's `round(value, places)`. */
function roundValue(value: PyValue, precision: PyValue): PyValue {
  const int = asInt(value);
  const double = int === undefined ? floatOf(value) : undefined;
  if (int === undefined && double === undefined) {
    throw typeError(`type ${typeName(value)} doesn't define __round__ method`);
  }
  const places = precision === null ? null : intOf(precision);
  if (int !== undefined) return places === null ? int : roundInt(int, places);
  return places === null ? wholeToInt(roundDouble(double!, 0)) : makeFloat(roundDouble(double!, places));
}

function round(value: PyValue, precision: PyValue, method: PyValue): PyValue {
  const how = textOf(method);
  if (how !== 'common' && how !== 'ceil' && how !== 'floor')
    throw filterArgumentError('method must be common, ceil or floor');
  if (how === 'common') return roundValue(value, precision);
  const scale = pow(10, precision);
  const scaled = mul(value, scale);
  const int = asInt(scaled);
  if (int !== undefined) return div(int, scale);
  const double = floatOf(scaled);
  if (double === undefined) throw typeError(`must be real number, not ${typeName(scaled)}`);
  if (!Number.isFinite(double)) truncateFloat(double);
  return div(wholeToInt(how === 'ceil' ? Math.ceil(double) : Math.floor(double)), scale);
}

const units = ['B', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB'];

function fileSize(value: PyValue, binary: PyValue): string {
  const bytes = toFloat(value);
  const two = truth(binary);
  const base = two ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${str(truncateFloat(bytes))} Bytes`;
  const prefixes = units.map((unit, index) =>
    index === 0 ? (two ? 'KiB' : 'kB') : two ? unit.replace('B', 'iB') : unit,
  );
  for (let at = 0; ; at += 1) {
    const unit = base ** (at + 2);
    if (bytes < unit || at === prefixes.length - 1) return `${fixedText((base * bytes) / unit, 1)} ${prefixes[at]}`;
  }
}

export const numberFilters: FunctionTable = tableOf({
  abs: define('abs', 'x', (_rt, x) => absolute(x!)),
  filesizeformat: define('do_filesizeformat', 'value, binary=False', (_rt, value, binary) => fileSize(value!, binary!)),
  float: define('do_float', 'value, default=0.0', (_rt, value, fallback) => floatFilter(value!, fallback!)),
  int: define('do_int', 'value, default=0, base=10', (_rt, value, fallback, base) => toInt(value!, fallback!, base!)),
  round: define('do_round', "value, precision=0, method='common'", (_rt, value, precision, method) =>
    round(value!, precision!, method!),
  ),
});
