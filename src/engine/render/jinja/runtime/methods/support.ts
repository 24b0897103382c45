// Argument checks shared by the method tables.
import { type PyError, typeError } from '../../errors.ts';
import { textOf } from '../markup.ts';
import { asInt } from '../number.ts';
import { codePoints, isSimple } from '../text.ts';
import { type PyValue, typeName } from '../value.ts';

/** An int argument as Python's `__index__` gives it, clamped to what JavaScript can count. */
export function intArgument(value: PyValue): number {
  const int = asInt(value);
  if (int === undefined) throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
  if (typeof int === 'number') return int;
  return int > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
}

/** A text argument; the message is completed by `, not <type>`. */
export function textArgument(value: PyValue, message: string): string {
  const text = textOf(value);
  if (text === undefined) throw notText(value, message);
  return text;
}

function notText(value: PyValue, message: string): PyError {
  return typeError(`${message}, not ${typeName(value)}`);
}

function sliceBound(value: PyValue | undefined, fallback: number, size: number): number {
  if (value === undefined || value === null) return fallback;
  const int = asInt(value);
  if (int === undefined) throw typeError('slice indices must be integers or None or have an __index__ method');
  const at = Number(int);
  return at < 0 ? Math.max(0, at + size) : at;
}

export interface Window {
  /** Text between the bounds. */
  readonly text: string;
  /** Code point index at which it starts. */
  readonly offset: number;
  readonly valid: boolean;
}

/** The part of a text that `start` and `end` arguments select. */
export function windowOf(text: string, start: PyValue | undefined, end: PyValue | undefined): Window {
  if (start === undefined && end === undefined) return { text, offset: 0, valid: true };
  const units = isSimple(text) ? text : codePoints(text);
  const size = units.length;
  const from = sliceBound(start, 0, size);
  const to = Math.min(sliceBound(end, size, size), size);
  if (from > size || from > to) return { text: '', offset: from, valid: false };
  const part = typeof units === 'string' ? units.slice(from, to) : units.slice(from, to).join('');
  return { text: part, offset: from, valid: true };
}
