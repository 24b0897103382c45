// Calls the state function of a chunk: verified before, numbered, timed, and retried if configured.

import { isTruthy } from '../../../base/codec/python/index.ts';
import { isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { ExtensionLog, StateContext } from '../../../extend/sdk/index.ts';
import type { Chunk } from '../data.ts';
import {
  type AttemptScene,
  addWarnings,
  attempt,
  callNow,
  callWithUmask,
  exceptionResult,
  plainResult,
} from './attempt.ts';
import { clockText, durationOf, now } from './clock.ts';
import { type CallScene, type ContextSource, type PreparedCall, StateContexts } from './contexts.ts';
import { type Reloads, reloadAfter } from './reload.ts';
import { type Attempt, readRetry, retryBeside, retryInOrder } from './retry.ts';
import type { RunNumbers } from './run-numbers.ts';
import { unifyResult } from './unify.ts';
import { type StateModules, verifyChunk } from './verify-chunk.ts';

/** The run's view of the minion, as far as calls need it. */
export interface CallSession extends ContextSource, StateModules, AttemptScene, Reloads {
  readonly log: ExtensionLog;
  readonly signal: AbortSignal;
}

export interface CallerOptions {
  readonly session: CallSession;
  readonly numbers: RunNumbers;
  /** `mock=True`: everything is checked, nothing is called. */
  readonly mocked: boolean;
  readonly instanceId: string;
}

/** A started state: its result so far, and a promise of the final one when it runs in parallel. */
export interface Begun {
  readonly result: PlainDict;
  readonly work?: Promise<PlainDict>;
}

const emptyScene: CallScene = { chunks: [], running: {} };

export class StateCaller {
  readonly #options: CallerOptions;
  readonly #contexts: StateContexts;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#contexts = new StateContexts(options.session, options.instanceId);
  }

  /** The result of a chunk when it is finished. Never throws because of a state function. */
  async call(low: Chunk, scene: CallScene = emptyScene): Promise<PlainDict> {
    return unifyResult(await this.#call(low, scene, (prepared) => callWithUmask(low, prepared)));
  }

  /** The same, but a chunk with `parallel` is started and runs in parallel to the following ones. */
  async begin(low: Chunk, scene: CallScene): Promise<Begun> {
    if (!isTruthy(low['parallel'] ?? false)) return { result: await this.call(low, scene) };
    let work: Promise<PlainDict> | undefined;
    const start = async (prepared: PreparedCall): Promise<PlainDict> => {
      work = this.#beside(low, prepared);
      return plainResult(low, null, 'Started in a separate process');
    };
    const result = unifyResult(await this.#call(low, scene, start));
    return work ? { result, work } : { result };
  }

  /** The context for hooks of a module (`modInit`, `modAggregate`). */
  contextFor(low: Chunk, scene: CallScene): StateContext {
    return this.#contexts.contextFor(low, scene);
  }

  async #call(low: Chunk, scene: CallScene, invoke: Invoke): Promise<PlainDict> {
    const once = (): Promise<Attempt> => this.#once(low, scene, invoke);
    const first = await once();
    if (!first.mayRepeat || !('retry' in low) || 'parallel' in low) return first.result;
    const { session } = this.#options;
    return retryInOrder(first.result, readRetry(low['retry']!, session.log), session, once);
  }

  /** A chunk that cannot be called, or only runs as a test for a `prereq`, is not retried. */
  async #once(low: Chunk, scene: CallScene, invoke: Invoke): Promise<Attempt> {
    const start = now();
    const { session, numbers, mocked } = this.#options;
    const errors = await verifyChunk(session, low);
    if (errors.length > 0) return { result: await this.#refused(low, errors), mayRepeat: false };
    const trial = isTruthy(low['__prereq__'] ?? false);
    const prepared = await this.#contexts.prepare(low, scene, trial || session.test);
    // The test run for a `prereq` comes before everything else.
    const called: Invoke = trial ? (given) => callWithUmask(low, given) : invoke;
    const result = await attempt(low, prepared, session, { mocked, invoke: called });
    if (!isDict(result)) return { result, mayRepeat: false };
    addWarnings(result, prepared.warnings);
    if (trial) {
      low['__prereq__'] = false;
      return { result, mayRepeat: false };
    }
    result['__sls__'] = low['__sls__'] ?? null;
    result['__run_num__'] = numbers.take();
    await reloadAfter(session, low, result);
    result['start_time'] = clockText(start);
    result['duration'] = durationOf(start);
    result['__id__'] = low['__id__'] ?? null;
    return { result, mayRepeat: true };
  }

  async #refused(low: Chunk, errors: readonly string[]): Promise<PlainDict> {
    const result = newDict([
      ['result', false],
      ['name', low['name'] ?? null],
      ['changes', newDict()],
      ['comment', errors.map((error) => `${error}\n`).join('')],
      ['__run_num__', this.#options.numbers.take()],
    ]);
    await reloadAfter(this.#options.session, low, result);
    return result;
  }

  /** The work of a parallel state; it is retried independently. */
  async #beside(low: Chunk, prepared: PreparedCall): Promise<PlainDict> {
    const { session } = this.#options;
    const once = async (): Promise<Attempt> => {
      const start = now();
      const made: Value = await callNow(prepared).catch((thrown: unknown) => exceptionResult(low, thrown));
      const result = isDict(made) && !(made instanceof Map) ? made : unifyResult(made);
      result['start_time'] = clockText(start);
      result['duration'] = durationOf(start);
      return { result, mayRepeat: true };
    };
    let { result } = await once();
    if ('retry' in low) result = await retryBeside(result, readRetry(low['retry']!, session.log), session, once);
    result['__parallel__'] = true;
    return unifyResult(result);
  }
}

type Invoke = (prepared: PreparedCall) => Promise<PlainDict>;
