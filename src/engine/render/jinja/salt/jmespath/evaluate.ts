// Meaning of JMESPath expressions over template values.
import { eq, ordered } from '../../runtime/compare.ts';
import { PyDict } from '../../runtime/dict.ts';
import { asDouble } from '../../runtime/number.ts';
import { slice } from '../../runtime/slice.ts';
import { Undefined } from '../../runtime/undefined.ts';
import type { PyValue } from '../../runtime/value.ts';

/** An expression: from a current value to a result. */
export type Jmes = (value: PyValue) => PyValue;

/** Only lists are JSON arrays; a tuple is nothing JMESPath knows. */
export function listOf(value: PyValue): PyValue[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Null, false and everything empty count as false. */
export function isFalse(value: PyValue): boolean {
  if (value === null || value === false || value === '') return true;
  const list = listOf(value);
  return list !== undefined ? list.length === 0 : value instanceof PyDict && value.size === 0;
}

export const field =
  (name: string): Jmes =>
  (value) => {
    if (value instanceof Undefined) value.fail();
    return value instanceof PyDict ? (value.get(name) ?? null) : null;
  };

export const index =
  (at: number): Jmes =>
  (value) => {
    const list = listOf(value);
    return list === undefined ? null : (list[at < 0 ? at + list.length : at] ?? null);
  };

export const cut =
  (start: PyValue, stop: PyValue, step: PyValue): Jmes =>
  (value) => {
    const list = listOf(value);
    return list === undefined ? null : slice(list, start, stop, step);
  };

export const piped =
  (left: Jmes, right: Jmes): Jmes =>
  (value) =>
    right(left(value));

/** `a.b`: a null on the left ends the chain. */
export const child =
  (left: Jmes, right: Jmes): Jmes =>
  (value) => {
    const inner = left(value);
    return inner === null ? null : right(inner);
  };

function projected(items: readonly PyValue[], right: Jmes): PyValue[] {
  return items.map(right).filter((item) => item !== null);
}

export const projection =
  (left: Jmes, right: Jmes): Jmes =>
  (value) => {
    const list = listOf(left(value));
    return list === undefined ? null : projected(list, right);
  };

export const valueProjection =
  (left: Jmes, right: Jmes): Jmes =>
  (value) => {
    const dict = left(value);
    return dict instanceof PyDict ? projected([...dict.values()], right) : null;
  };

export const filterProjection =
  (left: Jmes, right: Jmes, test: Jmes): Jmes =>
  (value) => {
    const list = listOf(left(value));
    return list === undefined
      ? null
      : projected(
          list.filter((item) => !isFalse(test(item))),
          right,
        );
  };

export const flatten =
  (left: Jmes): Jmes =>
  (value) => {
    const list = listOf(left(value));
    return list === undefined ? null : list.flatMap((item) => listOf(item) ?? [item]);
  };

/** Equality of JSON values: true is not 1. */
function sameJson(a: PyValue, b: PyValue): boolean {
  if (typeof a === 'boolean' || typeof b === 'boolean') return a === b;
  return eq(a, b);
}

export const compare =
  (op: string, left: Jmes, right: Jmes): Jmes =>
  (value) => {
    const a = left(value);
    const b = right(value);
    if (op === 'eq') return sameJson(a, b);
    if (op === 'ne') return !sameJson(a, b);
    const numbers =
      typeof a !== 'boolean' && typeof b !== 'boolean' && asDouble(a) !== undefined && asDouble(b) !== undefined;
    // Only numbers have an order; anything else gives null.
    if (!numbers) return null;
    return ordered(op === 'lt' ? '<' : op === 'lte' ? '<=' : op === 'gt' ? '>' : '>=', a, b);
  };

export const either =
  (left: Jmes, right: Jmes): Jmes =>
  (value) => {
    const first = left(value);
    return isFalse(first) ? right(value) : first;
  };

export const both =
  (left: Jmes, right: Jmes): Jmes =>
  (value) => {
    const first = left(value);
    return isFalse(first) ? first : right(value);
  };

export const multiList =
  (parts: readonly Jmes[]): Jmes =>
  (value) =>
    value === null ? null : parts.map((part) => part(value));

export const multiHash =
  (parts: readonly (readonly [string, Jmes])[]): Jmes =>
  (value) =>
    value === null ? null : PyDict.from(parts.map(([name, part]) => [name, part(value)]));
