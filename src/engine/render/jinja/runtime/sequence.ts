// Tuples, ranges and iterators.
import { typeError, valueError } from '../errors.ts';
import { tupleKey } from './hash.ts';
import { guardedRepr, repr } from './print.ts';
import { addressOf, type HashKey, PyFloat, PyObject, type PyValue } from './value.ts';

export class PyTuple extends PyObject {
  readonly items: readonly PyValue[];
  constructor(items: readonly PyValue[]) {
    super();
    this.items = items;
  }
  typeName(): string {
    return 'tuple';
  }
  override repr(): string {
    const { items } = this;
    return guardedRepr(this, '(...)', () =>
      items.length === 1 ? `(${repr(items[0]!)},)` : `(${items.map(repr).join(', ')})`,
    );
  }
  override length(): number {
    return this.items.length;
  }
  override iterate(): Iterator<PyValue> {
    return this.items[Symbol.iterator]();
  }
  override hashKey(): HashKey {
    return tupleKey(this.items);
  }
  override subscriptable(): boolean {
    return true;
  }
}

/** One group of `groupby`: a tuple with two named fields. */
export class GroupTuple extends PyTuple {
  constructor(grouper: PyValue, list: PyValue[]) {
    super([grouper, list]);
  }
  override typeName(): string {
    return '_GroupTuple';
  }
  override moduleName(): string {
    return 'jinja2.filters';
  }
  override attr(name: string): PyValue | undefined {
    if (name === 'grouper') return this.items[0];
    if (name === 'list') return this.items[1];
    return undefined;
  }
}

export class PyRange extends PyObject {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly size: number;

  constructor(start: number, stop: number, step: number) {
    super();
    if (step === 0) throw valueError('range() arg 3 must not be zero');
    this.start = start;
    this.stop = stop;
    this.step = step;
    this.size = Math.max(0, Math.ceil((stop - start) / step));
  }
  typeName(): string {
    return 'range';
  }
  override repr(): string {
    const { start, stop, step } = this;
    return step === 1 ? `range(${start}, ${stop})` : `range(${start}, ${stop}, ${step})`;
  }
  override length(): number {
    return this.size;
  }
  at(index: number): number {
    return this.start + index * this.step;
  }
  override iterate(): Iterator<PyValue> {
    let index = 0;
    const { size } = this;
    return {
      next: () => (index < size ? { done: false, value: this.at(index++) } : { done: true, value: undefined }),
    };
  }
  override contains(key: PyValue): boolean {
    const value = typeof key === 'boolean' ? Number(key) : key instanceof PyFloat ? key.value : key;
    if (typeof value !== 'number' || !Number.isInteger(value)) return false;
    const index = (value - this.start) / this.step;
    return Number.isInteger(index) && index >= 0 && index < this.size;
  }
  override hashKey(): HashKey {
    return `\0r${this.size},${this.size > 0 ? this.start : ''},${this.size > 1 ? this.step : ''}`;
  }
  override subscriptable(): boolean {
    return true;
  }
  toArray(): number[] {
    return Array.from({ length: this.size }, (_, index) => this.at(index));
  }
}

/** A one-way iterator: generators, `reversed`, `zip`… */
export class PyIterator extends PyObject implements Iterator<PyValue> {
  readonly #name: string;
  readonly #label: string | undefined;
  readonly #source: Iterator<PyValue>;

  /** `label` is the function name Python shows for generators. */
  constructor(name: string, source: Iterator<PyValue>, label?: string) {
    super();
    this.#name = name;
    this.#label = label;
    this.#source = source;
  }
  typeName(): string {
    return this.#name;
  }
  override moduleName(): string {
    return itertoolsNames.has(this.#name) ? 'itertools' : 'builtins';
  }
  override repr(): string {
    if (this.#label !== undefined) return `<${this.#name} object ${this.#label} at ${addressOf(this)}>`;
    return super.repr();
  }
  override iterate(): Iterator<PyValue> {
    return this;
  }
  next(): IteratorResult<PyValue> {
    return this.#source.next();
  }
}

const itertoolsNames = new Set([
  'combinations',
  'combinations_with_replacement',
  'compress',
  'permutations',
  'product',
  'zip_longest',
]);

/** A generator object named after the function that Python would show. */
export function generator(label: string, source: Iterator<PyValue>): PyIterator {
  return new PyIterator('generator', source, label);
}

/** Index after Python's rules for negative values; undefined when out of range. */
export function normalIndex(index: number, size: number): number | undefined {
  const at = index < 0 ? index + size : index;
  return at >= 0 && at < size ? at : undefined;
}

export function notIterable(name: string): Error {
  return typeError(`'${name}' object is not iterable`);
}
