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
  readonly job: PoolJob;
  resolve(outcome: Outcome): void;
}

interface Idle {
  readonly worker: JobWorker;
  readonly generation: number;
  timer: NodeJS.Timeout;
}

export class JobPool {
  readonly #options: JobPoolOptions;
  readonly #idle: Idle[] = [];
  readonly #active = new Map<string, { worker: JobWorker; job: PoolJob }>();
  readonly #queue: Queued[] = [];
  #generation = 0;
  #stopped = false;

  constructor(options: JobPoolOptions) {
    this.#options = options;
  }

  /** Runs a job; queues it when all processes are busy. Never rejects. */
  run(job: PoolJob): Promise<Outcome> {
    if (this.#stopped) return Promise.resolve(failed('ERROR: The minion is stopping'));
    if (this.#active.size < this.#options.maxProcesses) return this.#start(job);
    job.onQueued?.();
    return new Promise((resolve) => this.#queue.push({ job, resolve }));
  }

  /** Running jobs, with their process. */
  running(): { job: PoolJob; pid: number }[] {
    return [...this.#active.values()].map(({ worker, job }) => ({ job, pid: worker.pid }));
  }

  queuedJobs(): PoolJob[] {
    return this.#queue.map((item) => item.job);
  }

  /** Sends a signal to a job's process tree; undefined when the pool has no such job. A queued job is removed. */
  async signal(
    jid: string,
    number: number,
  ): Promise<{ pid: number; gone: boolean; left: readonly number[] } | undefined> {
    const found = this.#active.get(jid);
    if (found) return { pid: found.worker.pid, ...(await found.worker.signal(number)) };
    const waiting = this.#queue.findIndex((item) => item.job.jid === jid);
    if (waiting < 0) return undefined;
    const [item] = this.#queue.splice(waiting, 1);
    item!.resolve(failed(`ERROR: The job was removed from the queue by signal ${number}`, 128 + number));
    return { pid: 0, gone: true, left: [] };
  }

  /** Extensions changed: processes with the old ones are not reused. */
  recycle(): void {
    this.#generation++;
    for (const item of this.#idle.splice(0)) this.#dismiss(item);
  }

  /** Stops accepting jobs. `leave` lets running ones finish by themselves; `end` kills them. */
  async stop(jobs: 'leave' | 'end'): Promise<void> {
    this.#stopped = true;
    for (const item of this.#idle.splice(0)) this.#dismiss(item);
    for (const item of this.#queue.splice(0)) item.resolve(notStarted());
    const workers = [...this.#active.values()].map((item) => item.worker);
    if (jobs === 'end') await Promise.all(workers.map((worker) => worker.signal(constants.signals.SIGKILL)));
    else for (const worker of workers) worker.release();
  }

  async #start(job: PoolJob): Promise<Outcome> {
    const { worker, generation } = this.#take();
    this.#active.set(job.jid, { worker, job });
    const outcome = await worker.run({ ...job.assignment, onBegun: () => job.onStarted?.(worker.pid) });
    if (this.#active.get(job.jid)?.worker === worker) this.#active.delete(job.jid);
    this.#keep(worker, generation);
    this.#next();
    return outcome;
  }

  #take(): { worker: JobWorker; generation: number } {
    for (let item = this.#idle.pop(); item; item = this.#idle.pop()) {
      clearTimeout(item.timer);
      if (item.worker.alive) return item;
    }
    return { worker: new JobWorker(this.#options), generation: this.#generation };
  }

  #keep(worker: JobWorker, generation: number): void {
    if (!worker.alive) return;
    if (this.#stopped || generation !== this.#generation) {
      worker.end();
      return;
    }
    const item: Idle = { worker, generation, timer: setTimeout(() => this.#retire(item), this.#options.idleMs) };
    item.timer.unref();
    worker.onExit = () => this.#forget(item);
    this.#idle.push(item);
  }

  #retire(item: Idle): void {
    this.#forget(item);
    item.worker.end();
  }

  #forget(item: Idle): void {
    clearTimeout(item.timer);
    const at = this.#idle.indexOf(item);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  #dismiss(item: Idle): void {
    clearTimeout(item.timer);
    item.worker.end();
  }

  #next(): void {
    if (this.#active.size >= this.#options.maxProcesses) return;
    const item = this.#queue.shift();
    if (item) void this.#start(item.job).then(item.resolve);
  }
}
