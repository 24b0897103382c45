// Python's idea of numbers, truth and types, for functions that take whatever an operator typed.
import { pyRepr, pyTypeName } from '../../base/codec/python/index.ts';
import {
  asNumber,
  type Dict,
  dictEntries,
  dictSize,
  isDict,
  newDict,
  type PlainDict,
  PyFloat,
  type Value,
} from '../../base/codec/value.ts';
import { pythonError } from './errors.ts';

/** Python's int(value): whole numbers, floats cut off, digits in text. */
export function pyInt(value: Value): number {
  const number = typeof value === 'boolean' ? Number(value) : asNumber(value);
  if (number !== undefined) return Math.trunc(number);
  if (typeof value === 'string' && /^\s*[-+]?\d+(?:_\d+)*\s*$/.test(value)) return Number(value.replaceAll('_', ''));
  if (typeof value === 'string')
    throw pythonError('ValueError', `invalid literal for int() with base 10: ${pyRepr(value)}`);
  throw pythonError(
    'TypeError',
    `int() argument must be a string, a bytes-like object or a real number, not '${pyTypeName(value)}'`,
  );
}

/** Python's bool(value). */
export function isTruthy(value: Value | undefined): boolean {
  if (value === null || value === undefined || value === false || value === '' || value === 0 || value === 0n)
    return false;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Uint8Array) return value.length > 0;
  if (value instanceof PyFloat) return value.value !== 0;
  return isDict(value) ? dictSize(value) > 0 : true;
}

/** Keyword arguments without those the minion adds (`__pub_jid`, …). */
export function cleanKwargs(kwargs: PlainDict): PlainDict {
  return newDict(Object.entries(kwargs).filter(([key]) => !key.startsWith('__')));
}

/** Salt's reading of yes and no: words, numbers, and whatever Python finds true. */
export function isTrue(value: Value | undefined): boolean {
  if (typeof value === 'string') {
    if (value.toLowerCase() === 'true') return true;
    return /^\s*[-+]?\d+(?:\.\d+)?\s*$/.test(value) && Number(value) > 0;
  }
  const number = value === undefined ? undefined : asNumber(value);
  return number === undefined ? isTruthy(value) : number > 0;
}

/** A dict as plain text keys and values, for environments and similar. */
export function textEntries(dict: Dict): [string, Value][] {
  return dictEntries(dict).map(([key, value]) => [typeof key === 'string' ? key : pyRepr(key), value]);
}

/** Text in a list or comma-separated in one string; Salt's `split_input`. */
export function textList(value: Value): string[] {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value];
  return items.map((item) => (typeof item === 'string' ? item.trim() : pyRepr(item)));
}
