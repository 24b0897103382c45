// One worker with the calls under way: numbers them, matches answers, and answers what Python asks meanwhile.
import { AsyncLocalStorage } from 'node:async_hooks';
import { asText, fieldOf, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf, PythonEnded } from '../../base/errors/index.ts';
import type { PythonCaller, PythonFinder } from '../../extend/loader/index.ts';
import type { ExtensionLog, LogLevel } from '../../extend/sdk/exec.ts';
import { onlyReads } from '../../extend/sdk/read-only.ts';
import { answer } from './answers.ts';
import { errorOf, exitStatusOf, failureOf } from './failures.ts';
import { fromWire, toWire } from './marks.ts';
import { PythonProcess } from './process.ts';

export interface WorkerOptions {
  readonly executable: string;
  readonly largest: number;
  readonly log: ExtensionLog;
  readonly printed: (text: string, stream: 'stdout' | 'stderr') => void;
  readonly onEnd: (worker: PythonWorker) => void;
}

export interface Request {
  readonly action: 'load' | 'run' | 'collect' | 'render';
  readonly kind: string;
  readonly rest: readonly unknown[];
  readonly caller: PythonCaller;
  readonly finder: PythonFinder;
  /** For messages: `_modules/x.py while x.fn ran`. */
  readonly about: { readonly path: string; readonly what: string };
  readonly extra?: Readonly<Record<string, Value>>;
  /** Objects come with their attributes, for templates. */
  readonly objects?: boolean;
}

export interface Reply {
  readonly value: Value;
  readonly extras: Value;
}

interface Pending {
  readonly request: Request;
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

type Slot = 'opts' | 'grains' | 'pillar';
/** The worker whose question is being answered: what is called meanwhile is executed on top of it. */
const answering = new AsyncLocalStorage<PythonWorker>();
export const workerBelow = (): PythonWorker | undefined => answering.getStore();

const slotCount = 4;
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export class PythonWorker {
  readonly #process: PythonProcess;
  readonly #options: WorkerOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #slots: Readonly<Record<Slot, object[]>> = { opts: [], grains: [], pillar: [] };
  readonly #nextSlot: Record<Slot, number> = { opts: 0, grains: 0, pillar: 0 };
  #last = 0;
  #finder: PythonFinder | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
    // What Python asks is answered outside the test mode of a state: its own functions are not restricted either.
    this.#process = answering.exit(() =>
      onlyReads(
        () =>
          new PythonProcess(options.executable, options.largest, {
            message: (message) => this.#receive(message),
            printed: options.printed,
            ended: (why, retcode) => this.#ended(why, retcode),
          }),
      ),
    );
  }

  get pid(): number {
    return this.#process.pid;
  }
  get over(): boolean {
    return this.#process.over;
  }
  get busy(): boolean {
    return this.#pending.size > 0;
  }

  /** What it has to know of this process; sent again when the extensions changed. */
  setUp(finder: PythonFinder, data: unknown): void {
    if (this.#finder === finder) return;
    this.#finder = finder;
    this.#process.send(['setup', 0, data]);
  }

  ask(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const n = ++this.#last;
      const { action, caller, kind, rest } = request;
      const frame = {
        kind,
        opts: this.#slotFor('opts', caller.opts),
        grains: this.#slotFor('grains', caller.grains ?? noData),
        pillar: this.#slotFor('pillar', caller.pillar ?? noData),
        extra: toWire(newDict(Object.entries(request.extra ?? {}))),
        ...(request.objects ? { objects: true } : {}),
      };
      this.#process.send([action, n, frame, ...rest]);
      this.#pending.set(n, { request, resolve, reject });
      this.#process.hold(true);
      if (this.#process.over) this.#ended('had ended already', 1);
    });
  }

  end(): void {
    this.#process.end();
  }

  kill(problem: string): void {
    this.#process.kill(problem);
  }

  /** As a supervisor ends a program: asks, and kills it when it has not ended in time. */
  terminate(graceMs: number): void {
    this.#process.terminate(graceMs);
  }

  /** Large data are sent once and named by a number afterwards. */
  #slotFor(slot: Slot, data: object): number {
    const slots = this.#slots[slot];
    const known = slots.indexOf(data);
    if (known >= 0) return known;
    const at = this.#nextSlot[slot]++ % slotCount;
    this.#process.send(['slot', 0, slot, at, toWire(data)]);
    slots[at] = data;
    return at;
  }

  #receive(message: unknown[]): void {
    const [kind, number, first, second, third] = message;
    const n = typeof number === 'number' ? number : 0;
    switch (kind) {
      case 'done':
        this.#finish(n, ({ resolve }) => resolve({ value: fromWire(first), extras: fromWire(second ?? null) }));
        return;
      case 'failed':
        this.#finish(n, ({ request, reject }) => reject(this.#failure(request, fromWire(first))));
        return;
      case 'call':
        void this.#answer(n, typeof first === 'number' ? first : 0, String(second), third);
        return;
      case 'log':
        this.#log(String(first), String(second), String(third));
        return;
      case 'ready':
        return;
      default:
        throw new HaliteError('codec.malformed', `the message "${String(kind)}" does not exist`);
    }
  }

  #finish(n: number, settle: (pending: Pending) => void): void {
    const pending = this.#pending.get(n);
    if (!pending) return;
    this.#pending.delete(n);
    if (this.#pending.size === 0) this.#process.hold(false);
    try {
      settle(pending);
    } catch (error) {
      pending.reject(new HaliteError('call.failed', `${pending.request.about.what}: ${messageOf(error)}`));
    }
  }

  #failure(request: Request, report: Value): Error {
    const status = exitStatusOf(report);
    if (status === undefined) return errorOf(report);
    const { path, what } = request.about;
    return new PythonEnded(`${path} ended its Python process with status ${status} while ${what} ran`, status);
  }

  async #answer(n: number, frame: number, what: string, rawArgs: unknown): Promise<void> {
    // A thread that outlives its call asks in the name of nobody.
    const pending = this.#pending.get(frame);
    try {
      if (!pending) throw new HaliteError('call.failed', 'the call that started this has ended');
      const args = fromWire(rawArgs);
      const { caller, finder } = pending.request;
      const listed = Array.isArray(args) ? args : [];
      const value = await answering.run(this, () => onlyReads(() => answer(what, listed, { caller, finder })));
      this.#process.send(['reply', n, toWire(value)]);
    } catch (error) {
      this.#process.send(['failure', n, failureOf(error)]);
    }
  }

  #log(level: string, logger: string, text: string): void {
    const known = levels.find((name) => name === level) ?? 'info';
    this.#options.log[known](text, { logger });
  }

  #ended(why: string, retcode: number): void {
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    this.#options.onEnd(this);
    for (const { request, reject } of waiting) {
      const { path, what } = request.about;
      reject(new PythonEnded(`the Python process of ${path} ${why} while ${what} ran`, retcode));
    }
  }
}

const noData = Object.freeze(newDict());

/** Extras of a reply: the exit status that the function set, and a type that JSON does not have. */
export function extrasOf(extras: Value): { retcode: number | undefined; strange: string | undefined } {
  const code = fieldOf(extras, 'retcode');
  return { retcode: typeof code === 'number' ? code : undefined, strange: asText(fieldOf(extras, 'strange')) };
}
