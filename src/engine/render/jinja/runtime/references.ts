// Arguments by reference: some functions modify their arguments, or return a part of them, as in Python.
import type { Value } from '../../../../base/codec/value.ts';
import { markOrdered } from '../../../../base/codec/yaml/index.ts';
import { PyDict } from './dict.ts';
import type { Runtime } from './runtime.ts';
import type { PyValue } from './value.ts';

type Container = PyDict | PyValue[];

interface Pair {
  readonly own: Container;
  /** The content of the host's copy before the call: keys with values, or items. */
  readonly before: ReadonlyMap<Value, Value> | readonly Value[];
}

/** The host's copies of a template's containers during one call. */
export class References {
  readonly #pairs = new Map<object, Pair>();
  readonly #copies = new Map<Container, Value>();
  readonly #toHost: (value: PyValue) => Value;

  /** `toHost` copies values that are not containers. */
  constructor(toHost: (value: PyValue) => Value) {
    this.#toHost = toHost;
  }

  out(value: PyValue): Value {
    if (!Array.isArray(value) && !(value instanceof PyDict)) return this.#toHost(value);
    const known = this.#copies.get(value);
    if (known !== undefined) return known;
    return Array.isArray(value) ? this.#list(value) : this.#dict(value);
  }

  #list(own: PyValue[]): Value {
    const copy: Value[] = [];
    this.#copies.set(own, copy);
    for (const item of own) copy.push(this.out(item));
    this.#pairs.set(copy, { own, before: [...copy] });
    return copy;
  }

  #dict(own: PyDict): Value {
    // A Map, since keys of any kind may be put in.
    const copy = new Map<Value, Value>();
    if (own.ordered) markOrdered(copy);
    this.#copies.set(own, copy);
    for (const [key, item] of own.entries()) copy.set(this.#toHost(key), this.out(item));
    this.#pairs.set(copy, { own, before: new Map(copy) });
    return copy;
  }

  /**
   * After the call: the template's containers get the content of the copies, and copies in the result are replaced by
   * the containers.
   */
  settle(bridge: Runtime['bridge']): void {
    for (const [copy, { own }] of this.#pairs) bridge.adopt(copy, own);
    for (const [copy, { own, before }] of this.#pairs) {
      if (Array.isArray(own)) settleList(copy as Value[], own, before as readonly Value[], bridge);
      else settleDict(copy as Map<Value, Value>, own, before as ReadonlyMap<Value, Value>, bridge);
    }
  }
}

function settleList(copy: Value[], own: PyValue[], before: readonly Value[], bridge: Runtime['bridge']): void {
  if (copy.length === before.length && copy.every((item, index) => item === before[index])) return;
  const items = copy.map((item, index) => (item === before[index] ? (own[index] ?? null) : bridge.in(item)));
  own.splice(0, own.length, ...items);
}

function settleDict(
  copy: ReadonlyMap<Value, Value>,
  own: PyDict,
  before: ReadonlyMap<Value, Value>,
  bridge: Runtime['bridge'],
): void {
  const gone = new Set(before.keys());
  for (const [key, value] of copy) {
    gone.delete(key);
    if (!before.has(key) || before.get(key) !== value) own.set(bridge.in(key), bridge.in(value));
  }
  for (const key of gone) own.delete(bridge.in(key));
}
