// x[a:b:c] on text, lists, tuples, ranges and bytes.
import { typeError, valueError } from '../errors.ts';
import { PyDict } from './dict.ts';
import { Markup, textOf } from './markup.ts';
import { asInt } from './number.ts';
import { PyRange, PyTuple } from './sequence.ts';
import { codePoints, isSimple } from './text.ts';
import { Undefined } from './undefined.ts';
import { type PyValue, typeName } from './value.ts';

function bound(value: PyValue | undefined): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Undefined) {
    throw typeError('slice indices must be integers or None or have an __index__ method');
  }
  const int = asInt(value);
  if (int === undefined) throw typeError('slice indices must be integers or None or have an __index__ method');
  return Number(int);
}

/** Indexes a slice selects from a sequence of `size`. */
function sliceIndexes(
  size: number,
  from: PyValue | undefined,
  to: PyValue | undefined,
  by: PyValue | undefined,
): { start: number; stop: number; step: number } {
  const step = bound(by) ?? 1;
  if (step === 0) throw valueError('slice step cannot be zero');
  const clamp = (value: number): number => {
    const at = value < 0 ? value + size : value;
    if (at < 0) return step < 0 ? -1 : 0;
    return Math.min(at, step < 0 ? size - 1 : size);
  };
  const first = bound(from);
  const last = bound(to);
  const start = first === undefined ? (step < 0 ? size - 1 : 0) : clamp(first);
  const stop = last === undefined ? (step < 0 ? -1 : size) : clamp(last);
  return { start, stop, step };
}

function pick<T>(items: ArrayLike<T>, indexes: { start: number; stop: number; step: number }): T[] {
  const { start, stop, step } = indexes;
  const out: T[] = [];
  if (step > 0) for (let at = start; at < stop; at += step) out.push(items[at]!);
  else for (let at = start; at > stop; at += step) out.push(items[at]!);
  return out;
}

export function slice(
  value: PyValue,
  from: PyValue | undefined,
  to: PyValue | undefined,
  by: PyValue | undefined,
): PyValue {
  const text = textOf(value);
  if (text !== undefined) {
    const cut = sliceText(text, from, to, by);
    return value instanceof Markup ? new Markup(cut) : cut;
  }
  if (Array.isArray(value)) return pick(value, sliceIndexes(value.length, from, to, by));
  if (value instanceof PyTuple) return new PyTuple(pick(value.items, sliceIndexes(value.items.length, from, to, by)));
  if (value instanceof Uint8Array) return Uint8Array.from(pick(value, sliceIndexes(value.length, from, to, by)));
  if (value instanceof PyRange) {
    const { start, stop, step } = sliceIndexes(value.size, from, to, by);
    return new PyRange(value.at(start), value.at(stop), value.step * step);
  }
  if (value instanceof Undefined) value.fail();
  if (value instanceof PyDict) throw typeError("unhashable type: 'slice'");
  throw typeError(`'${typeName(value)}' object is not subscriptable`);
}

function sliceText(text: string, from: PyValue | undefined, to: PyValue | undefined, by: PyValue | undefined): string {
  const simple = isSimple(text);
  const units = simple ? text : codePoints(text);
  const indexes = sliceIndexes(units.length, from, to, by);
  if (simple && indexes.step === 1) return text.slice(indexes.start, Math.max(indexes.start, indexes.stop));
  return pick(units, indexes).join('');
}
