// A minion for tests that uses the real engine: its loader, argument binding, contexts and state runs, without
// daemons. Only what a test names is replaced.
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Dict, dictEntries, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { conditionInput, parseCliYaml, parseInput } from '../base/codec/yaml/index.ts';
import { minionOptions } from '../base/config/index.ts';
import { defaultsOf } from '../base/config/opts.ts';
import { HaliteError } from '../base/errors/index.ts';
import { generateJid } from '../base/util/jid.ts';
import { beaconContext } from '../engine/beacons/process.ts';
import {
  createContext,
  execProgram,
  executeJob,
  type JobState,
  matchesMinion,
  type Outcome,
  type Runtime,
} from '../engine/exec/index.ts';
import { openReturner } from '../engine/exec/returners/open.ts';
import { openRun } from '../engine/state/open.ts';
import { StateCaller } from '../engine/state/run/caller.ts';
import { RunNumbers } from '../engine/state/run/run-numbers.ts';
import { StateSession } from '../engine/state/run/session.ts';
import { Loader, sdkUrl } from '../extend/loader/index.ts';
import type {
  BeaconContext,
  ExecOptions,
  ExecResult,
  ExtensionLog,
  MinionServices,
  ModuleContext,
  ReturnerSession,
  StateResult,
  StateRun,
} from '../extend/sdk/index.ts';
import type { PublishedJob } from '../protocol/job/job.ts';
import { readPublishedJob } from '../protocol/wire/messages/job.ts';
import { type TableOptions, testTable } from './tables.ts';
import { extensionFolders, refuseHiddenReplacements } from './user-extensions.ts';

export interface TestMinionOptions extends TableOptions {
  readonly opts?: Readonly<Record<string, Value>>;
  readonly grains?: Dict;
  readonly pillar?: Dict;
  /** The job its functions belong to: `{jid, fun, …}`. */
  readonly job?: Readonly<Record<string, Value>>;
  /** Services of its daemon for functions; by default it has no master, and events are dropped. */
  readonly minion?: Partial<MinionServices>;
  /** Parts of the context that the test replaces: `files`, `match`, `registry`, … */
  readonly context?: Partial<ModuleContext>;
  /** The tree of its file server: `top.sls` → text. */
  readonly tree?: Readonly<Record<string, string>>;
  /** A folder with users' extensions in the layout of a file server: `_modules`, `_states`, `_returners`, … */
  readonly extensions?: string;
}

/** How one state is applied. */
export interface ApplyStateOptions {
  /** `test=True`: it reports what it would do, and fails when it changes something. */
  readonly test?: boolean;
  /** Keys of its chunk besides the arguments: `__id__`, `__sls__`, requisites, … */
  readonly low?: PlainDict;
  /** All chunks of the run it is part of. */
  readonly lowstate?: readonly PlainDict[];
  readonly running?: Readonly<Record<string, PlainDict>>;
}

const folders = new Set<string>();

function removeAtExit(folder: string): void {
  if (folders.size === 0) {
    process.once('exit', () => {
      for (const left of folders) rmSync(left, { recursive: true, force: true });
    });
  }
  folders.add(folder);
}

/** The options of a minion whose configuration file is empty. */
const defaults = (): Readonly<Record<string, Value>> => {
  known ??= defaultsOf(minionOptions);
  return known;
};
let known: PlainDict | undefined;

const noMaster = (): Promise<never> =>
  Promise.reject(new HaliteError('daemon.unreachable', 'this test minion has no master'));

/** A minion that uses the real engine: `await new TestMinion({ extensions }).call('mine.function', ['argument'])`. */
export class TestMinion {
  /** Its folder: cache and file tree, created when needed; removed by `remove()` or at the end of the test. */
  readonly folder: string;
  readonly runtime: Runtime;
  readonly state: JobState;
  /** Events that were fired: tag and data. */
  readonly events: [tag: string, data: Dict][] = [];
  readonly progress: string[] = [];
  /** Everything that was logged, with its fields: `extension disabled kind=modules problem="…"`. */
  readonly logged: string[] = [];
  readonly #replaced: Partial<ModuleContext>;
  #context: ModuleContext | undefined;

  constructor(options: TestMinionOptions = {}) {
    this.folder = join(tmpdir(), `halite-minion-${randomUUID()}`);
    removeAtExit(this.folder);
    refuseHiddenReplacements(options);
    const opts = this.#optionsOf(options);
    const grains = options.grains ?? newDict([['kernel', 'Linux']]);
    const pillar = options.pillar ?? newDict();
    const log = this.#log();
    const loader = new Loader({
      opts: () => opts,
      grains: () => grains,
      log,
      userCode: 'import',
      ...(sdkUrl() === undefined ? {} : { sdkUrl: sdkUrl() }),
      builtin: testTable(options),
    });
    const id = String(opts['id']);
    this.runtime = {
      ...{ id, loader, log },
      minion: { ...this.#services(pillar), ...options.minion },
      opts: () => opts,
      grains: () => grains,
      pillar: () => pillar,
      exec: (file, args, execOptions, signal) => execProgram(file, args, execOptions, signal),
      match: (expression, kind) => matchesMinion({ id, opts, grains, pillar }, expression, kind),
      states: (runtime, state) => ({ open: (request) => openRun(runtime, state, request) }),
    };
    this.state = {
      ...(options.job ? { shown: newDict(Object.entries(options.job)) } : {}),
      signal: new AbortController().signal,
      progress: (text) => void this.progress.push(text),
      retcode: 0,
      cache: new Map(),
    };
    this.#replaced = options.context ?? {};
  }

  /** The context its execution functions get. */
  get context(): ModuleContext {
    this.#context ??= withParts(createContext(this.runtime, this.state), this.#replaced);
    return this.#context;
  }

  /** Calls a function as another function would: returns its value, or throws its error. */
  call(fun: string, args: readonly Value[] = [], kwargs: Readonly<Record<string, Value>> = {}): Promise<Value> {
    return this.context.callWith(fun, args, newDict(Object.entries(kwargs)));
  }

  /**
   * Runs a function as `salt <minion> <fun> …` does: texts are parsed as by the command (`5`, `[a, b]`, `name=value`),
   * other values are used unchanged, and the function sees the job. Returns the outcome with its return code.
   */
  async run(fun: string, args: readonly Value[] = [], kwargs: Readonly<Record<string, Value>> = {}): Promise<Outcome> {
    return executeJob(this.runtime, { ...this.state, job: this.#publishedJob(fun, args, kwargs) });
  }

  /** Applies one state function as a state run does: `apply('file.absent', { name: '/x' })`. */
  async apply(
    fun: string,
    kwargs: Readonly<Record<string, Value>>,
    { test = false, low = newDict(), lowstate = [], running = {} }: ApplyStateOptions = {},
  ): Promise<StateResult> {
    const dot = fun.indexOf('.');
    const chunk = newDict([
      ['__id__', kwargs['name'] ?? fun],
      ['__sls__', null],
      ['__env__', 'base'],
      ...Object.entries(low),
      ['state', fun.slice(0, dot)],
      ['fun', fun.slice(dot + 1)],
      ['name', kwargs['name'] ?? fun],
      ...Object.entries(kwargs),
    ]);
    const session = this.#session(test);
    const numbers = new RunNumbers();
    const caller = new StateCaller({ session, numbers, mocked: false, instanceId: 'test-instance' });
    return (await caller.call(chunk, { chunks: lowstate, running })) as StateResult;
  }

  /**
   * A run of the whole state engine on the minion's tree: `(await minion.states({test: true})).apply.sls(['web'], {})`.
   */
  states(opts: Readonly<Record<string, Value>> = {}): Promise<StateRun> {
    return openRun(this.runtime, this.state, { opts: { saltenv: 'base', ...opts } });
  }

  /** The context of a beacon of that name. */
  beaconContext(name: string, signal: AbortSignal = this.state.signal): BeaconContext {
    return beaconContext(() => this.runtime, name, signal);
  }

  /** Opens a returner as the minion does at the end of a job. */
  returner(name: string): Promise<ReturnerSession> {
    const { id, loader, log } = this.runtime;
    const [grains, pillar] = [this.runtime.grains(), this.runtime.pillar()].map((dict) =>
      newDict(dictEntries(dict).map(([key, value]) => [String(key), value])),
    ) as [PlainDict, PlainDict];
    return openReturner(loader, name, {
      ...{ id, log, grains, pillar },
      opts: this.runtime.opts(),
      signal: this.state.signal,
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The job as a master would publish it for what was typed. */
  #publishedJob(fun: string, args: readonly Value[], kwargs: Readonly<Record<string, Value>>): PublishedJob {
    const typed = parseInput(args);
    for (const [name, value] of Object.entries(kwargs))
      typed.kwargs[name] = typeof value === 'string' ? parseCliYaml(value) : value;
    const job = readPublishedJob(
      newDict([
        ...Object.entries({ jid: generateJid(), user: 'root', ret: '', tgt: this.runtime.id, tgt_type: 'glob' }),
        ...Object.entries(this.state.shown ?? {}),
        ['fun', fun],
        ['arg', conditionInput(typed)],
      ]),
    );
    if ('problem' in job) throw new HaliteError('call.arguments', `the option job of the test minion: ${job.problem}`);
    return job;
  }

  #session(test: boolean): StateSession {
    const pillar = this.runtime.pillar();
    return new StateSession({
      runtime: this.runtime,
      state: this.state,
      opts: { ...this.runtime.opts(), test },
      pillar,
      gatherPillar: async () => pillar,
      gatherGrains: async () => this.runtime.grains(),
    });
  }

  #optionsOf({ opts, tree = {}, extensions, minion }: TestMinionOptions): Readonly<Record<string, Value>> {
    const root = join(this.folder, 'roots');
    for (const [path, text] of Object.entries(tree)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return {
      ...defaults(),
      id: 'testminion',
      // With a master provided by the test it is a minion like any other.
      file_client: minion?.hasMaster || minion?.masterRequest ? 'remote' : 'local',
      cachedir: join(this.folder, 'cache'),
      extension_modules: join(this.folder, 'extensions'),
      file_roots: newDict([['base', [root]]]),
      ...(extensions === undefined ? {} : extensionFolders(extensions)),
      ...opts,
    };
  }

  #log(): ExtensionLog {
    const note = (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void this.logged.push([message, ...Object.entries(fields).map(fieldText)].join(' '));
    return { debug: note, info: note, warn: note, error: note };
  }

  #services(pillar: Dict): MinionServices {
    const nothing = async (): Promise<void> => {};
    return {
      hasMaster: false,
      running: async () => [],
      signalJob: async () => '',
      masterRequest: noMaster,
      fire: async (tag, data) => {
        this.events.push([tag, data]);
        return false;
      },
      refreshGrains: nothing,
      refreshPillar: async () => false,
      compilePillar: async () => pillar,
      reloadExtensions: nothing,
    };
  }
}

/**
 * Applies one state function on a new test minion: `applyState({ states: [mine], test: true }, 'mine.present', { name:
 * 'x' })`.
 */
export function applyState(
  { test, low, lowstate, running, ...options }: TestMinionOptions & ApplyStateOptions,
  fun: string,
  kwargs: Readonly<Record<string, Value>>,
): Promise<StateResult> {
  return new TestMinion(options).apply(fun, kwargs, { test, low, lowstate, running });
}

/** `name=value`; texts with blanks and other values as JSON. */
function fieldText([name, value]: readonly [string, unknown]): string {
  if (value instanceof Error) return `${name}=${JSON.stringify(value.message)}`;
  return `${name}=${typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value)}`;
}

/** Runs a program as functions do: without a shell, with all its output. */
export const runProgram = (file: string, args: readonly string[], options: ExecOptions = {}): Promise<ExecResult> =>
  execProgram(file, args, options);

/** Puts parts of a test in place of the context's own; what the context works out when asked for stays so. */
function withParts(context: ModuleContext, parts: Partial<ModuleContext>): ModuleContext {
  const given = Object.entries(parts).filter(([, value]) => value !== undefined);
  return Object.defineProperties(
    context,
    Object.fromEntries(given.map(([key, value]) => [key, { value, enumerable: true, configurable: true }])),
  );
}
