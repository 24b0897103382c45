// Equality, order and membership after Python's rules.
import { typeError } from '../errors.ts';
import { DictView, PyDict } from './dict.ts';
import { tryIterate } from './iterate.ts';
import { Markup, textOf } from './markup.ts';
import { asInt } from './number.ts';
import { PyRange, PyTuple } from './sequence.ts';
import { PySet } from './set.ts';
import { compareText } from './text.ts';
import { Undefined } from './undefined.ts';
import { PyFloat, PyObject, type PyValue, typeName } from './value.ts';

type Numeric = number | bigint;

/** int, bool or float in a form that JavaScript compares exactly; undefined for other types. */
function numeric(value: PyValue): Numeric | undefined {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    default:
      return value instanceof PyFloat ? value.value : undefined;
  }
}

export function eq(a: PyValue, b: PyValue): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a === b;
  // A strict undefined on the right is evaluated first: its class derives from that of the lenient one.
  if (b instanceof Undefined && (!(a instanceof Undefined) || (b.strict && !a.strict))) return b.equals(a);
  if (a instanceof Undefined) return a.equals(b);
  const left = numeric(a);
  if (left !== undefined) {
    const right = numeric(b);
    // biome-ignore lint/suspicious/noDoubleEquals: number and bigint compare by value only this way
    return right !== undefined && left == right;
  }
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && eqItems(a, b);
  if (a instanceof PyObject) return eqObjects(a, b);
  if (b instanceof Markup) return b.equals(a);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  return false;
}

/** `a is b or a == b`, the test of list members. */
export function same(a: PyValue, b: PyValue): boolean {
  return a === b || eq(a, b);
}

function eqItems(a: readonly PyValue[], b: readonly PyValue[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (!same(a[index]!, b[index]!)) return false;
  return true;
}

function eqObjects(a: PyObject, b: PyValue): boolean {
  if (a instanceof PyTuple) return b instanceof PyTuple && eqItems(a.items, b.items);
  if (a instanceof PyDict) return b instanceof PyDict && eqDicts(a, b);
  if (isSetLike(a)) return isSetLike(b) && setSize(a) === setSize(b) && everyIn(a, b);
  if (a instanceof PyRange) return b instanceof PyRange && a.hashKey() === b.hashKey();
  return a.equals(b);
}

function eqDicts(a: PyDict, b: PyDict): boolean {
  if (a.size !== b.size) return false;
  if (a.ordered && b.ordered) return eqItems([...a.keys()], [...b.keys()]) && eqItems([...a.values()], [...b.values()]);
  for (const [key, value] of a.entries()) {
    const other = b.get(key);
    if (other === undefined || !same(value, other)) return false;
  }
  return true;
}

export type SetLike = PySet | DictView;

/** Sets and the views of keys and items, which can be combined in set arithmetic. */
export function isSetLike(value: PyValue): value is SetLike {
  return value instanceof PySet || (value instanceof DictView && value.kind !== 'values');
}

const setSize = (value: SetLike): number => value.length();

export function setItems(value: SetLike): PyValue[] {
  return value.toArray();
}

function everyIn(a: SetLike, b: SetLike): boolean {
  return setItems(a).every((item) => contains(b, item));
}

export type Order = '<' | '<=' | '>' | '>=';

/** `a < b` and its relatives. */
export function ordered(op: Order, a: PyValue, b: PyValue): boolean {
  if (typeof a === 'number' && typeof b === 'number') return holds(op, a, b);
  if (typeof a === 'string' && typeof b === 'string') return holds(op, compareText(a, b), 0);
  if (b instanceof Undefined && b.strict && a instanceof Undefined && !a.strict) b.fail();
  if (a instanceof Undefined) a.fail();
  if (b instanceof Undefined) b.fail();
  const left = numeric(a);
  const right = numeric(b);
  if (left !== undefined && right !== undefined) return holds(op, left, right);
  const text = textOf(a);
  const other = textOf(b);
  if (text !== undefined && other !== undefined) return holds(op, compareText(text, other), 0);
  if (Array.isArray(a) && Array.isArray(b)) return orderItems(op, a, b);
  if (a instanceof PyTuple && b instanceof PyTuple) return orderItems(op, a.items, b.items);
  if (isSetLike(a) && isSetLike(b)) return orderSets(op, a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return holds(op, Buffer.compare(a, b), 0);
  throw typeError(`'${op}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
}

function holds(op: Order, a: Numeric, b: Numeric): boolean {
  switch (op) {
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}

function orderItems(op: Order, a: readonly PyValue[], b: readonly PyValue[]): boolean {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; index += 1) {
    if (!same(a[index]!, b[index]!)) return ordered(op, a[index]!, b[index]!);
  }
  return holds(op, a.length, b.length);
}

function orderSets(op: Order, a: SetLike, b: SetLike): boolean {
  if (op === '>' || op === '>=') return orderSets(op === '>' ? '<' : '<=', b, a);
  return everyIn(a, b) && (op === '<=' || setSize(a) < setSize(b));
}

export const less = (a: PyValue, b: PyValue): boolean => ordered('<', a, b);

/** `needle in hay`. */
export function contains(hay: PyValue, needle: PyValue): boolean {
  const text = textOf(hay);
  if (text !== undefined) {
    const part = textOf(needle);
    if (part !== undefined) return text.includes(part);
    throw typeError(`'in <string>' requires string as left operand, not ${typeName(needle)}`);
  }
  if (Array.isArray(hay)) return hay.some((item) => same(item, needle));
  if (hay instanceof PyTuple) return hay.items.some((item) => same(item, needle));
  if (hay instanceof Uint8Array) return bytesContain(hay, needle);
  if (hay instanceof PyObject) {
    const known = hay.contains(needle);
    if (known !== undefined) return known;
  }
  const source = tryIterate(hay);
  if (source === undefined) throw typeError(`argument of type '${typeName(hay)}' is not iterable`);
  for (let step = source.next(); !step.done; step = source.next()) if (same(step.value, needle)) return true;
  return false;
}

function bytesContain(hay: Uint8Array, needle: PyValue): boolean {
  if (needle instanceof Uint8Array) return Buffer.from(hay).includes(Buffer.from(needle));
  const byte = asInt(needle);
  if (byte === undefined) throw typeError(`a bytes-like object is required, not '${typeName(needle)}'`);
  return hay.includes(Number(byte));
}

/** `a is b` as visible to a template: small ints, text and singletons by value, objects by identity. */
export function identical(a: PyValue, b: PyValue): boolean {
  return a === b;
}
