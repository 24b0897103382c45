// The extensions of a test minion: built-in ones, those passed by a test, and functions with replaced results.
import type { PlainDict, Value } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';
import { type BoundArguments, bindArguments } from '../engine/exec/bind.ts';
import { builtin } from '../extend/loader/builtin.gen.ts';
import type { BuiltinEntry, BuiltinTable } from '../extend/loader/index.ts';
import { fn, type Module, type ModuleFunction, p, type StateModule } from '../extend/sdk/index.ts';

/** The code that replaces an execution function. It gets the arguments as given. */
export type Replacement = (args: readonly Value[], kwargs: PlainDict) => Value | Promise<Value>;
export type Replacements = Readonly<Record<string, Replacement>>;

export interface TableOptions {
  /** Execution modules of this minion, treated as available; default: all built-in ones that fit the grains. */
  readonly modules?: readonly Module[];
  /** State modules, treated as available; default: all built-in ones that fit. */
  readonly states?: readonly StateModule[];
  /** Execution functions whose results the test provides (`pkg.version`); the engine still binds their arguments. */
  readonly calls?: Replacements;
  /** Replaced functions that only read, although no available module declares that. */
  readonly reads?: readonly string[];
}

const nameOf = (module: Module | StateModule): string => module.virtualName ?? module.name;

type Entries = Readonly<Record<string, BuiltinEntry>>;

/** Modules passed by the test are available on every system. */
function entriesOf(given: readonly (Module | StateModule)[]): Entries {
  const entry = (module: Module | StateModule): BuiltinEntry => {
    const { available: _, ...usable } = module;
    return { load: async () => ({ default: usable }), virtualName: nameOf(module) };
  };
  return Object.fromEntries(given.map((module) => [module.name, entry(module)]));
}

/** The entries of a table with a name. */
const providersOf = (entries: Entries, name: string): BuiltinEntry[] =>
  Object.entries(entries)
    .filter(([file, entry]) => (entry.virtualName ?? file) === name)
    .map(([, entry]) => entry);

/** A function as declared by the modules of a table, whether they fit this system or not. */
async function declared(entries: Entries, fun: string): Promise<ModuleFunction | undefined> {
  const dot = fun.indexOf('.');
  for (const entry of providersOf(entries, fun.slice(0, dot))) {
    const { functions, aliases } = (await entry.load()).default as Module;
    const name = fun.slice(dot + 1);
    const found = functions[aliases?.[name] ?? name];
    if (found) return found;
  }
  return undefined;
}

/** It accepts all arguments unchanged; the engine still checks them against the replaced function. */
function standIn(fun: string, answer: Replacement, real: ModuleFunction | undefined, reads: boolean): ModuleFunction {
  const bound = (args: readonly Value[], kwargs: PlainDict): BoundArguments =>
    bindArguments(fun.slice(fun.indexOf('.') + 1), real?.params ?? {}, args, kwargs);
  return fn({
    doc: `Replaced by a test: ${fun}`,
    params: { args: p.rest(), kwargs: p.kwargs() },
    reads: ({ args, kwargs }, ctx) =>
      typeof real?.reads === 'function' ? real.reads(bound(args, kwargs) as never, ctx) : (real?.reads ?? reads),
    run({ args, kwargs }) {
      if (real) bound(args, kwargs);
      return answer(args, kwargs);
    },
  });
}

/** A module with the functions that were passed, where replacements take precedence. */
async function replaced(name: string, own: Entries, { calls = {}, reads = [] }: TableOptions): Promise<Module> {
  const functions: Record<string, ModuleFunction> = {};
  for (const entry of providersOf(own, name)) {
    const { functions: real, aliases } = (await entry.load()).default as Module;
    Object.assign(functions, real);
    for (const [alias, key] of Object.entries(aliases ?? {})) functions[alias] = real[key]!;
  }
  for (const [fun, answer] of Object.entries(calls)) {
    if (!fun.startsWith(`${name}.`)) continue;
    const real = (await declared(own, fun)) ?? (await declared(builtin['modules'] ?? {}, fun));
    functions[fun.slice(name.length + 1)] = standIn(fun, answer, real, reads.includes(fun));
  }
  return { kind: 'modules', name, doc: '', functions };
}

/** The table a loader of the test minion works with. */
export function testTable(options: TableOptions): BuiltinTable {
  const { modules, states, calls = {} } = options;
  const own = modules ? entriesOf(modules) : (builtin['modules'] ?? {});
  const names = new Set(Object.keys(calls).map((fun) => fun.slice(0, fun.indexOf('.'))));
  const kept = Object.entries(own).filter(([file, entry]) => !names.has(entry.virtualName ?? file));
  const fakes = [...names].map((name): [string, BuiltinEntry] => [
    name,
    { load: async () => ({ default: await replaced(name, own, options) }) },
  ]);
  return {
    ...builtin,
    modules: Object.fromEntries([...kept, ...fakes]),
    ...(states ? { states: entriesOf(states) } : {}),
  };
}

async function load<T>(kind: 'modules' | 'states', names: readonly string[] | undefined): Promise<T[]> {
  const entries = builtin[kind] ?? {};
  return Promise.all(
    (names ?? Object.keys(entries)).map(async (name) => {
      const entry = entries[name];
      if (!entry) throw new HaliteError('extension.unavailable', `There is no built-in ${name} among ${kind}`);
      return (await entry.load()).default as T;
    }),
  );
}

/** Built-in execution modules by the names of their files (`aptpkg`, not `pkg`); default: all of them. */
export const builtinModules = (names?: readonly string[]): Promise<Module[]> => load('modules', names);
/** Built-in state modules; default: all of them. */
export const builtinStates = (names?: readonly string[]): Promise<StateModule[]> => load('states', names);
