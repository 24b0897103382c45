// The two worker threads of the SQLite store, as promises: a writer that lives, a reader that ends when idle.
import { Worker } from 'node:worker_threads';
import { HaliteError } from '../../base/errors/index.ts';
import { bundleFile } from '../../base/util/bundle-file.ts';
import type { SqlValue } from './driver.ts';
import type { ReadAnswer } from './reader.ts';
import type { WriteAnswer, WriteRequest } from './writer.ts';

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

export class Writer {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting<string | number>>();
  #seq = 0;
  #broken: HaliteError | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  static open(file: string): Promise<Writer> {
    const worker = new Worker(bundleFile('store-writer'), { workerData: { file } });
    const writer = new Writer(worker);
    return new Promise((resolve, reject) => {
      worker.on('error', (error) => {
        writer.#fail(new HaliteError('store.unavailable', `job store ${file}: ${error.message}`, { cause: error }));
        reject(error);
      });
      worker.on('message', (message: 'ready' | 'closed' | WriteAnswer | WriteAnswer[]) => {
        if (message === 'ready') resolve(writer);
        else if (Array.isArray(message)) for (const answer of message) writer.#settle(answer);
        else if (message !== 'closed') reject(storeError(file, message.error ?? 'cannot be opened'));
      });
    });
  }

  write(kind: WriteRequest['kind'], data: Uint8Array): Promise<string | number> {
    if (this.#broken) return Promise.reject(this.#broken);
    const seq = this.#seq++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(seq, { resolve, reject });
      this.#worker.postMessage({ seq, kind, data } satisfies WriteRequest);
    });
  }

  /** Writes not yet acknowledged. */
  get pending(): number {
    return this.#waiting.size;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#worker.postMessage('close');
    await ended;
    this.#fail(new HaliteError('store.unavailable', 'the job store was closed'));
  }

  #settle(answer: WriteAnswer): void {
    const waiting = this.#waiting.get(answer.seq);
    this.#waiting.delete(answer.seq);
    if (answer.error === undefined) waiting?.resolve(answer.result ?? '');
    else waiting?.reject(new HaliteError('store.unavailable', `job store: ${answer.error}`));
  }

  #fail(error: HaliteError): void {
    this.#broken = error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}

function storeError(file: string, text: string): HaliteError {
  return new HaliteError('store.unavailable', `job store ${file}: ${text}`, {
    hint: 'Check free space and permissions; if the file is damaged, move it away and restart the master.',
  });
}

const readerIdleMs = 30_000;

export class Reader {
  readonly #file: string;
  readonly #waiting = new Map<number, Waiting<Record<string, SqlValue>[]>>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #seq = 0;

  constructor(file: string) {
    this.#file = file;
  }

  all(sql: string, ...values: SqlValue[]): Promise<Record<string, SqlValue>[]> {
    const worker = this.#start();
    const seq = this.#seq++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(seq, { resolve, reject });
      worker.postMessage({ seq, sql, values });
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  #start(): Worker {
    clearTimeout(this.#idle);
    if (this.#worker) return this.#worker;
    const worker = new Worker(bundleFile('store-reader'), { workerData: { file: this.#file } });
    worker.on('message', (answer: ReadAnswer) => {
      const waiting = this.#waiting.get(answer.seq);
      this.#waiting.delete(answer.seq);
      if (answer.rows) waiting?.resolve(answer.rows);
      else waiting?.reject(new HaliteError('store.unavailable', `job store: ${answer.error}`));
      if (this.#waiting.size === 0) this.#rest();
    });
    worker.on('error', (error) => {
      this.#worker = undefined;
      for (const waiting of this.#waiting.values()) waiting.reject(storeError(this.#file, error.message));
      this.#waiting.clear();
    });
    this.#worker = worker;
    return worker;
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      void this.#worker?.terminate();
      this.#worker = undefined;
    }, readerIdleMs);
    this.#idle.unref();
  }
}
