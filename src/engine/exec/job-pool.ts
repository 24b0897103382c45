// Assigns jobs to processes: one job per process at a time, many in parallel; idle ones are kept for a moment for
// reuse.
import { constants } from 'node:os';

import type { ExtensionLog } from '../../extend/sdk/index.ts';
import { type Assignment, JobWorker, notStarted } from './job-worker.ts';
import { failed, type Outcome } from './outcome.ts';

export interface JobPoolOptions {
  readonly entry: string;
  readonly log: ExtensionLog;
  readonly maxProcesses: number;
  readonly idleMs: number;
}

/** A job in the pool, from being queued to its end. */
export interface PoolJob {
  readonly jid: string;
  readonly assignment: Assignment;
  readonly onStarted?: (pid: number) => void;
  readonly onQueued?: () => void;
}

interface Queued {
  readonly pool: JobPool;
  readonly job: PoolJob;
  resolve(outcome: Outcome): void;
}

interface Idle {
  readonly worker: JobWorker;
  readonly generation: number;
  timer: NodeJS.Timeout;
}

/** The processes, which the pools of several minions in one daemon may share. */
class Processes {
  readonly idle: Idle[] = [];
  /** By minion and job. */
  readonly active = new Map<string, Active>();
  readonly queue: Queued[] = [];
  generation = 0;
}

interface Active {
  readonly owner: string;
  readonly worker: JobWorker;
  readonly job: PoolJob;
}

export class JobPool {
  readonly #options: JobPoolOptions;
  readonly #owner: string;
  readonly #shared: Processes;
  #stopped = false;

  constructor(options: JobPoolOptions, owner = '', shared = new Processes()) {
    this.#options = options;
    this.#owner = owner;
    this.#shared = shared;
  }

  /** A pool for another minion of the same daemon: with the same processes and their limit. */
  share(owner: string): JobPool {
    return new JobPool(this.#options, owner, this.#shared);
  }

  /** Runs a job; queues it when all processes are busy. Never rejects. */
  run(job: PoolJob): Promise<Outcome> {
    if (this.#stopped) return Promise.resolve(failed('ERROR: The minion is stopping'));
    if (this.#shared.active.size < this.#options.maxProcesses) return this.#start(job);
    job.onQueued?.();
    return new Promise((resolve) => this.#shared.queue.push({ pool: this, job, resolve }));
  }

  /** Running jobs, with their process. */
  running(): { job: PoolJob; pid: number }[] {
    return this.#own().map(({ worker, job }) => ({ job, pid: worker.pid }));
  }

  queuedJobs(): PoolJob[] {
    return this.#shared.queue.filter(({ pool }) => pool === this).map((item) => item.job);
  }

  /** Sends a signal to a job's process tree; undefined when the pool has no such job. A queued job is removed. */
  async signal(
    jid: string,
    number: number,
  ): Promise<{ pid: number; gone: boolean; left: readonly number[] } | undefined> {
    const found = this.#shared.active.get(this.#key(jid));
    if (found) return { pid: found.worker.pid, ...(await found.worker.signal(number)) };
    const { queue } = this.#shared;
    const waiting = queue.findIndex(({ pool, job }) => pool === this && job.jid === jid);
    if (waiting < 0) return undefined;
    const [item] = queue.splice(waiting, 1);
    item!.resolve(failed(`ERROR: The job was removed from the queue by signal ${number}`, 128 + number));
    return { pid: 0, gone: true, left: [] };
  }

  /** Extensions changed: processes with the old ones are not reused. */
  recycle(): void {
    this.#shared.generation++;
    for (const item of this.#shared.idle.splice(0)) this.#dismiss(item);
  }

  /** Stops accepting jobs. `leave` lets running ones finish by themselves; `end` kills them. */
  async stop(jobs: 'leave' | 'end'): Promise<void> {
    this.#stopped = true;
    const { idle, queue } = this.#shared;
    // Those of a shared pool end when nobody uses them.
    if (this.#owner === '') for (const item of idle.splice(0)) this.#dismiss(item);
    for (const item of queue.filter(({ pool }) => pool === this)) {
      queue.splice(queue.indexOf(item), 1);
      item.resolve(notStarted());
    }
    const workers = this.#own().map((item) => item.worker);
    if (jobs === 'end') await Promise.all(workers.map((worker) => worker.signal(constants.signals.SIGKILL)));
    else for (const worker of workers) worker.release();
  }

  #key(jid: string): string {
    return `${this.#owner} ${jid}`;
  }

  #own(): Active[] {
    return [...this.#shared.active.values()].filter(({ owner }) => owner === this.#owner);
  }

  async #start(job: PoolJob): Promise<Outcome> {
    const { worker, generation } = this.#take();
    const key = this.#key(job.jid);
    this.#shared.active.set(key, { owner: this.#owner, worker, job });
    const outcome = await worker.run({ ...job.assignment, onBegun: () => job.onStarted?.(worker.pid) });
    if (this.#shared.active.get(key)?.worker === worker) this.#shared.active.delete(key);
    this.#keep(worker, generation);
    this.#next();
    return outcome;
  }

  #take(): { worker: JobWorker; generation: number } {
    const { idle, generation } = this.#shared;
    for (let item = idle.pop(); item; item = idle.pop()) {
      clearTimeout(item.timer);
      if (item.worker.alive) return item;
    }
    return { worker: new JobWorker(this.#options), generation };
  }

  #keep(worker: JobWorker, generation: number): void {
    if (!worker.alive) return;
    if (this.#stopped || generation !== this.#shared.generation) {
      worker.end();
      return;
    }
    const item: Idle = { worker, generation, timer: setTimeout(() => this.#retire(item), this.#options.idleMs) };
    item.timer.unref();
    worker.onExit = () => this.#forget(item);
    this.#shared.idle.push(item);
  }

  #retire(item: Idle): void {
    this.#forget(item);
    item.worker.end();
  }

  #forget(item: Idle): void {
    clearTimeout(item.timer);
    const { idle } = this.#shared;
    const at = idle.indexOf(item);
    if (at >= 0) idle.splice(at, 1);
  }

  #dismiss(item: Idle): void {
    clearTimeout(item.timer);
    item.worker.end();
  }

  #next(): void {
    if (this.#shared.active.size >= this.#options.maxProcesses) return;
    const item = this.#shared.queue.shift();
    if (item) void item.pool.#start(item.job).then(item.resolve);
  }
}
