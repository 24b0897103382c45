// Runs low chunks in order: each after its requisites, with a test run first where a `prereq` needs it; results by tag.

import { isTruthy, pyStr } from '../../../base/codec/python/index.ts';
import { newDict, oneOrMore, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { ExtensionLog, StateContext } from '../../../extend/sdk/index.ts';
import type { Chunk } from '../data.ts';
import { tagOf } from '../tags.ts';
import { aggregate } from './aggregate.ts';
import type { Begun } from './caller.ts';
import type { CallScene } from './contexts.ts';
import { waitWhilePaused } from './pause.ts';
import { RequisiteIndex, readRequisite, requisiteEntries } from './requisite-index.ts';
import {
  isChanged,
  isProcessed,
  judgeRequisites,
  type RequisiteStatus,
  type RequisiteView,
  type ResolvedRequisites,
} from './requisites.ts';
import * as results from './results.ts';
import type { RunNumbers } from './run-numbers.ts';
import { type StateModules, watchAsRequire } from './verify-chunk.ts';

/** The run's view of the minion, as far as the order of chunks depends on it. */
export interface RunnerSession extends StateModules {
  readonly opts: Readonly<Record<string, Value>>;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal;
  option(name: string): Value | undefined;
}

/** Calls the state functions. */
export interface StateCalls {
  call(low: Chunk, scene: CallScene): Promise<PlainDict>;
  /** Starts a chunk with `parallel` in parallel to the others. */
  begin(low: Chunk, scene: CallScene): Promise<Begun>;
  contextFor(low: Chunk, scene: CallScene): StateContext;
}

export interface RunnerOptions {
  readonly session: RunnerSession;
  readonly caller: StateCalls;
  readonly numbers: RunNumbers;
  readonly processed: ReadonlySet<string>;
  readonly pausePath: string | undefined;
  /** Called for every result. */
  onResult(result: PlainDict, low: Chunk, total: number): void;
}

/** Requisites whose targets are run before the state; as in Salt, `onfail_all` is not among them. */
const sought = [
  'require',
  'require_any',
  'watch',
  'watch_any',
  'prereq',
  'onfail',
  'onfail_any',
  'onchanges',
  'onchanges_any',
];
/** Salt stops trying a state whose requisites never become met. */
const depthLimit = 20;

/** A chain of all chunks nests twice per chunk; deeper nesting is a cycle. */
const nestingPerChunk = 4;
const nestingFree = 100;

class EndlessRequisites extends Error {}

type Results = Record<string, PlainDict>;

/** One list of chunks that is being run. */
export class ChunkRunner {
  readonly #options: RunnerOptions;
  readonly #chunks: readonly Chunk[];
  readonly #view: RequisiteView;
  readonly #scene: CallScene;
  readonly running: Results = newDict() as Results;
  readonly #pre: Results;
  #active = new Set<string>();
  readonly #initialized: Set<string>;
  readonly #parallel = new Map<string, Promise<void>>();
  readonly #reported = new WeakSet<PlainDict>();
  #nesting = 0;
  /** A failure with `failhard` occurred: nothing more is run. */
  #stopped = false;

  /** `shared` is the data that several lists of one run share (the listeners run after the rest). */
  constructor(options: RunnerOptions, chunks: readonly Chunk[], shared: RunMemory) {
    this.#options = options;
    this.#chunks = chunks;
    this.#pre = shared.pre;
    this.#initialized = shared.initialized;
    const disabled = options.session.opts['disabled_requisites'] ?? [];
    this.#view = {
      index: new RequisiteIndex(chunks),
      tags: chunks.map(tagOf),
      running: this.running,
      pre: this.#pre,
      processed: options.processed,
      disabled: new Set(oneOrMore(disabled).map(pyStr)),
      atWork: (tag) => this.#parallel.get(tag),
    };
    this.#scene = { chunks, running: this.running };
  }

  /** Runs them all, until one fails hard; returns whether none did. */
  async runAll(): Promise<boolean> {
    let hard = false;
    for (const [at, low] of this.#chunks.entries()) {
      hard = this.#stopped;
      if (hard) break;
      if (this.#view.tags[at]! in this.running) continue;
      if ((await waitWhilePaused(this.#options.pausePath, low, this.#session.signal)) === 'kill') break;
      await this.runTop(low);
      hard = this.#failsHard(low);
      if (hard) break;
      this.#active = new Set();
    }
    await this.#settleAll();
    return !hard;
  }

  get #session(): RunnerSession {
    return this.#options.session;
  }

  async #settleAll(): Promise<void> {
    await Promise.all(this.#parallel.values());
  }

  /** Runs a chunk and everything it requires. Endless requisites make it fail; Salt aborts the run. */
  async runTop(low: Chunk): Promise<void> {
    try {
      await this.#runChunk(low, 0);
    } catch (error) {
      if (!(error instanceof EndlessRequisites)) throw error;
      const tag = tagOf(low);
      low['__prereq__'] = false;
      this.running[tag] ??= results.recursive(low, this.#options.numbers.take());
      this.#report(this.running[tag]!, low, tag);
    } finally {
      this.#nesting = 0;
    }
  }

  async #runChunk(given: Chunk, depth: number): Promise<void> {
    if (++this.#nesting > nestingPerChunk * this.#chunks.length + nestingFree) throw new EndlessRequisites();
    await this.#runNested(given, depth);
    this.#nesting--;
  }

  async #runNested(given: Chunk, depth: number): Promise<void> {
    const low = await aggregate(given, this.#chunks, this.running, this.#options);
    await this.#initialize(low);
    const tag = tagOf(low);
    if (!isTruthy(low['prerequired'] ?? false)) this.#active.add(tag);
    const trial = isTruthy(low['__prereq__'] ?? false);
    await watchAsRequire(this.#session, low);
    const { status, resolved } = await judgeRequisites(this.#view, low, !trial);
    if (status === 'unmet') {
      if (!(await this.#runAfterRequisites(low, tag, trial, depth))) return;
    } else await this.#conclude(low, tag, trial, status, resolved);
    const result = this.running[tag];
    if (result) this.#report(result, low, tag);
  }

  /** `mod_init` of a module, once. */
  async #initialize(low: Chunk): Promise<void> {
    const state = pyStr(low['state']);
    if (this.#initialized.has(state)) return;
    const found = await this.#session.find(`${state}.${pyStr(low['fun'])}`);
    if (!found) return;
    const init = found.module.extension.modInit;
    if (!init) {
      this.#initialized.add(state);
      return;
    }
    if (await init(low, this.#options.caller.contextFor(low, this.#scene))) this.#initialized.add(state);
  }

  /**
   * Runs the requisites of a chunk, then the chunk. False when the chunk already has a result, or must not have one.
   */
  async #runAfterRequisites(low: Chunk, tag: string, trial: boolean, depth: number): Promise<boolean> {
    const { needed, lost } = this.#seek(low, trial);
    if ([...lost.values()].some((list) => list.length > 0)) {
      const result = results.requisitesNotFound(low, this.#options.numbers.take(), lost);
      (trial ? this.#pre : this.running)[tag] = result;
      this.#report(result, low, tag);
      return false;
    }
    for (const at of needed) if (!(await this.#need(at, low, tag))) return false;
    // A required state may have requested a test run of this state.
    if (isTruthy(low['__prereq__'] ?? false)) await this.#tryAgain(low, tag);
    else if (depth + 1 >= depthLimit) this.running[tag] = results.recursive(low, this.#options.numbers.next);
    else await this.#runChunk(low, depth + 1);
    const last = this.#chunks[needed.at(-1) ?? this.#chunks.length - 1];
    if (last && this.#failsHard(last)) {
      this.#stopped = true;
      return false;
    }
    return true;
  }

  /** The required chunks of a chunk, in order, and the requisites without a match. */
  #seek(low: Chunk, trial: boolean): { needed: number[]; lost: results.Lost } {
    const needed: number[] = [];
    const lost = new Map<string, { key: string; value: Value }[]>();
    for (const name of trial ? sought : [...sought, 'prerequired']) {
      const missing: { key: string; value: Value }[] = [];
      lost.set(name, missing);
      for (const entry of requisiteEntries(low[name])) {
        const requisite = readRequisite(entry);
        const found = this.#view.index.find(requisite);
        for (const at of found) {
          const chunk = this.#chunks[at]!;
          if (name === 'prereq') chunk['__prereq__'] = true;
          else if (name === 'prerequired' && requisite.key !== 'sls') chunk['__prerequired__'] = true;
          needed.push(at);
        }
        if (found.length === 0 && !isProcessed(this.#view, requisite)) missing.push(requisite);
      }
    }
    return { needed, lost };
  }

  /** Runs one required chunk unless it has run. False ends the work on the dependent state. */
  async #need(at: number, low: Chunk, tag: string): Promise<boolean> {
    const neededTag = this.#view.tags[at]!;
    if (neededTag in this.running) return true;
    const chunk = this.#chunks[at]!;
    if (this.#active.has(neededTag)) {
      if (isTruthy(chunk['__prerequired__'] ?? false)) await this.#tryFor(neededTag, low, tag);
      else {
        const result = results.recursive(low, this.#options.numbers.take());
        this.running[tag] = result;
        this.#report(result, low, tag);
      }
      return false;
    }
    await this.#runChunk(chunk, 0);
    if (!this.#failsHard(chunk)) return true;
    this.#stopped = true;
    return false;
  }

  /** The dependent state needs to know whether this one would change anything. */
  async #tryFor(waiting: string, low: Chunk, tag: string): Promise<void> {
    if (tag in this.#pre) return;
    low['__prereq__'] = true;
    this.#pre[waiting] = await this.#options.caller.call(low, this.#scene);
  }

  /** A test run whose own requisites have run now. */
  async #tryAgain(low: Chunk, tag: string): Promise<void> {
    const { status } = await judgeRequisites(this.#view, low, false);
    if (status === 'pre') {
      this.#pre[tag] = results.noChangesDetected(low, this.#options.numbers.take(), false);
      return;
    }
    const result = await this.#options.caller.call(low, this.#scene);
    if (!isChanged(result) && status === 'change') {
      result['changes'] = newDict([['watch', 'watch']]);
      result['result'] = null;
    }
    this.#pre[tag] = result;
  }

  /** The requisites are decided: runs the state, or records why not. */
  async #conclude(
    low: Chunk,
    tag: string,
    trial: boolean,
    status: RequisiteStatus,
    resolved: ResolvedRequisites,
  ): Promise<void> {
    const { caller, numbers } = this.#options;
    // The umask applies to the whole process: no parallel state may create files meanwhile.
    if ('umask' in low || '__umask__' in low) await this.#settleAll();
    switch (status) {
      case 'fail':
        this.#failed(low, tag, resolved);
        return;
      case 'pre':
        this.running[tag] = this.#pre[tag] = results.noChangesDetected(low, numbers.take());
        return;
      case 'onfail':
        this.running[tag] = results.onfailNotMet(low, numbers.take());
        return;
      case 'onchanges':
        this.running[tag] = results.onchangesNotMet(low, numbers.take());
        return;
      case 'change':
        if (trial) break;
        this.running[tag] = await this.#callWatching(low, resolved);
        return;
    }
    if (trial) this.#pre[tag] = await caller.call(low, this.#scene);
    else this.running[tag] = await this.#callNow(low, tag);
  }

  async #callNow(low: Chunk, tag: string): Promise<PlainDict> {
    const { result, work } = await this.#options.caller.begin(low, this.#scene);
    if (work) {
      const done = work.then((ended) => void Object.assign(result, ended));
      this.#parallel.set(tag, done);
    }
    return result;
  }

  /** A watched state changed: when the state itself has nothing to do, its module reacts. */
  async #callWatching(low: Chunk, resolved: ResolvedRequisites): Promise<PlainDict> {
    const { caller } = this.#options;
    const result = await caller.call(low, this.#scene);
    if (isChanged(result) || isTruthy(result['skip_watch'] ?? false)) return result;
    const watching = newDict(Object.entries(low));
    watching['sfun'] = low['fun']!;
    watching['fun'] = 'mod_watch';
    const requisites = Object.fromEntries(
      [...resolved].map(([name, list]) => [name, list.map((at) => this.#chunks[at]!)]),
    );
    return caller.call(watching, { ...this.#scene, requisites });
  }

  #failed(low: Chunk, tag: string, resolved: ResolvedRequisites): void {
    const { numbers } = this.#options;
    const tried = this.#pre[tag];
    if (tried) {
      // The test run announced changes that will not happen.
      tried['changes'] = newDict();
      tried['__run_num__'] = numbers.take();
      for (const key of ['__sls__', '__id__', 'name']) tried[key] = low[key] ?? null;
      this.running[tag] = tried;
      return;
    }
    const failed = new Set<string>();
    for (const positions of resolved.values()) {
      for (const at of positions) {
        const neededTag = this.#view.tags[at]!;
        const result = this.#pre[neededTag] ?? this.running[neededTag];
        if (result?.['result'] !== false) continue;
        const chunk = this.#chunks[at]!;
        failed.add(`${pyStr(chunk['__sls__'])}.${pyStr(chunk['__id__'])}`);
      }
    }
    this.running[tag] = this.#pre[tag] = results.requisiteFailed(low, numbers.take(), failed);
  }

  #failsHard(low: Chunk): boolean {
    const { opts } = this.#session;
    if (isTruthy(opts['test'] ?? false)) return false;
    if (!isTruthy(low['failhard'] ?? opts['failhard'] ?? false)) return false;
    return this.running[tagOf(low)]?.['result'] === false;
  }

  /** Reports a result once. */
  #report(result: PlainDict, low: Chunk, tag: string): void {
    if (this.#reported.has(result)) return;
    this.#reported.add(result);
    this.#options.onResult(result, low, this.#chunks.length);
    const parts = result['sub_state_run'];
    delete result['sub_state_run'];
    for (const part of Array.isArray(parts) ? (parts as PlainDict[]) : []) {
      const partLow = part['low'] as Chunk | undefined;
      const number = this.#options.numbers.takePart();
      this.running[partLow ? tagOf(partLow) : tag] = results.subResult(low, number, part);
    }
  }
}

/** Data shared by all lists of one run. */
export interface RunMemory {
  readonly pre: Results;
  readonly initialized: Set<string>;
}
