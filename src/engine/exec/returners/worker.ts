// The daemon's side of returners: one process that loads their libraries, started for the first result, ended when
// idle.
import type { ChildProcess } from 'node:child_process';
import { packValue, unpackValue } from '../../../base/codec/msgpack/index.ts';
import { newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import type { ExtensionLog } from '../../../extend/sdk/index.ts';
import { detachChild, forkJobProcess } from '../fork-job-process.ts';
import type { FromJobProcess, ToJobProcess } from '../job-messages.ts';
import type { WorkerData } from '../job-worker.ts';
import type { ReturnerChoice, ReturnerProblem } from './sessions.ts';

export interface ReturnerWorkerOptions {
  /** The program of job processes. */
  readonly entry: string;
  readonly log: ExtensionLog;
  readonly idleMs: number;
}

interface Waiting {
  readonly child: ChildProcess;
  readonly names: readonly string[];
  resolve(problems: ReturnerProblem[]): void;
}

export class ReturnerWorker {
  readonly #options: ReturnerWorkerOptions;
  #child: ChildProcess | undefined;
  #dataVersion = '';
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ReturnerWorkerOptions) {
    this.#options = options;
  }

  /** Passes a result to returners; resolves with their failures. Never rejects. */
  save(data: WorkerData, choice: ReturnerChoice, load: PlainDict): Promise<ReturnerProblem[]> {
    clearTimeout(this.#timer);
    const child = this.#child ?? this.#start();
    this.#child = child;
    if (this.#dataVersion !== data.version) {
      this.#dataVersion = data.version;
      this.#send({ t: 'data', id: data.id, sdkUrl: data.sdkUrl, body: data.body });
    }
    const n = ++this.#last;
    return new Promise((resolve) => {
      this.#waiting.set(n, { child, names: choice.names, resolve });
      const requested = newDict(Object.entries(choice as unknown as Record<string, Value>));
      this.#send({ t: 'keep', n, body: packValue({ choice: requested, load }) });
    });
  }

  /** The user's own returners changed: the next result starts a new process. */
  recycle(): void {
    const child = this.#child;
    clearTimeout(this.#timer);
    this.#child = undefined;
    this.#dataVersion = '';
    if (!child?.connected) return;
    child.send({ t: 'end' } satisfies ToJobProcess, () => undefined);
    child.channel?.unref();
    child.unref();
  }

  /** The daemon ends. Results in progress are finished without it. */
  stop(): void {
    const child = this.#child;
    clearTimeout(this.#timer);
    this.#child = undefined;
    if (!child) return;
    detachChild(child);
    this.#failAll(child, 'the minion stopped');
  }

  #start(): ChildProcess {
    const child = forkJobProcess(this.#options.entry);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (piece: Buffer) => this.#options.log.info(piece.toString().trimEnd(), { pid: child.pid }));
    }
    child.on('message', (message) => this.#receive(message as FromJobProcess));
    child.on('error', (error) => this.#failAll(child, error.message));
    child.on('exit', (code, signal) => this.#failAll(child, `its process ended (${signal ?? code})`));
    return child;
  }

  #send(message: ToJobProcess): void {
    const child = this.#child;
    child?.send(message, (error) => {
      if (error) this.#failAll(child, error.message);
    });
  }

  #receive(message: FromJobProcess): void {
    if (message.t === 'log') this.#options.log[message.level]?.(message.message, message.fields);
    if (message.t !== 'kept') return;
    const request = this.#waiting.get(message.n);
    this.#waiting.delete(message.n);
    request?.resolve(unpackValue(message.body) as unknown as ReturnerProblem[]);
    if (this.#waiting.size > 0 || !this.#child) return;
    this.#timer = setTimeout(() => this.recycle(), this.#options.idleMs).unref();
  }

  #failAll(child: ChildProcess, error: string): void {
    if (this.#child === child) {
      this.#child = undefined;
      this.#dataVersion = '';
    }
    for (const [n, item] of this.#waiting) {
      if (item.child !== child) continue;
      this.#waiting.delete(n);
      item.resolve(item.names.map((returner) => ({ returner, error })));
    }
  }
}
