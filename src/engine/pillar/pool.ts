// A small pool of worker threads that compile pillars: started when needed, ended when idle, replaced when they die.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import { asDict, type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { bundleFile } from '../../base/util/bundle-file.ts';
import type { ExtensionLog, PillarRemote } from '../../extend/sdk/index.ts';
import { type FromWorker, packRequest, type ToWorker, type WorkKind } from './messages.ts';
import type { ProcessHost } from './process-host.ts';
import type { PillarRequest } from './types.ts';

export interface PillarPoolOptions {
  readonly opts: Readonly<Record<string, Value>>;
  readonly log: ExtensionLog;
  /** Maximum number of threads. */
  readonly workers?: number;
  /** A thread without work ends after this time. */
  readonly idleMs?: number;
  /** A thread gets no new work after this time. */
  readonly ageMs?: number;
  /** A compilation that takes longer is cancelled. */
  readonly deadlineMs?: number;
  /** The program of the threads; the built one unless a test has its own. */
  readonly entry?: URL;
}

interface Job {
  readonly n: number;
  readonly kind: WorkKind;
  readonly body: Uint8Array;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
  /** Number of threads that died with it. */
  lost: number;
}

interface Thread {
  readonly worker: Worker;
  readonly since: number;
  readonly jobs: Map<number, Job>;
  idle: NodeJS.Timeout | undefined;
}

/** Concurrent compilations of one thread: while one waits for a command, others continue. */
const perThread = 8;
/** A second thread is worth its memory only when the first has this many compilations. */
const busyAt = 2;
/** How long a thread may take to notice that a compilation was cancelled. */
const graceMs = 5_000;
const memoryMb = 2048;
/** After this time a thread is replaced by a new one, which sees changed extensions and has no old memory. */
const defaultAgeMs = 300_000;

export class PillarPool {
  readonly #options: PillarPoolOptions;
  readonly #most: number;
  readonly #threads = new Set<Thread>();
  readonly #retired = new Set<Thread>();
  readonly #queue: Job[] = [];
  #opts: Uint8Array | undefined;
  #entry: URL | 'none' | undefined;
  #here: Promise<ProcessHost> | undefined;
  #n = 0;
  #closed = false;

  constructor(options: PillarPoolOptions) {
    this.#options = options;
    this.#most = options.workers ?? Math.max(1, Math.min(4, availableParallelism()));
  }

  async compile(request: PillarRequest): Promise<Dict> {
    const pillar = await this.run('compile', request);
    return asDict(pillar) ?? newDict();
  }

  /** The merged top file, or a list of errors. */
  top(request: PillarRequest): Promise<Value> {
    return this.run('top', request);
  }

  explain(request: PillarRequest, key: string, delimiter = ':'): Promise<Value> {
    return this.run('explain', request, newDict(Object.entries({ key, delimiter })));
  }

  /** Lets external sources of a kind fetch; then all threads are replaced, so that they see the result. */
  async update(source: string, wanted: PillarRemote): Promise<Dict> {
    const { branch, repo } = wanted;
    const extra = newDict([['source', source], ...(branch ? [['branch', branch] as [string, Value]] : [])]);
    if (repo) extra['repo'] = repo;
    const found = await this.run('update', { minionId: '', grains: newDict() }, extra);
    for (const thread of [...this.#threads]) this.#retire(thread);
    return asDict(found) ?? newDict();
  }

  run(kind: WorkKind, request: PillarRequest, extra?: PlainDict): Promise<Value> {
    if (this.#closed) return Promise.reject(ended());
    this.#entry ??= this.#options.entry ?? findEntry();
    if (this.#entry === 'none') return this.#runHere(kind, request, extra ?? newDict());
    return new Promise((resolve, reject) => {
      const job: Job = {
        n: ++this.#n,
        kind,
        body: packRequest(request, extra),
        resolve,
        reject,
        timer: undefined,
        lost: 0,
      };
      this.#queue.push(job);
      this.#dispatch();
    });
  }

  /** The number of running threads. */
  get threads(): number {
    return this.#threads.size;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#queue.splice(0)) job.reject(ended());
    const threads = [...this.#threads, ...this.#retired];
    this.#threads.clear();
    this.#retired.clear();
    for (const thread of threads) {
      clearTimeout(thread.idle);
      for (const job of thread.jobs.values()) this.#settle(job, () => job.reject(ended()));
      thread.jobs.clear();
    }
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  /** Without a built worker (tests of the sources) the work is done in this thread. */
  async #runHere(kind: WorkKind, request: PillarRequest, extra: PlainDict): Promise<Value> {
    const { opts, log } = this.#options;
    this.#here ??= import('./process-host.ts').then(({ createProcessHost }) => createProcessHost(opts, log));
    const { doWork } = await import('./work.ts');
    return doWork(kind, (await this.#here).host(), opts, request, extra);
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const thread = this.#pick();
      if (!thread) return;
      this.#assign(thread, this.#queue.shift()!);
    }
  }

  /** The thread with the fewest compilations, or a new one. */
  #pick(): Thread | undefined {
    let best: Thread | undefined;
    for (const thread of this.#threads) {
      if (this.#isOld(thread)) this.#retire(thread);
      else if (!best || thread.jobs.size < best.jobs.size) best = thread;
    }
    if ((!best || best.jobs.size >= busyAt) && this.#threads.size < this.#most) return this.#start();
    return best && best.jobs.size < perThread ? best : undefined;
  }

  #isOld({ since }: Thread): boolean {
    return performance.now() - since > (this.#options.ageMs ?? defaultAgeMs);
  }

  /** It is no longer part of the pool; it finishes its current work. */
  #retire(thread: Thread): void {
    this.#threads.delete(thread);
    clearTimeout(thread.idle);
    if (thread.jobs.size === 0) void thread.worker.terminate();
    else this.#retired.add(thread);
  }

  #assign(thread: Thread, job: Job): void {
    clearTimeout(thread.idle);
    thread.jobs.set(job.n, job);
    job.timer = setTimeout(() => this.#giveUp(thread, job), this.#options.deadlineMs ?? 600_000);
    job.timer.unref();
    thread.worker.postMessage({ t: 'work', n: job.n, kind: job.kind, body: job.body } satisfies ToWorker);
  }

  #start(): Thread {
    this.#opts ??= packValue(newDict(Object.entries(this.#options.opts)));
    const worker = new Worker(this.#entry as URL, {
      workerData: { opts: this.#opts },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    const thread: Thread = { worker, since: performance.now(), jobs: new Map(), idle: undefined };
    worker.on('message', (message: FromWorker) => this.#receive(thread, message));
    worker.on('error', (error) => this.#options.log.error('a pillar worker failed', { error: error.message }));
    worker.on('exit', () => this.#exited(thread));
    worker.unref();
    this.#threads.add(thread);
    return thread;
  }

  #receive(thread: Thread, message: FromWorker): void {
    if (message.t === 'log') {
      this.#options.log[message.level](message.text, message.fields);
      return;
    }
    const job = thread.jobs.get(message.n);
    thread.jobs.delete(message.n);
    if (job) this.#settle(job, () => this.#answer(job, message));
    this.#dispatch();
    if (thread.jobs.size > 0) return;
    if (this.#retired.delete(thread)) void thread.worker.terminate();
    else this.#rest(thread);
  }

  #answer(job: Job, message: Extract<FromWorker, { n: number }>): void {
    if (message.t === 'failed') job.reject(new HaliteError('render.failed', message.message));
    else job.resolve(unpackValue(message.body));
  }

  #settle(job: Job, how: () => void): void {
    clearTimeout(job.timer);
    job.timer = undefined;
    how();
  }

  /** Reports the failure immediately; a thread that does not react is ended, and its other work moves to a new one. */
  #giveUp(thread: Thread, job: Job): void {
    job.reject(new HaliteError('render.failed', 'Compiling the pillar took too long and was cancelled'));
    thread.worker.postMessage({ t: 'abort', n: job.n } satisfies ToWorker);
    const grace = setTimeout(() => {
      if (!thread.jobs.delete(job.n)) return;
      this.#options.log.error('a pillar worker hangs and is ended');
      void thread.worker.terminate();
    }, graceMs);
    grace.unref();
  }

  #rest(thread: Thread): void {
    clearTimeout(thread.idle);
    thread.idle = setTimeout(() => {
      this.#threads.delete(thread);
      void thread.worker.terminate();
    }, this.#options.idleMs ?? 60_000);
    thread.idle.unref();
  }

  /** Its work is tried once more; work that kills two threads fails. */
  #exited(thread: Thread): void {
    this.#threads.delete(thread);
    this.#retired.delete(thread);
    clearTimeout(thread.idle);
    for (const job of thread.jobs.values()) {
      clearTimeout(job.timer);
      job.lost++;
      if (job.lost > 1)
        job.reject(new HaliteError('render.failed', 'The pillar worker ended while compiling this pillar'));
      else this.#queue.unshift(job);
    }
    thread.jobs.clear();
    if (!this.#closed) this.#dispatch();
  }
}

function findEntry(): URL | 'none' {
  try {
    return bundleFile('pillar-worker');
  } catch {
    return 'none';
  }
}

function ended(): HaliteError {
  return new HaliteError('daemon.unreachable', 'The master is ending');
}
