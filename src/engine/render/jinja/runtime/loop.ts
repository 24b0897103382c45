// The `loop` variable.
import { typeError } from '../errors.ts';
import { PyFunction } from './callable.ts';
import { eq } from './compare.ts';
import { lengthOf } from './iterate.ts';
import type { Runtime } from './runtime.ts';
import { signature } from './signature.ts';
import { type Kwargs, type MaybePromise, PyObject, type PyValue } from './value.ts';

/** Renders the loop body again over another iterable. */
export type Recurse = (iterable: PyValue, depth: number) => MaybePromise<PyValue>;

const cycleSignature = signature('LoopContext.cycle', '*args', 1);
const changedSignature = signature('LoopContext.changed', '*value', 1);

export class LoopContext extends PyObject {
  readonly #iterable: PyValue | undefined;
  readonly #rt: Runtime;
  readonly #recurse: Recurse | undefined;
  readonly depth0: number;
  #source: Iterator<PyValue>;
  #length: number | undefined;
  #after: PyValue | undefined;
  #current: PyValue | undefined;
  #before: PyValue | undefined;
  #changed: readonly PyValue[] | undefined;
  index0 = -1;

  /** `iterable` is the value for `len()`; undefined for filtered loops. */
  constructor(
    rt: Runtime,
    source: Iterator<PyValue>,
    iterable: PyValue | undefined,
    recurse: Recurse | undefined,
    depth0: number,
  ) {
    super();
    this.#rt = rt;
    this.#source = source;
    this.#iterable = iterable;
    this.#recurse = recurse;
    this.depth0 = depth0;
  }

  typeName(): string {
    return 'LoopContext';
  }
  override moduleName(): string {
    return 'jinja2.runtime';
  }
  override repr(): string {
    return `<LoopContext ${this.index0 + 1}/${this.length()}>`;
  }

  /** The next item, undefined at the end. */
  advance(): PyValue | undefined {
    let item = this.#after;
    if (item !== undefined) this.#after = undefined;
    else {
      const step = this.#source.next();
      if (step.done) return undefined;
      item = step.value;
    }
    this.index0 += 1;
    this.#before = this.#current;
    this.#current = item;
    return item;
  }

  #peek(): PyValue | undefined {
    if (this.#after === undefined) {
      const step = this.#source.next();
      if (!step.done) this.#after = step.value;
    }
    return this.#after;
  }

  override length(): number {
    if (this.#length !== undefined) return this.#length;
    let size = this.#iterable === undefined ? undefined : lengthOf(this.#iterable);
    if (size === undefined) {
      const rest: PyValue[] = [];
      for (let step = this.#source.next(); !step.done; step = this.#source.next()) rest.push(step.value);
      this.#source = rest[Symbol.iterator]();
      size = rest.length + this.index0 + 1 + (this.#after === undefined ? 0 : 1);
    }
    this.#length = size;
    return size;
  }

  override attr(name: string): PyValue | undefined {
    switch (name) {
      case 'index':
        return this.index0 + 1;
      case 'index0':
        return this.index0;
      case 'first':
        return this.index0 === 0;
      case 'last':
        return this.#peek() === undefined;
      case 'length':
        return this.length();
      case 'revindex':
        return this.length() - this.index0;
      case 'revindex0':
        return this.length() - this.index0 - 1;
      case 'depth':
        return this.depth0 + 1;
      case 'depth0':
        return this.depth0;
      default:
        return this.#neighbour(name);
    }
  }

  #neighbour(name: string): PyValue | undefined {
    switch (name) {
      case 'previtem':
        return this.index0 === 0 ? this.#rt.undefined({ hint: 'there is no previous item' }) : this.#before;
      case 'nextitem': {
        const next = this.#peek();
        return next === undefined ? this.#rt.undefined({ hint: 'there is no next item' }) : next;
      }
      case 'cycle':
        return new PyFunction(cycleSignature, (_rt, { rest }) => {
          if (rest.length === 0) throw typeError('no items for cycling given');
          return rest[this.index0 % rest.length]!;
        });
      case 'changed':
        return new PyFunction(changedSignature, (_rt, { rest }) => this.#hasChanged(rest));
      default:
        return undefined;
    }
  }

  #hasChanged(values: readonly PyValue[]): boolean {
    const last = this.#changed;
    const equal =
      last !== undefined &&
      last.length === values.length &&
      last.every((item, at) => item === values[at] || eq(item, values[at]!));
    if (!equal) this.#changed = values;
    return !equal;
  }

  override invoke(_rt: Runtime, args: PyValue[], _kwargs: Kwargs | undefined): MaybePromise<PyValue> {
    if (args.length !== 1) {
      throw typeError(`LoopContext.__call__() takes 2 positional arguments but ${args.length + 1} were given`);
    }
    if (this.#recurse === undefined) {
      throw typeError("The loop must have the 'recursive' marker to be called recursively.");
    }
    return this.#recurse(args[0]!, this.depth0 + 1);
  }
}
