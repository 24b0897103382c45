// State modules: functions that bring one resource into the requested state, and report what they changed.
import type { Dict, PlainDict, Value } from '../../base/codec/value.ts';
import type { HaliteError } from '../../base/errors/index.ts';
import type { Availability } from './availability.ts';
import type { ModuleContext } from './context.ts';
import type { ExtensionFunction } from './functions.ts';
import { type KnownKeys, withKnownKeys } from './known-keys.ts';
import type { ArgsOf, Params } from './params.ts';

/**
 * The result of a state function. `result`: true success, false failed, null "would change" (only under `test=True`).
 * Additional keys are kept and shown (`pchanges`, `warnings: string[]`, `sub_state_run`, `data`, …).
 */
export interface StateResult {
  name: string;
  changes: Dict;
  result: boolean | null;
  comment: string | string[];
  [extra: string]: Value | undefined;
}

/** Keys that are added to, or override, the result of a builder. */
export type StateExtra = { readonly [key: string]: Value | undefined };

/** How a change is reported under `test=True` and applied otherwise. */
export interface ChangePlan {
  /** The comment under `test=True`. */
  readonly test: string | string[];
  /** The changes shown under `test=True` when they differ from the real ones. */
  readonly testChanges?: Dict;
  /**
   * Applies the change; never called under `test=True`. Its return value is ignored, except a `StateResult` of
   * `ctx.ok`, `ctx.fail` or `ctx.result`, which is then the result. A thrown HaliteError fails the state with its
   * message.
   */
  apply(): unknown;
  /** The result when `apply` throws a HaliteError and its message alone is not sufficient. */
  failed?(error: HaliteError): StateResult;
}

/** The context of state functions: everything that execution modules have, and the state being applied. */
export interface StateContext extends ModuleContext {
  /**
   * The low chunk of this state, read-only: `state`, `fun`, `name`, `__id__`, `__sls__`, `__env__`, `order`, requisites
   * (`require: [{file: /x}]`) and every argument as written.
   */
  readonly low: Readonly<PlainDict>;
  /** The SLS in which the state is declared (`web.nginx`); '' when there is none (state.single). */
  readonly sls: string;
  /** The id under which it is declared. (`ctx.id` is the minion's.) */
  readonly stateId: string;
  /** The environment of its SLS; `base` when unknown. Paths `salt://…` are looked up there. */
  readonly saltenv: string;
  /** Results so far by tag (`file_|-id_|-name_|-managed`), read-only. */
  readonly running: Readonly<Record<string, PlainDict>>;
  /** Every chunk of this run, in order. */
  readonly lowstate: readonly Readonly<PlainDict>[];
  /** The same text during one run: for files that hold data between states of a run (accumulators). */
  readonly instanceId: string;
  /** True when nothing may be changed: a run with `test=True`, or the test run of a `prereq`. */
  readonly test: boolean;
  /** Set while `modWatch` runs: the function that the state declares (`running`). */
  readonly watchedFunction: string | undefined;
  /** While `modWatch` runs because of a `watch`: requisite → its chunks (`watch`, `require`, …); else empty. */
  readonly requisites: Readonly<Record<string, readonly Readonly<PlainDict>[]>>;

  /** The resource is as wanted: result true, no changes unless given. */
  ok(comment: string | string[], extra?: StateExtra): StateResult;
  /** The change failed: result false. */
  fail(comment: string | string[], extra?: StateExtra): StateResult;
  /** Any other result, given explicitly. `name` is the state's name unless given. */
  result(fields: StateExtra): StateResult;
  /**
   * Something has to change. Under `test=True`: result null, comment `plan.test`, and `changes`; otherwise runs
   * `plan.apply()` and returns result true, `comment` and `changes`.
   */
  change(changes: Dict, comment: string | string[], plan: ChangePlan): Promise<StateResult>;
  /** Calls another state function as part of this one (`ctx.state('file.managed', {name: …})`). */
  state(fun: string, kwargs: StateExtra): Promise<StateResult>;
}

export interface StateSpec<P extends Params> {
  readonly doc: string;
  readonly examples?: readonly string[];
  /**
   * `name` should be the first. Requisites and keywords of every state (`require`, `unless`, `retry`, `order`, …) are
   * removed before, so they need no declaration; a function that declares them gets them as well.
   */
  readonly params?: P;
  run(args: ArgsOf<P>, ctx: StateContext): StateResult | Promise<StateResult>;
}

const stateKeys: KnownKeys<StateSpec<Params>> = { doc: true, examples: true, params: true, run: true };

/** A state function as seen by loaders and the engine. */
export type StateFunction = ExtensionFunction<StateContext>;

/**
 * One function of a state module.
 *
 * ```ts
 * absent: state({
 *   doc: 'Make sure the named file or directory is gone.',
 *   params: { name: p.path({ doc: 'what to remove' }) },
 *   async run({ name }, ctx) {
 *     if (!(await ctx.call('file.lstat', name))) return ctx.ok(`File ${name} is not present`);
 *     return ctx.change({ removed: name }, `Removed file ${name}`, {
 *       test: `File ${name} is set for removal`,
 *       apply: () => ctx.call('file.remove', name),
 *     });
 *   },
 * }),
 * ```
 */
export function state<const P extends Params = Record<never, never>>(given: StateSpec<P>): StateFunction {
  const spec = withKnownKeys('state()', given, stateKeys);
  return {
    doc: spec.doc,
    examples: spec.examples ?? [],
    params: spec.params ?? {},
    inline: false,
    outputter: undefined,
    run: (args, ctx) => spec.run(args, ctx) as Promise<Value>,
  };
}

/** A chunk that `modAggregate` may change: keys as in a state file, requisites included. */
export type LowChunk = PlainDict;

export interface StateModuleSpec {
  /** The file's own name (`file`, `mysql_user`). */
  readonly name: string;
  /** The name used in state files when it differs. */
  readonly virtualName?: string;
  readonly doc: string;
  /** true, or the reason why it is not usable. */
  readonly available?: (system: Availability) => true | string | Promise<true | string>;
  readonly functions: Readonly<Record<string, StateFunction>>;
  /** Functions with a second name: alias → name (`import` → `import_`). */
  readonly aliases?: Readonly<Record<string, string>>;
  /**
   * Runs after a state that changed nothing itself when a watched state changed (`service.mod_watch` restarts).
   * It gets every argument of the state; `ctx.watchedFunction` (and a parameter `sfun`, if declared) is the function.
   */
  readonly modWatch?: StateFunction;
  /**
   * Runs once before the first state of this module in a run; after a false result it runs again before the next one.
   */
  readonly modInit?: (low: Readonly<LowChunk>, ctx: StateContext) => boolean | Promise<boolean>;
  /**
   * With `aggregate: true`: may merge the arguments of later chunks of this module into this one. Returns the chunk to
   * run.
   */
  readonly modAggregate?: (
    low: LowChunk,
    chunks: readonly Readonly<LowChunk>[],
    running: Readonly<Record<string, PlainDict>>,
    ctx: StateContext,
  ) => LowChunk | Promise<LowChunk>;
}

export interface StateModule extends StateModuleSpec {
  readonly kind: 'states';
}

const stateModuleKeys: KnownKeys<StateModuleSpec> = {
  ...{ name: true, virtualName: true, doc: true, available: true },
  ...{ functions: true, aliases: true, modWatch: true, modInit: true, modAggregate: true },
};

/**
 * A state module: `export default defineState({ name: 'file', doc: '…', functions: { absent: state({…}) } })`.
 * Its file is `src/ext/states/<name>/index.ts`, or a user's file in `salt://_states`.
 */
export const defineState = (spec: StateModuleSpec): StateModule => ({
  kind: 'states',
  ...withKnownKeys('defineState()', spec, stateModuleKeys),
  functions: spec.modWatch ? { ...spec.functions, mod_watch: spec.modWatch } : spec.functions,
});
