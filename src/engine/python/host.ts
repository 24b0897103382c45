// The bridge of one process: finds Python, starts a worker when one is needed, and ends it when it is not.
import { asList, asText, type Dict, fieldOf, isDict, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, PythonEnded } from '../../base/errors/index.ts';
import {
  type Kind,
  type PythonCall,
  type PythonCaller,
  type PythonDescription,
  type PythonFinder,
  type PythonHost,
  type PythonRendering,
  type UserFile,
  utilsFolders,
} from '../../extend/loader/index.ts';
import type { ExtensionLog } from '../../extend/sdk/index.ts';
import { readDescription } from './describe.ts';
import { closeReaders } from './events.ts';
import { placeOf } from './failures.ts';
import { type FoundPython, findPython } from './find.ts';
import { defaultLargest } from './frames.ts';
import { toWire } from './marks.ts';
import { askedByTemplate } from './templates.ts';
import { extrasOf, PythonWorker, type Reply, type Request, workerBelow } from './worker.ts';

export interface BridgeOptions {
  opts(): Readonly<Record<string, Value>>;
  readonly log: ExtensionLog;
  /** `alone`: a worker for each call, for daemons that serve several callers at once. */
  readonly workers: 'shared' | 'alone';
  /** Ends the worker when nothing has called for so long; without it `release` does. */
  readonly idleMs?: number;
  /** A worker was started, or has ended: whoever ends this process ends it too. */
  watcher?: { started(pid: number): void; ended(pid: number): void };
  /** What extensions print; the log without it. */
  printed?(text: string, stream: 'stdout' | 'stderr'): void;
}

const defaultLoadSeconds = 30;
const collectSeconds = 60;
/** Parallel states and similar calls; more of them share processes. */
const mostWorkers = 16;
const deathsAllowed = 3;
const deathsWithinMs = 60_000;
const endGraceMs = 2000;
/** Kinds whose files may be called by Python directly, without a way through Halite. */
const indexed: readonly Kind[] = ['modules', 'runners', 'serializers'];

export class PythonBridge implements PythonHost {
  readonly #options: BridgeOptions;
  #found: Promise<FoundPython> | undefined;
  /** Each with the number of calls that use it. */
  readonly #workers = new Map<PythonWorker, number>();
  #idle: NodeJS.Timeout | undefined;
  readonly #deaths = new Map<string, number[]>();
  readonly #setups = new WeakMap<PythonFinder, Promise<unknown>>();

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  async load(kind: Kind, file: UserFile, caller: PythonCaller, finder: PythonFinder): Promise<PythonDescription> {
    const about = { path: file.path, what: `the import of ${file.name}` };
    const rest = [kind, ...fileOf(file)];
    const seconds = this.#seconds('python_load_timeout', defaultLoadSeconds);
    const reply = await this.#ask({ action: 'load', kind, rest, caller, finder, about }, seconds);
    const problem = fieldOf(reply.value, 'error');
    if (problem !== undefined && problem !== null) this.#logBroken(file, problem);
    return readDescription(reply.value);
  }

  async run(call: PythonCall, caller: PythonCaller, finder: PythonFinder): Promise<Value> {
    const { kind, file, fun, args, kwargs } = call;
    const about = { path: file.path, what: `${file.name}.${fun}` };
    const rest = [kind, ...fileOf(file), fun, toWire([...args]), toWire(kwargs)];
    try {
      const extra = extraOf(kind, caller);
      const objects = kind === 'modules' && askedByTemplate(fun);
      const { value, extras } = await this.#ask({ action: 'run', kind, rest, caller, finder, about, extra, objects });
      const { retcode, strange } = extrasOf(extras);
      if (retcode !== undefined) caller.setRetcode?.(retcode);
      if (strange !== undefined)
        this.#options.log.warn(
          `${about.what} returned a value of the type ${strange}, which is shown as Python prints it`,
        );
      return value;
    } catch (error) {
      if (error instanceof PythonEnded) caller.setRetcode?.(error.status || 1);
      throw error;
    } finally {
      closeReaders(caller);
    }
  }

  async collect(file: UserFile, caller: PythonCaller, finder: PythonFinder): Promise<Dict> {
    const about = { path: file.path, what: 'it' };
    const rest = fileOf(file);
    const { value } = await this.#ask(
      { action: 'collect', kind: 'grains', rest, caller, finder, about },
      collectSeconds,
    );
    const reason = asText(fieldOf(value, 'reason'));
    if (reason) this.#options.log.info(`grains of ${file.path} are not used: ${reason}`);
    for (const problem of [fieldOf(value, 'error'), ...(asList(fieldOf(value, 'problems')) ?? [])])
      if (problem !== undefined && problem !== null) this.#logBroken(file, problem);
    const grains = fieldOf(value, 'grains');
    return isDict(grains) ? grains : newDict();
  }

  async render(rendering: PythonRendering, caller: PythonCaller, finder: PythonFinder): Promise<Value> {
    const { renderer, path, text, variables } = rendering;
    const about = { path: path || 'the text', what: `"#!${renderer}"` };
    const rest = [renderer, path, text, toWire(variables)];
    return (await this.#ask({ action: 'render', kind: 'renderers', rest, caller, finder, about })).value;
  }

  /** Ends the workers: their job is over. */
  release(): void {
    clearTimeout(this.#idle);
    for (const worker of this.#workers.keys()) worker.end();
    this.#workers.clear();
  }

  async #ask(request: Request, limitSeconds?: number): Promise<Reply> {
    this.#refuseDeadly(request.about.path);
    const setup = await this.#setupFor(request.finder);
    const worker = await this.#take();
    try {
      worker.setUp(request.finder, setup);
      return await this.#limited(worker, request, limitSeconds);
    } finally {
      this.#giveBack(worker);
    }
  }

  /** What a worker has to know: the users' files by name, so that they call each other without a way through Halite. */
  #setupFor(finder: PythonFinder): Promise<unknown> {
    let made = this.#setups.get(finder);
    if (!made) {
      made = this.#setup(finder);
      this.#setups.set(finder, made);
    }
    return made;
  }

  async #setup(finder: PythonFinder): Promise<unknown> {
    const index: Record<string, Record<string, unknown[]>> = {};
    for (const kind of indexed) {
      const files = await finder.pythonFiles(kind);
      index[kind] = Object.fromEntries([...files].map(([name, found]) => [name, found.map(fileOf)]));
    }
    const opts = this.#options.opts();
    const { log_level, log_level_logfile } = opts;
    return {
      index,
      utils: utilsFolders(opts),
      logs: toWire({ log_level, log_level_logfile }),
      largest: this.#largest(),
    };
  }

  async #limited(worker: PythonWorker, request: Request, seconds: number | undefined): Promise<Reply> {
    const { path, what } = request.about;
    const timer = seconds === undefined ? undefined : setTimeout(() => worker.kill(tooLong(seconds)), seconds * 1000);
    // Engines clean up behind them when they are asked to end.
    const abort = (): void =>
      request.kind === 'engines' ? worker.terminate(endGraceMs) : worker.kill('was ended with its job');
    const { signal } = request.caller;
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await worker.ask(request);
    } catch (error) {
      if (error instanceof PythonEnded && worker.over && !signal?.aborted) this.#countDeath(path, what);
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  /**
   * What is called by a function of Python runs in its process, on top of it. Other calls at the same time have processes of
   * their own, as parallel states have with Salt: on top of each other they would wait for each other.
   */
  async #take(): Promise<PythonWorker> {
    const { opts, workers } = this.#options;
    this.#found ??= findPython(opts());
    const { executable } = await this.#found.catch((error: unknown) => {
      // Somebody may install it meanwhile.
      this.#found = undefined;
      throw error;
    });
    const below = workerBelow();
    const usable = [...this.#workers].filter(([worker]) => !worker.over);
    const idle = workers === 'shared' ? usable.find(([, users]) => users === 0) : undefined;
    const full = usable.length >= mostWorkers ? usable[0] : undefined;
    const known = usable.find(([worker]) => worker === below) ?? idle ?? full;
    const worker = known?.[0] ?? this.#open(executable);
    this.#workers.set(worker, (known?.[1] ?? 0) + 1);
    clearTimeout(this.#idle);
    return worker;
  }

  #open(executable: string): PythonWorker {
    const { log, printed, watcher } = this.#options;
    const worker = new PythonWorker({
      executable,
      largest: this.#largest(),
      log,
      printed: printed ?? ((text, stream) => log.info(text.trimEnd(), { python: stream })),
      onEnd: (ended) => {
        this.#workers.delete(ended);
        watcher?.ended(ended.pid);
      },
    });
    watcher?.started(worker.pid);
    return worker;
  }

  #giveBack(worker: PythonWorker): void {
    const users = (this.#workers.get(worker) ?? 1) - 1;
    if (!this.#workers.has(worker)) return;
    this.#workers.set(worker, users);
    if (users > 0) return;
    if (this.#options.workers === 'alone') {
      this.#workers.delete(worker);
      worker.end();
      return;
    }
    const { idleMs } = this.#options;
    if (idleMs === undefined || [...this.#workers.values()].some((count) => count > 0)) return;
    this.#idle = setTimeout(() => this.release(), idleMs).unref();
  }

  #largest(): number {
    const told = this.#options.opts()['python_max_message'];
    return typeof told === 'number' && told > 0 ? told : defaultLargest;
  }

  #seconds(option: string, fallback: number): number {
    const told = this.#options.opts()[option];
    return typeof told === 'number' && told > 0 ? told : fallback;
  }

  /** A file that keeps killing its process is left alone for a while. */
  #countDeath(path: string, what: string): void {
    const since = performance.now() - deathsWithinMs;
    const deaths = [...(this.#deaths.get(path) ?? []).filter((at) => at > since), performance.now()];
    this.#deaths.set(path, deaths);
    if (deaths.length === deathsAllowed)
      this.#options.log.error(`${path} ended its Python process ${deathsAllowed} times, the last time in ${what}`);
  }

  #refuseDeadly(path: string): void {
    const since = performance.now() - deathsWithinMs;
    if ((this.#deaths.get(path) ?? []).filter((at) => at > since).length < deathsAllowed) return;
    throw new HaliteError(
      'extension.unavailable',
      `${path} is disabled: it ended its Python process ${deathsAllowed} times within a minute`,
    );
  }

  #logBroken(file: UserFile, problem: Value): void {
    const place = placeOf(problem);
    const where = place ? { file: place.file, line: place.line } : { file: file.path };
    const text = `${asText(fieldOf(problem, 'type')) ?? ''}: ${asText(fieldOf(problem, 'message')) ?? ''}`;
    this.#options.log.error(`${file.path} has a problem: ${text}`, where);
  }
}

const tooLong = (seconds: number): string => `took longer than ${seconds} s and was ended`;

const fileOf = (file: UserFile): [string, string, string] => [file.path, file.name, file.python?.version ?? ''];

/** Parts of the frame that only some kinds have. */
function extraOf(kind: Kind, caller: PythonCaller): Readonly<Record<string, Value>> {
  if (kind === 'states')
    return {
      low: newDict(Object.entries(caller.low ?? {})),
      env: caller.saltenv ?? 'base',
      instance_id: caller.instanceId ?? '',
    };
  if (kind !== 'runners') return {};
  const { job } = caller;
  return { jid: job?.['jid'] ?? '', user: job?.['user'] ?? '', tag: job?.['tag'] ?? '' };
}
