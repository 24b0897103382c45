// The contexts of state functions, according to the chunk's user, environment and modules.
import { isTruthy, pyStr } from '../../../base/codec/python/index.ts';
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { FoundFunction } from '../../../extend/loader/index.ts';
import type { ModuleContext, StateContext, StateResult } from '../../../extend/sdk/index.ts';
import { bindArguments, type JobState } from '../../exec/index.ts';
import type { Chunk } from '../data.ts';
import { stateArguments } from './bind.ts';
import type { Probe } from './checks.ts';
import type { ContextChoice } from './session.ts';
import { createStateContext } from './state-context.ts';
import { unifyResult } from './unify.ts';

/** The data that a call may use. */
export interface CallScene {
  readonly chunks: readonly Chunk[];
  readonly running: Readonly<Record<string, PlainDict>>;
  /** Chunks of each requisite, for `mod_watch`. */
  readonly requisites?: Readonly<Record<string, readonly Chunk[]>>;
}

/** A chunk whose function is found and whose arguments are bound. */
export interface PreparedCall {
  readonly full: string;
  readonly found: FoundFunction<'states'>;
  readonly kwargs: PlainDict;
  readonly warnings: readonly string[];
  readonly context: StateContext;
  readonly probe: () => Probe;
}

/** The view of the minion from which contexts are created. */
export interface ContextSource {
  readonly opts: Readonly<Record<string, Value>>;
  readonly test: boolean;
  find(full: string): Promise<FoundFunction<'states'> | undefined>;
  contextFor(choice: ContextChoice): ModuleContext;
  codes(): JobState;
}

export class StateContexts {
  readonly #source: ContextSource;
  readonly #instanceId: string;

  constructor(source: ContextSource, instanceId: string) {
    this.#source = source;
    this.#instanceId = instanceId;
  }

  /** For a verified chunk: its function exists. */
  async prepare(low: Chunk, scene: CallScene, test: boolean): Promise<PreparedCall> {
    const full = `${pyStr(low['state'])}.${pyStr(low['fun'])}`;
    const found = (await this.#source.find(full))!;
    const { kwargs, warnings } = stateArguments(full, found.fn.params, low);
    const saltenv = this.#environmentOf(low, kwargs);
    const context = this.#context(low, scene, test, saltenv);
    const probe = (): Probe => {
      const codes = this.#source.codes();
      return { codes, context: this.#context(low, scene, test, saltenv, codes) };
    };
    return { full, found, kwargs, warnings, context, probe };
  }

  /** For hooks of a module (`modInit`, `modAggregate`). */
  contextFor(low: Chunk, scene: CallScene): StateContext {
    return this.#context(low, scene, this.#source.test, this.#environmentOf(low, newDict()));
  }

  #context(low: Chunk, scene: CallScene, test: boolean, saltenv: string, codes?: JobState): StateContext {
    const runas = low['runas'] ?? null;
    const password = (low['state'] === 'cmd' ? low['password'] : undefined) ?? low['runas_password'] ?? null;
    const providers = 'provider' in low ? providersOf(low) : undefined;
    return createStateContext({
      base: this.#source.contextFor({ test, runas, password, providers, codes }),
      low,
      test,
      saltenv,
      running: scene.running,
      lowstate: scene.chunks,
      instanceId: this.#instanceId,
      requisites: scene.requisites ?? {},
      callState: (fun, kwargs) => this.#callOther(fun, kwargs, low, scene, test, saltenv),
    });
  }

  /** A state that calls another state function directly: no requisites, no conditions. */
  async #callOther(
    fun: string,
    kwargs: PlainDict,
    low: Chunk,
    scene: CallScene,
    test: boolean,
    saltenv: string,
  ): Promise<StateResult> {
    const found = await this.#source.find(fun);
    if (!found) throw new HaliteError('call.unknown', `State '${fun}' was not found`);
    const inner = Object.assign(newDict(Object.entries(low)), { name: kwargs['name'] ?? low['name'] ?? null });
    const context = this.#context(inner, scene, test, saltenv);
    const bound = bindArguments(found.name, found.fn.params, [], kwargs);
    return unifyResult((await found.fn.run(bound as never, context)) ?? null) as StateResult;
  }

  #environmentOf(low: Chunk, kwargs: PlainDict): string {
    const own = '__env__' in low ? pyStr(low['__env__']) : 'base';
    if (isTruthy(this.#source.opts['lock_saltenv'] ?? false)) return own;
    if ('saltenv' in low) return pyStr(low['saltenv']);
    return typeof kwargs['env'] === 'string' ? kwargs['env'] : own;
  }
}

/** `provider`: the name of a module for the state's own name, or a list of `name: module`. */
function providersOf({ provider, state }: Chunk): PlainDict | undefined {
  const pairs: (readonly [Value, Value])[] = Array.isArray(provider)
    ? provider.flatMap((item) => (isDict(item) ? dictEntries(item) : []))
    : [[state ?? null, provider ?? null]];
  const named = pairs.filter((pair): pair is [string, string] => pair.every((part) => typeof part === 'string'));
  return named.length > 0 ? newDict(named) : undefined;
}
