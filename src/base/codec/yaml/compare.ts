// Python's order of values, for sorting the keys of a mapping.
import { asNumber, type Value } from '../value.ts';
import { PyTuple } from './collections.ts';

/** Python would raise TypeError: the two have no order. */
export class Incomparable extends Error {}

export function comparePy(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  const [x, y] = [numeric(a), numeric(b)];
  if (x !== undefined && y !== undefined) return x < y ? -1 : x > y ? 1 : 0;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a instanceof PyTuple && b instanceof PyTuple) return compareTuples(a, b);
  throw new Incomparable();
}

function numeric(value: Value): number | bigint | undefined {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'bigint' ? value : asNumber(value);
}

/** By code point; JavaScript compares UTF-16 codes, which puts emoji before some of the basic plane. */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;
      if (isSurrogate(x) !== isSurrogate(y)) return isSurrogate(x) ? 1 : -1;
      return x - y;
    }
  }
  return a.length - b.length;
}

function compareTuples(a: PyTuple, b: PyTuple): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const x = a[i] as Value;
    const y = b[i] as Value;
    if (x === y) continue;
    const order = comparePy(x, y);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
