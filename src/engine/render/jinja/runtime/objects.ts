// Objects that the template language itself creates: namespaces, modules, references to blocks.
import { PyError } from '../errors.ts';
import type { PyDict } from './dict.ts';
import { Markup } from './markup.ts';
import { repr } from './print.ts';
import type { BlockCode, Context, Runtime } from './runtime.ts';
import { type MaybePromise, PyObject, type PyValue } from './value.ts';

/** `namespace(...)`: the only object whose attributes a template can set. */
export class Namespace extends PyObject {
  readonly values: PyDict;
  constructor(values: PyDict) {
    super();
    this.values = values;
  }
  typeName(): string {
    return 'Namespace';
  }
  override moduleName(): string {
    return 'jinja2.utils';
  }
  override repr(): string {
    return `<Namespace ${repr(this.values)}>`;
  }
  override attr(name: string): PyValue | undefined {
    return this.values.get(name);
  }
}

/** An imported template: its exports as attributes, its output as text. */
export class TemplateModule extends PyObject {
  readonly name: string | undefined;
  readonly text: string;
  readonly exports: ReadonlyMap<string, PyValue>;

  constructor(name: string | undefined, text: string, exports: ReadonlyMap<string, PyValue>) {
    super();
    this.name = name;
    this.text = text;
    this.exports = exports;
  }
  typeName(): string {
    return 'TemplateModule';
  }
  override moduleName(): string {
    return 'jinja2.environment';
  }
  override repr(): string {
    return `<TemplateModule ${this.name === undefined ? 'memory' : repr(this.name)}>`;
  }
  override str(): string {
    return this.text;
  }
  override attr(name: string): PyValue | undefined {
    return this.exports.get(name);
  }
}

export function makeModule(name: string | undefined, context: Context, text: string): TemplateModule {
  const exports = new Map<string, PyValue>();
  for (const key of context.exported) {
    const value = context.vars.get(key);
    if (value !== undefined) exports.set(key, value);
  }
  return new TemplateModule(name, text, exports);
}

/** `self`: blocks by name. */
export class TemplateReference extends PyObject {
  readonly #context: Context;
  constructor(context: Context) {
    super();
    this.#context = context;
  }
  typeName(): string {
    return 'TemplateReference';
  }
  override moduleName(): string {
    return 'jinja2.runtime';
  }
  override repr(): string {
    return `<TemplateReference ${repr(this.#context.templateName ?? null)}>`;
  }
  override item(key: PyValue): PyValue | undefined {
    if (typeof key !== 'string') return undefined;
    const stack = this.#context.blocks.get(key);
    return stack === undefined ? undefined : new BlockReference(key, this.#context, stack, 0);
  }
  override subscriptable(): boolean {
    return true;
  }
}

/** A block of the template chain: `self.name`, `super`. */
class BlockReference extends PyObject {
  readonly #name: string;
  readonly #context: Context;
  readonly #stack: readonly BlockCode[];
  readonly #depth: number;

  constructor(name: string, context: Context, stack: readonly BlockCode[], depth: number) {
    super();
    this.#name = name;
    this.#context = context;
    this.#stack = stack;
    this.#depth = depth;
  }
  typeName(): string {
    return 'BlockReference';
  }
  override moduleName(): string {
    return 'jinja2.runtime';
  }
  override attr(name: string, rt: Runtime): PyValue | undefined {
    if (name === 'name') return this.#name;
    return name === 'super' ? blockAt(rt, this.#name, this.#context, this.#stack, this.#depth + 1) : undefined;
  }
  override invoke(rt: Runtime, args: PyValue[]): MaybePromise<PyValue> {
    if (args.length > 0) {
      throw new PyError(
        'TypeError',
        `BlockReference.__call__() takes 1 positional argument but ${args.length + 1} were given`,
      );
    }
    const text = this.#stack[this.#depth]!(this.#context, rt);
    if (!this.#context.autoescape) return text;
    return text instanceof Promise ? text.then((later) => new Markup(later)) : new Markup(text);
  }
}

/** The block at a depth of a stack, undefined (in Jinja's sense) below the last one. */
export function blockAt(
  rt: Runtime,
  name: string,
  context: Context,
  stack: readonly BlockCode[],
  depth: number,
): PyValue {
  if (depth < stack.length) return new BlockReference(name, context, stack, depth);
  return rt.undefined({ hint: `there is no parent block called ${repr(name)}.`, name: 'super' });
}
