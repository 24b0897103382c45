// truth, len(), iter() and functions based on them.
import { memoryError, PyError, typeError } from '../errors.ts';
import { Markup } from './markup.ts';
import { notIterable, PyIterator, PyTuple } from './sequence.ts';
import { codePoints, isSimple, pyLength } from './text.ts';
import { PyFloat, PyObject, type PyValue, typeName } from './value.ts';

export function truth(value: PyValue): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'bigint':
      return value !== 0n;
    default:
  }
  if (value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof PyObject) return value.truth();
  if (value instanceof PyFloat) return value.value !== 0;
  return value.length > 0;
}

/** `len(x)`, undefined when the type has no length. */
export function lengthOf(value: PyValue): number | undefined {
  if (typeof value === 'string') return pyLength(value);
  if (Array.isArray(value)) return value.length;
  if (value instanceof Markup) return pyLength(value.text);
  if (value instanceof PyObject) return value.length();
  if (value instanceof Uint8Array) return value.length;
  return undefined;
}

export function len(value: PyValue): number {
  const size = lengthOf(value);
  if (size === undefined) throw typeError(`object of type '${typeName(value)}' has no len()`);
  return size;
}

function* listItems(list: PyValue[]): Generator<PyValue> {
  // By index, so that items appended during the loop are included, as in Python.
  for (let index = 0; index < list.length; index += 1) yield list[index]!;
}

/** `iter(x)`, undefined when not iterable. */
export function tryIterate(value: PyValue): Iterator<PyValue> | undefined {
  if (Array.isArray(value)) return listItems(value);
  if (typeof value === 'string') return isSimple(value) ? value.split('')[Symbol.iterator]() : value[Symbol.iterator]();
  // Iterating safe text gives plain characters; only subscripts keep the mark.
  if (value instanceof Markup) return codePoints(value.text)[Symbol.iterator]();
  if (value instanceof PyObject) return value.iterate();
  if (value instanceof Uint8Array) return value[Symbol.iterator]();
  return undefined;
}

export function iterate(value: PyValue): Iterator<PyValue> {
  const source = tryIterate(value);
  if (source === undefined) throw notIterable(typeName(value));
  return source;
}

/** Longest list that an iterator may produce: products of ranges would otherwise fill the memory. */
const maxItems = 1_000_000;

/** `list(x)`: always a fresh array. */
export function toArray(value: PyValue): PyValue[] {
  if (Array.isArray(value)) return value.slice();
  if (value instanceof PyTuple) return value.items.slice();
  if (typeof value === 'string') return codePoints(value);
  const source = iterate(value);
  const out: PyValue[] = [];
  for (let step = source.next(); !step.done; step = source.next()) {
    if (out.length >= maxItems) throw memoryError();
    out.push(step.value);
  }
  return out;
}

/** A JavaScript iterable over a Python iterable. */
export function each(value: PyValue): Iterable<PyValue> {
  const source = iterate(value);
  return { [Symbol.iterator]: () => source };
}

/** `reversed(x)`, undefined when Python would raise TypeError. */
export function reversed(value: PyValue): PyIterator | undefined {
  if (Array.isArray(value)) return new PyIterator('list_reverseiterator', value.slice().reverse()[Symbol.iterator]());
  if (value instanceof PyIterator) return undefined;
  const size = lengthOf(value);
  if (size === undefined || typeName(value) === 'set' || typeName(value) === 'frozenset') return undefined;
  const name = typeName(value) === 'dict' ? 'dict_reversekeyiterator' : 'reversed';
  return new PyIterator(name, toArray(value).reverse()[Symbol.iterator]());
}

/** Values for a fixed number of targets, with Python's unpacking errors. */
export function unpack(value: PyValue, count: number): readonly PyValue[] {
  const known = Array.isArray(value) ? value : value instanceof PyTuple ? value.items : undefined;
  if (known !== undefined) {
    checkCount(known.length, count);
    return known;
  }
  const source = tryIterate(value);
  if (source === undefined) throw typeError(`cannot unpack non-iterable ${typeName(value)} object`);
  const out: PyValue[] = [];
  for (let step = source.next(); !step.done; step = source.next()) {
    if (out.length === count) throw tooMany(count);
    out.push(step.value);
  }
  checkCount(out.length, count);
  return out;
}

function checkCount(got: number, expected: number): void {
  if (got > expected) throw tooMany(expected);
  if (got < expected) throw new PyError('ValueError', `not enough values to unpack (expected ${expected}, got ${got})`);
}

function tooMany(expected: number): PyError {
  return new PyError('ValueError', `too many values to unpack (expected ${expected})`);
}
