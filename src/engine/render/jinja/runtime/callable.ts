// Values that a template can call: functions, bound built-in methods and types.
import { typeError } from '../errors.ts';
import type { Runtime } from './runtime.ts';
import { type Bound, bind, type Signature } from './signature.ts';
import { addressOf, type Kwargs, type MaybePromise, PyObject, type PyValue, typeName } from './value.ts';

export type Native = (rt: Runtime, bound: Bound) => MaybePromise<PyValue>;

/** A function of the engine with a Python signature: filters, tests and globals are such functions. */
export class PyFunction extends PyObject {
  readonly sig: Signature;
  readonly native: Native;
  /** True when a call may return a promise. */
  readonly waits: boolean;
  constructor(sig: Signature, native: Native, waits = false) {
    super();
    this.sig = sig;
    this.native = native;
    this.waits = waits;
  }
  typeName(): string {
    return 'function';
  }
  override repr(): string {
    return `<function ${this.sig.name} at ${addressOf(this)}>`;
  }
  override invoke(rt: Runtime, args: PyValue[], kwargs: Kwargs | undefined): MaybePromise<PyValue> {
    return this.native(rt, bind(this.sig, args, kwargs));
  }
}

/** How a built-in method accepts its arguments; determines the texts of its errors. */
export type MethodStyle = 'none' | 'one' | 'positional' | 'parsed' | 'keywords';

export interface Method {
  readonly name: string;
  readonly style: MethodStyle;
  readonly min: number;
  readonly max: number;
  /** Parameter names of the `keywords` style. */
  readonly names: readonly string[];
  readonly run: (self: PyValue, args: PyValue[], rt: Runtime, kwargs: Kwargs | undefined) => MaybePromise<PyValue>;
}

export type MethodTable = ReadonlyMap<string, Method>;
type Run<T extends PyValue> = (
  self: T,
  args: PyValue[],
  rt: Runtime,
  kwargs: Kwargs | undefined,
) => MaybePromise<PyValue>;

function method<T extends PyValue>(
  name: string,
  style: MethodStyle,
  min: number,
  max: number,
  run: Run<T>,
  names: readonly string[] = [],
): Method {
  return { name, style, min, max, names, run: run as Method['run'] };
}

export const noArguments = <T extends PyValue>(name: string, run: Run<T>): Method => method(name, 'none', 0, 0, run);
export const oneArgument = <T extends PyValue>(name: string, run: Run<T>): Method => method(name, 'one', 1, 1, run);
export const positional = <T extends PyValue>(name: string, min: number, max: number, run: Run<T>): Method =>
  method(name, 'positional', min, max, run);
export const parsed = <T extends PyValue>(name: string, min: number, max: number, run: Run<T>): Method =>
  method(name, 'parsed', min, max, run);
export const keywords = <T extends PyValue>(name: string, names: readonly string[], min: number, run: Run<T>): Method =>
  method(name, 'keywords', min, names.length, run, names);
/** A method that accepts anything and checks its arguments itself. */
export const variadic = <T extends PyValue>(name: string, run: Run<T>): Method =>
  method(name, 'positional', 0, Number.POSITIVE_INFINITY, run, ['*']);

export const methodTable = (methods: readonly Method[]): MethodTable => new Map(methods.map((m) => [m.name, m]));

/** Calls a built-in method after checking its arguments. */
export function callMethod(
  owner: string,
  entry: Method,
  self: PyValue,
  args: PyValue[],
  rt: Runtime,
  kwargs: Kwargs | undefined,
): MaybePromise<PyValue> {
  if (kwargs !== undefined && kwargs.size > 0 && entry.names[0] !== '*') {
    if (entry.style !== 'keywords') throw typeError(`${owner}.${entry.name}() takes no keyword arguments`);
    return entry.run(self, mergeKeywords(entry, args, kwargs), rt, undefined);
  }
  if (args.length < entry.min || args.length > entry.max) throw wrongCount(owner, entry, args.length);
  return entry.run(self, args, rt, kwargs);
}

function mergeKeywords(entry: Method, args: PyValue[], kwargs: Kwargs): PyValue[] {
  const total = args.length + kwargs.size;
  if (total > entry.max) {
    throw typeError(
      `${entry.name}() takes at most ${entry.max} argument${entry.max === 1 ? '' : 's'} (${total} given)`,
    );
  }
  const merged: (PyValue | undefined)[] = args.slice();
  for (const [key, value] of kwargs) {
    const at = entry.names.indexOf(key);
    if (at < 0) throw typeError(`'${key}' is an invalid keyword argument for ${entry.name}()`);
    if (merged[at] !== undefined)
      throw typeError(`argument for ${entry.name}() given by name ('${key}') and position (${at + 1})`);
    merged[at] = value;
  }
  // An array hole means "not given"; the methods read it as undefined.
  return merged as PyValue[];
}

function wrongCount(owner: string, entry: Method, given: number): Error {
  const { name, min, max } = entry;
  const plural = (count: number): string => (count === 1 ? '' : 's');
  switch (entry.style) {
    case 'none':
      return typeError(`${owner}.${name}() takes no arguments (${given} given)`);
    case 'one':
      return typeError(`${owner}.${name}() takes exactly one argument (${given} given)`);
    case 'keywords':
    case 'parsed': {
      if (given < min) {
        const how = min === max ? 'exactly' : 'at least';
        return typeError(`${name}() takes ${how} ${min} argument${plural(min)} (${given} given)`);
      }
      const how = min === max ? 'exactly' : 'at most';
      return typeError(`${name}() takes ${how} ${max} argument${plural(max)} (${given} given)`);
    }
    default: {
      const bound = given < min ? min : max;
      const how = min === max ? '' : given < min ? 'at least ' : 'at most ';
      return typeError(`${name} expected ${how}${bound} argument${plural(bound)}, got ${given}`);
    }
  }
}

/** `value.method` without the call. */
export class BoundMethod extends PyObject {
  readonly self: PyValue;
  readonly owner: string;
  readonly entry: Method;
  constructor(self: PyValue, owner: string, entry: Method) {
    super();
    this.self = self;
    this.owner = owner;
    this.entry = entry;
  }
  typeName(): string {
    return 'builtin_function_or_method';
  }
  override repr(): string {
    return `<built-in method ${this.entry.name} of ${typeName(this.self)} object at ${addressOf(this)}>`;
  }
  override invoke(rt: Runtime, args: PyValue[], kwargs: Kwargs | undefined): MaybePromise<PyValue> {
    return callMethod(this.owner, this.entry, this.self, args, rt, kwargs);
  }
}

/** A class object such as `dict` or `namespace`. */
export class PyType extends PyObject {
  readonly qualified: string;
  readonly construct: (rt: Runtime, args: PyValue[], kwargs: Kwargs | undefined) => MaybePromise<PyValue>;
  readonly statics: MethodTable;
  constructor(qualified: string, construct: PyType['construct'], statics: MethodTable = new Map()) {
    super();
    this.qualified = qualified;
    this.construct = construct;
    this.statics = statics;
  }
  typeName(): string {
    return 'type';
  }
  override repr(): string {
    return `<class '${this.qualified}'>`;
  }
  override attr(name: string): PyValue | undefined {
    const entry = this.statics.get(name);
    return entry === undefined ? undefined : new BoundMethod(this, this.qualified, entry);
  }
  override invoke(rt: Runtime, args: PyValue[], kwargs: Kwargs | undefined): MaybePromise<PyValue> {
    return this.construct(rt, args, kwargs);
  }
}

export function isCallable(value: PyValue): value is PyObject & Required<Pick<PyObject, 'invoke'>> {
  return value instanceof PyObject && value.invoke !== undefined;
}

/** Calls any value. */
export function call(rt: Runtime, target: PyValue, args: PyValue[], kwargs?: Kwargs): MaybePromise<PyValue> {
  if (target instanceof PyObject && target.invoke !== undefined) return target.invoke(rt, args, kwargs);
  throw typeError(`'${typeName(target)}' object is not callable`);
}
