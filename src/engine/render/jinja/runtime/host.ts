// The interface to the host: converts host data to engine values (dicts level by level, on access) and arguments back.

import { pythonObjectOf } from '../../../../base/codec/python-object.ts';
import { type Dict, dictOf, newDict, type PlainDict, PyFloat, type Value } from '../../../../base/codec/value.ts';
import {
  PySet as CodecSet,
  PyTuple as CodecTuple,
  isOrdered,
  markOrdered,
  setOf,
  tupleOf,
} from '../../../../base/codec/yaml/index.ts';
import { typeError } from '../errors.ts';
import { PyDateTime } from './datetime.ts';
import { PyDict } from './dict.ts';
import { ForeignObject } from './foreign.ts';
import { Markup } from './markup.ts';
import { makeFloat, makeInt } from './number.ts';
import { TemplateModule } from './objects.ts';
import { str } from './print.ts';
import { References } from './references.ts';
import type { Runtime } from './runtime.ts';
import { PyRange, PyTuple } from './sequence.ts';
import { PySet } from './set.ts';
import { Undefined } from './undefined.ts';
import { addressOf, type Kwargs, type MaybePromise, PyObject, type PyValue, shownClass } from './value.ts';

/** A function of the host: positional arguments and named ones as plain values; may be asynchronous. */
export interface HostFunction {
  (args: Value[], kwargs: PlainDict): unknown;
  /** It modifies its arguments visibly for the caller, or returns parts of them. */
  byReference?: boolean;
}

/** Converts host data; the same object stays one object as long as the bridge exists. */
export class Bridge {
  readonly #known = new WeakMap<object, PyValue>();
  readonly #tuplesAsLists: boolean;

  /** Salt converts tuples of loaded YAML to lists. */
  constructor(tuplesAsLists = false) {
    this.#tuplesAsLists = tuplesAsLists;
  }

  in(value: unknown): PyValue {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
      case 'bigint':
        return makeInt(value);
      case 'function':
        return this.#once(value, () => new HostCallable(value as HostFunction));
      default:
    }
    if (value === null || value === undefined) return null;
    if (value instanceof PyObject) return value;
    if (value instanceof PyFloat) return makeFloat(value.value);
    if (value instanceof Uint8Array) return value;
    return this.#once(value as object, () => this.#container(value as object));
  }

  /** From now on `value` represents the host's object. */
  adopt(source: object, value: PyValue): void {
    this.#known.set(source, value);
  }

  #once(source: object, make: () => PyValue): PyValue {
    let made = this.#known.get(source);
    if (made === undefined) {
      made = make();
      this.#known.set(source, made);
      const shown = shownClass.get(source);
      if (shown !== undefined && made instanceof PyObject) shownClass.set(made, shown);
    }
    return made;
  }

  #container(value: object): PyValue {
    if (value instanceof CodecTuple && !this.#tuplesAsLists)
      return new PyTuple(Array.from(value, (item) => this.in(item)));
    if (value instanceof CodecSet) return new PySet(Array.from(value, (item) => this.in(item)));
    if (Array.isArray(value)) {
      const list: PyValue[] = [];
      this.#known.set(value, list);
      for (const item of value) list.push(this.in(item));
      return list;
    }
    if (value instanceof Date) return new PyDateTime(value.getTime());
    const object = pythonObjectOf(value);
    if (object !== undefined) return new ForeignObject(value as PlainDict, object);
    const ordered = isOrdered(value as Dict);
    if (value instanceof Map) {
      return new PyDict({
        ordered,
        fill: (dict) => {
          for (const [key, item] of value) dict.set(this.in(key), this.in(item));
        },
      });
    }
    return new PyDict({
      ordered,
      fill: (dict) => {
        for (const key of Object.keys(value)) dict.set(key, this.in((value as PlainDict)[key]));
      },
    });
  }
}

/** A host function as a value of the template. */
export class HostCallable extends PyObject {
  readonly #fn: HostFunction;
  constructor(fn: HostFunction) {
    super();
    this.#fn = fn;
  }
  typeName(): string {
    return 'function';
  }
  override repr(): string {
    return `<function ${this.#fn.name || '<lambda>'} at ${addressOf(this)}>`;
  }
  override invoke(rt: Runtime, args: PyValue[], kwargs: Kwargs | undefined): MaybePromise<PyValue> {
    const stand = new StandIns(this.#fn.byReference ? new References(toHost) : undefined);
    const named = newDict();
    for (const [key, value] of kwargs ?? []) named[key] = stand.out(value);
    const result = this.#fn(
      args.map((arg) => stand.out(arg)),
      named,
    );
    if (result instanceof Promise) return result.then((later) => stand.back(later, rt.bridge));
    return stand.back(result, rt.bridge);
  }
}

/**
 * An undefined argument may be a default that is never used (`pillar.get` with an existing key), so it must not fail by
 * itself: an empty dict replaces it, and is converted back to the undefined value if the function returns it.
 */
class StandIns {
  readonly #references: References | undefined;
  #map: Map<unknown, Undefined> | undefined;
  constructor(references: References | undefined) {
    this.#references = references;
  }
  out(value: PyValue): Value {
    if (!(value instanceof Undefined)) return this.#references ? this.#references.out(value) : toHost(value);
    const marker = newDict();
    this.#map ??= new Map();
    this.#map.set(marker, value);
    return marker;
  }
  back(result: unknown, bridge: Runtime['bridge']): PyValue {
    this.#references?.settle(bridge);
    return this.#map?.get(result) ?? bridge.in(result);
  }
}

/** A value of the template as plain data. */
export function toHost(value: PyValue): Value {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(toHost);
  if (!(value instanceof PyObject)) return value;
  if (value instanceof PyDict) {
    const dict = dictOf([...value.entries()].map(([key, item]) => [toHost(key), toHost(item)] as const));
    return value.ordered ? markOrdered(dict) : dict;
  }
  if (value instanceof Markup) return value.text;
  if (value instanceof ForeignObject) return value.source;
  if (value instanceof PyTuple) return tupleOf(value.items.map(toHost));
  if (value instanceof PySet) return setOf(value.toArray().map(toHost));
  if (value instanceof PyRange) return value.toArray();
  if (value instanceof Undefined) return value.strict ? value.fail() : '';
  if (value instanceof PyDateTime) return new Date(value.millis);
  if (value instanceof TemplateModule) return str(value);
  const source = value.iterate();
  if (source === undefined) throw typeError(`a '${value.typeName()}' object cannot be passed to a function`);
  const list: Value[] = [];
  for (let step = source.next(); !step.done; step = source.next()) list.push(toHost(step.value));
  return list;
}
