// Calls one state function for one chunk: checks before, conditions, the call itself, and what has to follow.
import { isTruthy } from '../../../base/codec/python/index.ts';
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import type { FoundFunction } from '../../../extend/loader/index.ts';
import type { StateContext, StateResult } from '../../../extend/sdk/index.ts';
import { bindArguments, isCommandNotFound, type JobState, pythonTraceback } from '../../exec/index.ts';
import { type Chunk, pyFloat, textOf } from '../data.ts';
import { stateArguments } from './bind.ts';
import { type CheckHost, type Probe, runCheckCommands, runChecks } from './checks.ts';
import { clockText, durationOf, now } from './clock.ts';
import { reloadAfter } from './reload.ts';
import { nextInterval, readRetry, retryAnnouncement, waitFor } from './retry.ts';
import type { StateSession } from './session.ts';
import { fillSlots } from './slots.ts';
import { createStateContext } from './state-context.ts';
import { unifyResult } from './unify.ts';
import { verifyChunk } from './verify-chunk.ts';

export interface CallerOptions {
  readonly session: StateSession;
  /** `mock=True`: everything is checked, nothing is called. */
  readonly mocked: boolean;
  readonly instanceId: string;
}

/** What a call may look at. */
export interface CallScene {
  readonly chunks: readonly Chunk[];
  readonly running: Readonly<Record<string, PlainDict>>;
  /** Chunks of each requisite, for `mod_watch`. */
  readonly requisites?: Readonly<Record<string, readonly Chunk[]>>;
}

interface Prepared {
  readonly full: string;
  readonly found: FoundFunction<'states'>;
  readonly kwargs: PlainDict;
  readonly warnings: readonly string[];
  readonly context: StateContext;
  readonly probe: () => Probe;
}

const emptyScene: CallScene = { chunks: [], running: {} };

export class StateCaller {
  readonly #options: CallerOptions;
  /** Number of the next result. */
  runNumber = 0;
  /** Told of a state that was started to run beside the others; without it such states run like any other. */
  onParallel: ((low: Chunk, work: Promise<PlainDict>) => void) | undefined;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  get session(): StateSession {
    return this.#options.session;
  }

  /** The result of a chunk. Never throws for what a state function does. */
  async call(low: Chunk, scene: CallScene = emptyScene, attempt = 1): Promise<PlainDict> {
    return unifyResult(await this.#call(low, scene, attempt));
  }

  async #call(low: Chunk, scene: CallScene, attempt: number): Promise<PlainDict> {
    const start = now();
    const { session } = this;
    const errors = await verifyChunk(session, low);
    if (errors.length > 0) return this.#refused(low, errors);
    const trial = isTruthy(low['__prereq__'] ?? false);
    const prepared = await this.#prepare(low, scene, trial || session.test);
    const result = await this.#run(low, prepared, trial);
    if (!isDict(result)) return result;
    addWarnings(result, prepared.warnings);
    if (trial) {
      low['__prereq__'] = false;
      return result;
    }
    result['__sls__'] = low['__sls__'] ?? null;
    result['__run_num__'] = this.runNumber++;
    await reloadAfter(session, low, result);
    result['start_time'] = clockText(start);
    result['duration'] = durationOf(start);
    result['__id__'] = low['__id__'] ?? null;
    if (!('retry' in low) || 'parallel' in low) return result;
    return this.#retry(low, scene, attempt, result);
  }

  async #refused(low: Chunk, errors: readonly string[]): Promise<PlainDict> {
    const result = newDict([
      ['result', false],
      ['name', low['name'] ?? null],
      ['changes', newDict()],
      ['comment', errors.map((error) => `${error}\n`).join('')],
      ['__run_num__', this.runNumber++],
    ]);
    await reloadAfter(this.session, low, result);
    return result;
  }

  async #prepare(low: Chunk, scene: CallScene, test: boolean): Promise<Prepared> {
    const { session } = this;
    const full = `${textOf(low['state'])}.${textOf(low['fun'])}`;
    const found = (await session.find(full))!;
    const { kwargs, warnings } = stateArguments(full, found.fn.params, low);
    const saltenv = this.#environmentOf(low, kwargs);
    const context = this.#context(low, scene, test, saltenv);
    const probe = (): Probe => {
      const codes = session.codes();
      return { codes, context: this.#context(low, scene, test, saltenv, codes) };
    };
    return { full, found, kwargs, warnings, context, probe };
  }

  /** The context for hooks of a module (`modInit`, `modAggregate`). */
  contextFor(low: Chunk, scene: CallScene): StateContext {
    return this.#context(low, scene, this.session.test, this.#environmentOf(low, newDict()));
  }

  #context(low: Chunk, scene: CallScene, test: boolean, saltenv: string, codes?: JobState): StateContext {
    const { session } = this;
    const runas = low['runas'] ?? null;
    const password = (low['state'] === 'cmd' ? low['password'] : undefined) ?? low['runas_password'] ?? null;
    const providers = 'provider' in low ? providersOf(low) : undefined;
    return createStateContext({
      base: session.contextFor({ test, runas, password, providers, codes }),
      low,
      test,
      saltenv,
      running: scene.running,
      lowstate: scene.chunks,
      instanceId: this.#options.instanceId,
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
    const found = await this.session.find(fun);
    if (!found) throw new HaliteError('call.unknown', `State '${fun}' was not found`);
    const inner = Object.assign(newDict(Object.entries(low)), { name: kwargs['name'] ?? low['name'] ?? null });
    const context = this.#context(inner, scene, test, saltenv);
    const bound = bindArguments(found.name, found.fn.params, [], kwargs);
    return unifyResult((await found.fn.run(bound as never, context)) ?? null) as StateResult;
  }

  #environmentOf(low: Chunk, kwargs: PlainDict): string {
    const own = '__env__' in low ? textOf(low['__env__']) : 'base';
    if (isTruthy(this.session.opts['lock_saltenv'] ?? false)) return own;
    if ('saltenv' in low) return textOf(low['saltenv']);
    return typeof kwargs['env'] === 'string' ? kwargs['env'] : own;
  }

  async #run(low: Chunk, prepared: Prepared, trial: boolean): Promise<PlainDict> {
    try {
      let result = newDict([
        ['result', false],
        ['name', low['name'] ?? null],
        ['changes', newDict()],
      ]);
      if (['unless', 'onlyif', 'creates'].some((key) => key in low))
        Object.assign(result, await runChecks(this.#checks(prepared), low));
      if (result['result'] === false) result = await this.#execute(low, prepared, trial);
      if ('check_cmd' in low && !('check_cmd' in prepared.found.fn.params)) {
        Object.assign(result, await runCheckCommands(this.#checks(prepared), low));
      }
      return result;
    } catch (thrown) {
      return exceptionResult(low, thrown);
    }
  }

  #checks({ context, probe }: Prepared): CheckHost {
    return { context, probe, grains: this.session.grains };
  }

  async #execute(low: Chunk, prepared: Prepared, trial: boolean): Promise<PlainDict> {
    if (this.#options.mocked) return plainResult(low, true, 'Not called, mocked');
    if (!(await this.#conditionsHold(low, prepared.full))) {
      return plainResult(low, null, 'Failed to meet global state conditions. State not called.');
    }
    if (!trial && isTruthy(low['parallel'] ?? false) && this.onParallel) {
      this.onParallel(low, this.#parallel(low, prepared));
      return plainResult(low, null, 'Started in a separate process');
    }
    const umask = low['__umask__'];
    const before = typeof umask === 'number' ? process.umask(umask) : undefined;
    try {
      return await this.#invoke(prepared);
    } finally {
      if (before !== undefined) process.umask(before);
    }
  }

  async #invoke({ found, kwargs, context }: Prepared): Promise<PlainDict> {
    const call = await fillSlots({ args: [], kwargs }, context);
    const bound = bindArguments(found.name, found.fn.params, [], call.kwargs);
    return asPlain((await found.fn.run(bound as never, context)) ?? null);
  }

  /** `global_state_conditions`: a state named there runs only where one of its targets matches. */
  async #conditionsHold(low: Chunk, full: string): Promise<boolean> {
    const conditions = this.session.option('global_state_conditions');
    if (conditions === undefined || !isDict(conditions)) return true;
    const targets = dictEntries(conditions)
      .filter(([state]) => state === '*' || state === full || state === low['state'])
      .flatMap(([, list]) => (Array.isArray(list) ? list : [list]));
    if (targets.length === 0) return true;
    for (const target of targets) if (await this.session.context().match(textOf(target), 'compound')) return true;
    return false;
  }

  async #retry(low: Chunk, scene: CallScene, attempt: number, result: PlainDict): Promise<PlainDict> {
    const retry = readRetry(low['retry']!, this.session.log);
    // The comments of conditions are a list here; Salt shows it as such.
    const comment = isTruthy(result['comment'] ?? '') ? textOf(result['comment']) : '';
    if (this.session.test) {
      result['comment'] = `${comment}  ${retryAnnouncement(retry)}`;
      return result;
    }
    if (retry.until === result['result'] || retry.attempts <= attempt) return result;
    const interval = nextInterval(retry);
    await waitFor(interval, this.session.signal);
    const next = await this.call(low, scene, attempt + 1);
    const said = `Attempt ${attempt}: Returned a result of "${verdictText(result)}", with the following comment: "${textOf(result['comment'])}"`;
    next['comment'] = `${said}\n${isTruthy(next['comment'] ?? '') ? textOf(next['comment']) : ''}`;
    next['duration'] = pyFloat(Number(next['duration']) + Number(result['duration']) + interval * 1000);
    if (attempt === 1) next['start_time'] = result['start_time']!;
    return next;
  }

  /** The same for a state that runs beside the others; it retries by itself. */
  async #parallel(low: Chunk, prepared: Prepared): Promise<PlainDict> {
    const start = now();
    const once = (): Promise<PlainDict> =>
      this.#invoke(prepared).catch((thrown: unknown) => exceptionResult(low, thrown));
    let result = await once();
    result['start_time'] = clockText(start);
    result['duration'] = durationOf(start);
    if ('retry' in low) result = await this.#retryParallel(low, result, once);
    result['__parallel__'] = true;
    return unifyResult(result);
  }

  async #retryParallel(low: Chunk, first: PlainDict, once: () => Promise<PlainDict>): Promise<PlainDict> {
    const retry = readRetry(low['retry']!, this.session.log);
    let result = first;
    if (this.session.test) {
      result['comment'] = `${commentText(result)}  ${retryAnnouncement(retry)}`;
      return result;
    }
    for (let attempt = 1; retry.attempts >= attempt && retry.until !== result['result']; attempt++) {
      const interval = nextInterval(retry);
      await waitFor(interval, this.session.signal);
      const start = now();
      const next = await once();
      const said = `Attempt ${attempt}: Returned a result of "${verdictText(next)}", with the following comment: "${commentText(next)}"`;
      next['comment'] = `${commentText(result)}\n${commentText(next) === '' ? '' : said}`;
      next['duration'] = pyFloat(Number(durationOf(start)) + Number(result['duration']) + interval * 1000);
      next['start_time'] = result['start_time']!;
      result = next;
    }
    return result;
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

const commentText = (result: PlainDict): string => {
  const { comment } = result;
  return Array.isArray(comment) ? comment.map(textOf).join('\n') : textOf(comment ?? '');
};
const verdictText = (result: PlainDict): string => textOf(result['result'] ?? null);

function plainResult(low: Chunk, result: boolean | null, comment: string): PlainDict {
  return newDict([
    ['name', low['name'] ?? null],
    ['result', result],
    ['changes', newDict()],
    ['comment', comment],
  ]);
}

function asPlain(result: Value): PlainDict {
  // Users' own functions may return a Map, or objects with a prototype.
  if (result instanceof Map) return newDict([...result].map(([key, value]) => [textOf(key), value] as const));
  return (isDict(result) ? newDict(Object.entries(result)) : result) as PlainDict;
}

function exceptionResult(low: Chunk, thrown: unknown): PlainDict {
  return newDict([
    ['result', false],
    ['name', low['name'] ?? low['__id__'] ?? null],
    ['changes', newDict()],
    ['comment', exceptionText(low, thrown)],
  ]);
}

function exceptionText({ state, fun }: Chunk, thrown: unknown): string {
  // What to do about it is clear without a trace.
  if (isCommandNotFound(thrown))
    return `Command required for '${textOf(state)}.${textOf(fun)}' not found: ${thrown.message}`;
  return `An exception occurred in this state: ${pythonTraceback(withPythonName(thrown))}`;
}

/** Scripts around Salt look for the names of its exceptions. */
function withPythonName(thrown: unknown): unknown {
  if (!(thrown instanceof HaliteError) || (thrown.name !== 'HaliteError' && thrown.name !== 'ArgumentError'))
    return thrown;
  const name = thrown.code === 'call.arguments' ? 'SaltInvocationError' : 'CommandExecutionError';
  return Object.assign(new Error(thrown.message), { name: `salt.exceptions.${name}`, stack: thrown.stack });
}

function addWarnings(result: PlainDict, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const before = result['warnings'];
  result['warnings'] = [...(Array.isArray(before) ? before : []), ...warnings];
}
