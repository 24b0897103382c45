// Python values inside the engine: primitives, arrays for lists, and one base class for every other object.
import { PyFloat } from '../../../../base/codec/value.ts';

export { PyFloat };

/** ints are whole numbers or bigints, floats are fractional numbers or PyFloat, lists are arrays. Never `undefined`. */
export type PyValue = null | boolean | number | bigint | string | PyFloat | Uint8Array | PyValue[] | PyObject;
export type MaybePromise<T> = T | Promise<T>;
export type Kwargs = ReadonlyMap<string, PyValue>;

/** Map keys under which values that are equal in Python are the same: see `hashKey`. */
export type HashKey = string | number | bigint | null | object;

/** The part of a render that values use; methods that need more use the whole `Runtime`. */
export interface RenderState {
  /** Counts the work of a template, which is bounded. */
  step(): void;
}

/** Base of all objects that are not plain JavaScript primitives, bytes or lists. */
export abstract class PyObject {
  /** `type(x).__name__`. */
  abstract typeName(): string;

  /** `type(x).__module__`; part of "has no attribute" messages unless it is `builtins`. */
  moduleName(): string {
    return 'builtins';
  }

  repr(): string {
    const module = this.moduleName();
    const name = module === 'builtins' ? this.typeName() : `${module}.${this.typeName()}`;
    return `<${name} object at ${addressOf(this)}>`;
  }

  str(): string {
    return this.repr();
  }

  truth(): boolean {
    const size = this.length();
    return size === undefined ? true : size > 0;
  }

  /** `len(x)`, undefined when the type has none. */
  length(): number | undefined {
    return undefined;
  }

  /** `iter(x)`, undefined when not iterable. */
  iterate(): Iterator<PyValue> | undefined {
    return undefined;
  }

  equals(other: PyValue): boolean {
    return this === other;
  }

  /** Key for dicts and sets; throws for unhashable types. */
  hashKey(): HashKey {
    return this;
  }

  /** `key in x`; undefined means: fall back to iteration. */
  contains(_key: PyValue): boolean | undefined {
    return undefined;
  }

  /** Instance attributes beyond the method table of the type. */
  attr(_name: string, _rt: RenderState): PyValue | undefined {
    return undefined;
  }

  /** `x[key]`; undefined for a LookupError or TypeError that leads to the attribute fallback. */
  item(_key: PyValue): PyValue | undefined {
    return undefined;
  }

  /** True when `type(x)` has `__getitem__`. */
  subscriptable(): boolean {
    return false;
  }

  /** `type(x).__call__`, undefined when not callable. */
  invoke?(rt: RenderState, args: PyValue[], kwargs: Kwargs | undefined): MaybePromise<PyValue>;
}

const addresses = new WeakMap<object, string>();
let nextAddress = 0x7f0000001000;

/** A stable artificial memory address, for `<generator object … at 0x…>`. */
export function addressOf(object: object): string {
  let address = addresses.get(object);
  if (address === undefined) {
    address = `0x${nextAddress.toString(16)}`;
    nextAddress += 0x40;
    addresses.set(object, address);
  }
  return address;
}

/** `type(x).__name__`. */
export function typeName(value: PyValue): string {
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    default:
  }
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (value instanceof PyObject) return value.typeName();
  if (value instanceof PyFloat) return 'float';
  return 'bytes';
}

/** Dicts that are something else in Salt, by their Python class: messages name it. Keys are the host's dict and its counterpart here. */
export const shownClass = new WeakMap<object, string>();

/** How messages name a value: `None`, `dict object`, `jinja2.utils.Namespace object`. */
export function objectTypeName(value: PyValue): string {
  if (value === null) return 'None';
  const shown = value instanceof PyObject ? shownClass.get(value) : undefined;
  if (shown !== undefined) return `${shown} object`;
  if (value instanceof PyObject && value.moduleName() !== 'builtins') {
    return `${value.moduleName()}.${value.typeName()} object`;
  }
  return `${typeName(value)} object`;
}

/** `type(x)` as Python prints it. */
export function classText(value: PyValue): string {
  const module = value instanceof PyObject ? value.moduleName() : 'builtins';
  return module === 'builtins' ? `<class '${typeName(value)}'>` : `<class '${module}.${typeName(value)}'>`;
}

/** Continue with a value now or when its promise resolves. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
