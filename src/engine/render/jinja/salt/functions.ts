// The `salt` variable: execution functions by `salt['module.function']` and `salt.module.function`.
import { HostCallable, type HostFunction } from '../runtime/host.ts';
import { textOf } from '../runtime/markup.ts';
import { PyObject, type PyValue } from '../runtime/value.ts';

export interface SaltFunctionSource {
  /** The function of that full name, undefined when there is none; `ofModule` when it was asked for as `salt.module.function`. */
  readonly find: (name: string, ofModule: boolean) => HostFunction | undefined;
  /** Whether a module of that name exists; by default any name passes until a function is asked for. */
  readonly hasModule?: (name: string) => boolean;
  /** All function names, for loops over `salt`. */
  readonly names?: () => Iterable<string>;
}

/** `salt.module`, whose attributes are functions. */
class SaltModule extends PyObject {
  readonly #name: string;
  readonly #functions: SaltFunctions;
  constructor(name: string, functions: SaltFunctions) {
    super();
    this.#name = name;
    this.#functions = functions;
  }
  typeName(): string {
    return 'LoadedMod';
  }
  override moduleName(): string {
    return 'salt.loader.lazy';
  }
  override repr(): string {
    return `<LoadedMod module='salt.loaded.int.module.${this.#name}'>`;
  }
  override attr(name: string): PyValue | undefined {
    return this.#functions.find(`${this.#name}.${name}`, true);
  }
}

export class SaltFunctions extends PyObject {
  readonly #source: SaltFunctionSource;
  readonly #known = new Map<string, PyValue>();

  constructor(source: SaltFunctionSource) {
    super();
    this.#source = source;
  }
  typeName(): string {
    return 'AliasedLoader';
  }
  override moduleName(): string {
    return 'salt.utils.templates';
  }

  find(name: string, ofModule = false): PyValue | undefined {
    const key = ofModule ? `.${name}` : name;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const fn = this.#source.find(name, ofModule);
    if (fn === undefined) return undefined;
    const made = new HostCallable(fn);
    this.#known.set(key, made);
    return made;
  }

  override item(key: PyValue): PyValue | undefined {
    const name = textOf(key);
    return name === undefined ? undefined : this.find(name);
  }
  override attr(name: string): PyValue | undefined {
    // A full name used as attribute (`salt['a.b']` falls back to it) is no module.
    if (name.includes('.') || this.#source.hasModule?.(name) === false) return undefined;
    return new SaltModule(name, this);
  }
  override contains(key: PyValue): boolean {
    const name = textOf(key);
    return name !== undefined && this.find(name) !== undefined;
  }
  override subscriptable(): boolean {
    return true;
  }
  override iterate(): Iterator<PyValue> | undefined {
    return this.#source.names?.()[Symbol.iterator]();
  }
}

/** The `salt` object for a template context. */
export function saltFunctions(source: SaltFunctionSource): SaltFunctions {
  return new SaltFunctions(source);
}
