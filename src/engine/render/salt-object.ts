// `salt` in templates: execution functions by subscript (`salt['mod.fun']`) and by attribute (`salt.mod.fun`).
import { newDict, type Value } from '../../base/codec/value.ts';
import type { SaltFunctions } from './host.ts';
import { PyError } from './jinja/errors.ts';
import { Bridge, toHost } from './jinja/runtime/host.ts';
import { type Kwargs, type MaybePromise, PyObject, type PyValue } from './jinja/runtime/value.ts';

const ownerName = 'salt.utils.templates.AliasedLoader object';
/** Names a template asks about without calling them: those must be known before it runs. */
const asked = /(['"])([A-Za-z_]\w*\.\w+)\1\s*\]?\s+(?:(?:not\s+)?in\s+salt\b|is\s+(?:not\s+)?(?:un)?defined)/g;

export class SaltObject extends PyObject {
  readonly #functions: SaltFunctions;
  readonly #bridge: Bridge;
  readonly #known = new Map<string, boolean>();
  #modules: ReadonlySet<string> | undefined;

  constructor(functions: SaltFunctions, bridge: Bridge) {
    super();
    this.#functions = functions;
    this.#bridge = bridge;
  }

  /** Looks up what a template asks about; modules are loaded only for that. */
  async prepare(source: string): Promise<void> {
    if (!source.includes('salt')) return;
    this.#modules ??= await this.#functions.modules();
    for (const [, , name = ''] of source.matchAll(asked)) {
      if (!this.#known.has(name)) this.#known.set(name, await this.#functions.has(name));
    }
  }

  typeName(): string {
    return 'AliasedLoader';
  }
  override moduleName(): string {
    return 'salt.utils.templates';
  }
  override subscriptable(): boolean {
    return true;
  }
  override contains(key: PyValue): boolean {
    return typeof key === 'string' && this.#seems(key);
  }
  override item(key: PyValue): PyValue | undefined {
    return typeof key === 'string' && key.includes('.') && this.#seems(key) ? this.function(key) : undefined;
  }
  override attr(name: string): PyValue | undefined {
    return this.#modules === undefined || this.#modules.has(name) ? new SaltModule(this, name) : undefined;
  }

  function(name: string): PyValue {
    return new SaltFunction(this, name);
  }

  /** Whether there is such a function, as far as can be said without loading anything. */
  #seems(name: string): boolean {
    return this.#known.get(name) ?? (this.#modules === undefined || this.#modules.has(name.split('.', 1)[0]!));
  }

  async call(name: string, args: Value[], kwargs: Record<string, Value>): Promise<PyValue> {
    if (!(await this.#functions.has(name))) {
      throw new PyError('UndefinedError', `'${ownerName}' has no attribute '${name}'`);
    }
    return this.#bridge.in(await this.#functions.call(name, args, kwargs));
  }
}

/** `salt.mod`. */
class SaltModule extends PyObject {
  readonly #salt: SaltObject;
  readonly #name: string;
  constructor(salt: SaltObject, name: string) {
    super();
    this.#salt = salt;
    this.#name = name;
  }
  typeName(): string {
    return 'LoadedMod';
  }
  override moduleName(): string {
    return 'salt.loader.lazy';
  }
  override attr(name: string): PyValue | undefined {
    return this.#salt.item(`${this.#name}.${name}`);
  }
}

/** One function, called when the template calls it. */
class SaltFunction extends PyObject {
  readonly #salt: SaltObject;
  readonly #name: string;
  constructor(salt: SaltObject, name: string) {
    super();
    this.#salt = salt;
    this.#name = name;
  }
  typeName(): string {
    return 'LoadedFunc';
  }
  override moduleName(): string {
    return 'salt.loader.lazy';
  }
  override repr(): string {
    return `<LoadedFunc name='${this.#name}'>`;
  }
  override invoke(_rt: unknown, args: PyValue[], kwargs: Kwargs | undefined): MaybePromise<PyValue> {
    const named = newDict();
    for (const [key, value] of kwargs ?? []) named[key] = toHost(value);
    return this.#salt.call(this.#name, args.map(toHost), named);
  }
}
