// Python's conversion of numbers, truth and types, for functions that accept any value an operator typed.
import { pyRepr, pyTypeName } from '../../base/codec/python/index.ts';
import { asNumber, type Dict, dictEntries, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { pythonError } from './errors.ts';

export { isTrue, isTruthy } from '../../base/codec/python/index.ts';

/** Python's int(value): whole numbers, truncated floats, digits in text. */
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

/** Keyword arguments without those that the minion adds (`__pub_jid`, …). */
export function cleanKwargs(kwargs: PlainDict): PlainDict {
  return newDict(Object.entries(kwargs).filter(([key]) => !key.startsWith('__')));
}

/** A dict as plain text keys and values, for environments and similar. */
export function textEntries(dict: Dict): [string, Value][] {
  return dictEntries(dict).map(([key, value]) => [typeof key === 'string' ? key : pyRepr(key), value]);
}

/** A list of text, or comma-separated text in one string; Salt's `split_input`. */
export function textList(value: Value): string[] {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [value];
  return items.map((item) => (typeof item === 'string' ? item.trim() : pyRepr(item)));
}
