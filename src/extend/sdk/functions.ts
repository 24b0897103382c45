// Execution modules, runners and wheel modules: a name and documented functions.
import type { JsonText } from '../../base/codec/json/index.ts';
import type { Dict, Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Availability } from './availability.ts';
import type { GrainContext, MasterContext, ModuleContext } from './context.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { ArgsOf, Params } from './params.ts';

export interface FunctionSpec<P extends Params, C, R = Value> {
  readonly doc: string;
  readonly examples?: readonly string[];
  readonly params?: P;
  /**
   * Fast and never blocking: runs inside the daemon, so it answers immediately even while jobs use all CPUs.
   * Anything that runs commands, reads large files or computes belongs in a job process (the default).
   */
  readonly inline?: boolean;
  /**
   * It changes nothing on the machine: states may call it in test mode, where every other function is refused. When
   * that depends on the arguments: `reads: ({ dry_run }) => dry_run`. Programs and functions that it calls are covered;
   * files it writes are not, except temporary ones and the minion's cache.
   */
  readonly reads?: boolean | ((args: ArgsOf<P>, ctx: C) => boolean);
  /** The outputter to use unless the operator names one (`highstate`, `txt`, …). */
  readonly outputter?: string;
  /** `salt-run` and `salt-call` print nested maps in their own order instead of sorted. */
  readonly inOrder?: boolean;
  run(args: ArgsOf<P>, ctx: C): R | undefined | Promise<R | undefined>;
}

/** A function as seen by loaders and argument binding. */
export interface ExtensionFunction<C = never, R = Value> {
  readonly doc: string;
  /** The text is a docstring of Python, which is shown as it is. */
  readonly rawDoc?: boolean;
  readonly examples: readonly string[];
  readonly params: Params;
  readonly inline: boolean;
  /** Whether a call changes nothing, so that states may make it in test mode. */
  readonly reads?: boolean | ((args: never, ctx: C) => boolean);
  readonly outputter: string | undefined;
  readonly inOrder?: boolean;
  run(args: never, ctx: C): R | undefined | Promise<R | undefined>;
}
export type ModuleFunction = ExtensionFunction<ModuleContext>;
/** Functions of the master may return JSON text. */
export type MasterFunction = ExtensionFunction<MasterContext, Value | JsonText>;

const functionKeys: KnownKeys<FunctionSpec<Params, never>> = {
  ...{ doc: true, examples: true, params: true, inline: true },
  ...{ reads: true, outputter: true, inOrder: true, run: true },
};

function build<P extends Params, C, R>(what: string, given: FunctionSpec<P, C, R>): ExtensionFunction<C, R> {
  const spec = withKnownKeys(what, given, functionKeys);
  return {
    doc: spec.doc,
    examples: spec.examples ?? [],
    params: spec.params ?? {},
    inline: spec.inline ?? false,
    outputter: spec.outputter,
    ...(spec.reads ? { reads: spec.reads } : {}),
    ...(spec.inOrder ? { inOrder: true } : {}),
    run: (args, ctx) => spec.run(args, ctx),
  };
}

/** One function of an execution module. */
export function fn<const P extends Params = Record<never, never>>(
  spec: FunctionSpec<P, ModuleContext>,
): ModuleFunction {
  return build('fn()', spec);
}

/** One function of a runner or wheel module. */
export function masterFn<const P extends Params = Record<never, never>>(
  spec: FunctionSpec<P, MasterContext, Value | JsonText>,
): MasterFunction {
  return build('masterFn()', spec);
}

export interface ModuleSpec {
  /** The file's own name (`aptpkg`). */
  readonly name: string;
  /** The name by which functions are called when it differs (`pkg`). */
  readonly virtualName?: string;
  readonly doc: string;
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  readonly functions: Readonly<Record<string, ModuleFunction>>;
  /** Functions that only read: the same as `reads: true` in each of them. */
  readonly reads?: readonly string[];
  /** Functions with a second name: alias → name. Needed for Python keywords and builtins (`list_` → `list`). */
  readonly aliases?: Readonly<Record<string, string>>;
}
export interface Module extends ModuleSpec {
  readonly kind: 'modules';
}
export interface MasterModuleSpec {
  readonly name: string;
  readonly doc: string;
  readonly functions: Readonly<Record<string, MasterFunction>>;
}
export interface Runner extends MasterModuleSpec {
  readonly kind: 'runners';
}
export interface Wheel extends MasterModuleSpec {
  readonly kind: 'wheel';
}
export interface GrainSpec {
  readonly name: string;
  readonly doc: string;
  /** Collectors run by `priority` (lower first), so that later ones can use the grains of earlier ones. */
  readonly priority?: number;
  /** Proxy types on which it runs too, `*` for all of them; without it only ordinary minions have these grains. */
  readonly proxies?: readonly string[];
  collect(ctx: GrainContext, soFar: Dict): Dict | Promise<Dict>;
}
export interface Grain extends GrainSpec {
  readonly kind: 'grains';
}

const moduleKeys: KnownKeys<ModuleSpec> = {
  ...{ name: true, virtualName: true, doc: true, available: true },
  ...{ functions: true, reads: true, aliases: true },
};
const masterModuleKeys: KnownKeys<MasterModuleSpec> = { name: true, doc: true, functions: true };
const grainKeys: KnownKeys<GrainSpec> = { name: true, doc: true, priority: true, proxies: true, collect: true };

export const defineModule = (spec: ModuleSpec): Module => ({
  kind: 'modules',
  ...withKnownKeys('defineModule()', spec, moduleKeys),
  functions: withReads(spec.name, spec.functions, spec.reads ?? []),
});

/** Marks functions as read-only. */
export function withReads<F extends object>(
  module: string,
  functions: Readonly<Record<string, F>>,
  names: readonly string[],
): Readonly<Record<string, F>> {
  if (names.length === 0) return functions;
  const marked = { ...functions };
  for (const name of names) {
    const found = Object.hasOwn(marked, name) ? marked[name] : undefined;
    if (!found)
      throw new HaliteError('extension.broken', `${module}: reads names ${name}, which is not among its functions`);
    marked[name] = { ...found, reads: true };
  }
  return marked;
}
export const defineRunner = (spec: MasterModuleSpec): Runner => ({
  kind: 'runners',
  ...withKnownKeys('defineRunner()', spec, masterModuleKeys),
});
export const defineWheel = (spec: MasterModuleSpec): Wheel => ({
  kind: 'wheel',
  ...withKnownKeys('defineWheel()', spec, masterModuleKeys),
});
export const defineGrain = (spec: GrainSpec): Grain => ({
  kind: 'grains',
  ...withKnownKeys('defineGrain()', spec, grainKeys),
});
