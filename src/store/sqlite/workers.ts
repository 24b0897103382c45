// The two worker threads of the SQLite store as promises: a permanent writer, and a reader that ends when idle.
import { Worker } from 'node:worker_threads';
import type { Dict } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { bundleFile } from '../../base/util/bundle-file.ts';
import type { StoreLoad } from '../jobs.ts';
import type { CleanRequest } from './clean.ts';
import type { SqlValue } from './driver.ts';
import { readPairs } from './pairs.ts';
import type { ReadAnswer, ReadRequest } from './reader.ts';
import type { WriteKind } from './statements.ts';
import type { FromWriter, ToWriter, WriteAnswer, WriterSettings } from './writer.ts';

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Reports of the writer. */
export interface WriterHooks {
  /** A text while nothing can be written; undefined when writing works again. */
  trouble(text: string | undefined): void;
  /** The file was damaged and is renamed (no name when it was lost); a new one is in use. */
  moved(aside: string, why: string): void;
}

const longBytes = 1024 * 1024;
/** After a batch of this size the next one is gathered for so long. */
const [busyBatch, gatherMs] = [8, 1];

export class Writer {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting<string | number>>();
  #seq = 0;
  #batch: { seqs: number[]; kinds: WriteKind[]; datas: Uint8Array[] } | undefined;
  /** Writes that the thread has not answered yet: further ones are collected and sent as one message after them. */
  #underWay = 0;
  /** Of the batch before. */
  #lastSize = 0;
  #broken: HaliteError | undefined;
  #written = 0;
  /** The last answer, or the first write that waits, in milliseconds. */
  #movedAt = 0;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  load(): StoreLoad {
    const waiting = this.#waiting.size;
    return { written: this.#written, waiting, stalledMs: waiting === 0 ? 0 : Date.now() - this.#movedAt };
  }

  static open(file: string, settings: Omit<WriterSettings, 'file'>, hooks: WriterHooks): Promise<Writer> {
    const worker = new Worker(bundleFile('store-writer'), { workerData: { file, ...settings } });
    const writer = new Writer(worker);
    return new Promise((resolve, reject) => {
      worker.on('error', (error) => {
        const text = `the thread that writes has failed: ${messageOf(error)}`;
        writer.#fail(new HaliteError('store.unavailable', `job store ${file}: ${text}`, { cause: error }));
        hooks.trouble(text);
        reject(error);
      });
      worker.on('message', (message: FromWriter) => {
        if (message === 'ready') resolve(writer);
        else if (message === 'closed') return;
        else if ('stored' in message) writer.#settleStored(message.stored);
        else if (Array.isArray(message)) writer.#settleAll(message);
        else if ('trouble' in message) hooks.trouble(message.trouble ?? undefined);
        else if ('moved' in message) hooks.moved(message.moved, message.why);
        else reject(storeError(file, message.error ?? 'cannot be opened'));
      });
    });
  }

  write(kind: WriteKind, data: Uint8Array): Promise<string | number> {
    return this.#ask((seq) => {
      if (!this.#batch) {
        this.#batch = { seqs: [], kinds: [], datas: [] };
        if (this.#underWay === 0) this.#sendSoon();
      }
      this.#batch.seqs.push(seq);
      this.#batch.kinds.push(kind);
      this.#batch.datas.push(data);
    });
  }

  clean(request: CleanRequest): Promise<string | number> {
    return this.#ask((seq) => this.#post({ seq, clean: request }));
  }

  /** All collected writes in one message, whose bytes are transferred instead of being copied. */
  #sendBatch(): void {
    if (!this.#batch) return;
    const { seqs, kinds, datas } = this.#batch;
    this.#batch = undefined;
    this.#lastSize = seqs.length;
    this.#underWay += seqs.length;
    const [only] = datas;
    // A long one has its own memory (see pack) and can be transferred directly.
    if (only && datas.length === 1 && only.byteLength > longBytes) {
      const message = { seqs, kinds, ends: [only.byteLength], bytes: only } satisfies ToWriter;
      this.#worker.postMessage(message, [only.buffer as ArrayBuffer]);
      return;
    }
    let total = 0;
    for (const data of datas) total += data.byteLength;
    const bytes = new Uint8Array(total);
    const ends: number[] = [];
    let end = 0;
    for (const data of datas) {
      bytes.set(data, end);
      end += data.byteLength;
      ends.push(end);
    }
    this.#worker.postMessage({ seqs, kinds, ends, bytes } satisfies ToWriter, [bytes.buffer]);
  }

  /** A reader found damage. */
  check(): void {
    this.#post('check');
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.#sendBatch();
    this.#post('close');
    await ended;
    this.#fail(new HaliteError('store.unavailable', 'the job store was closed'));
  }

  #post(message: ToWriter): void {
    this.#worker.postMessage(message);
  }

  #ask(send: (seq: number) => void): Promise<string | number> {
    if (this.#broken) return Promise.reject(this.#broken);
    const seq = this.#seq++;
    if (this.#waiting.size === 0) this.#movedAt = Date.now();
    return new Promise((resolve, reject) => {
      this.#waiting.set(seq, { resolve, reject });
      send(seq);
    });
  }

  #settleAll(answers: readonly WriteAnswer[]): void {
    this.#movedAt = Date.now();
    for (const answer of answers) this.#settle(answer);
    this.#answered(answers.length);
  }

  /** The usual outcome of a whole transaction, as plain numbers: objects would be copied one by one. */
  #settleStored(seqs: Float64Array): void {
    this.#movedAt = Date.now();
    for (const seq of seqs) {
      const waiting = this.#waiting.get(seq);
      this.#waiting.delete(seq);
      this.#written++;
      waiting?.resolve('stored');
    }
    this.#answered(seqs.length);
  }

  #answered(count: number): void {
    this.#underWay = Math.max(0, this.#underWay - count);
    if (this.#underWay === 0 && this.#batch) this.#sendSoon();
  }

  /** While many come, a moment later: a transaction costs nearly as much for a few writes as for many. */
  #sendSoon(): void {
    if (this.#lastSize < busyBatch) setImmediate(() => this.#sendBatch());
    else setTimeout(() => this.#sendBatch(), gatherMs);
  }

  #settle(answer: WriteAnswer): void {
    const waiting = this.#waiting.get(answer.seq);
    this.#waiting.delete(answer.seq);
    if (answer.error === undefined) {
      this.#written++;
      waiting?.resolve(answer.result ?? '');
    } else waiting?.reject(new HaliteError('store.unavailable', `job store: ${answer.error}`));
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

/**
 * The thread ends after this time without queries. Users who look up jobs usually do so again, and should not wait for
 * its start (50 ms, on a busy machine ten times that); it needs 9 MB.
 */
const [readerIdleMs, lookedIdleMs] = [30_000, 86_400_000];

const longestQueryMs = 60_000;

export class Reader {
  readonly #file: string;
  readonly #damaged: () => void;
  readonly #queryMs: number;
  /** In the order in which the thread answers. */
  readonly #waiting = new Map<number, Waiting<unknown[]> & { readonly request: ReadRequest }>();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #seq = 0;
  #idleMs = readerIdleMs;

  constructor(file: string, damaged: () => void, queryMs = longestQueryMs) {
    this.#file = file;
    this.#damaged = damaged;
    this.#queryMs = queryMs;
  }

  /** The file was replaced. */
  reopen(): void {
    const old = this.#worker;
    this.#worker = undefined;
    for (const waiting of this.#waiting.values()) waiting.reject(storeError(this.#file, 'it was damaged and replaced'));
    this.#waiting.clear();
    void old?.terminate();
  }

  async all(sql: string, ...values: SqlValue[]): Promise<Record<string, SqlValue>[]> {
    return (await this.#ask({ sql, values })) as Record<string, SqlValue>[];
  }

  /** A query of a user: it must not block others without limit, nor fill the memory. */
  async query(sql: string, ...values: SqlValue[]): Promise<Record<string, SqlValue>[]> {
    const seq = this.#seq;
    const timer = setTimeout(() => this.#tooLong(seq), this.#queryMs);
    const rows = await this.#ask({ sql, values, bounded: true }).finally(() => clearTimeout(timer));
    return rows as Record<string, SqlValue>[];
  }

  /** Many rows with the columns `name` and `data` (JSON). */
  async pairs(sql: string, ...values: SqlValue[]): Promise<[string, Dict][]> {
    return readPairs((await this.#ask({ sql, values, joined: true })) as string[]);
  }

  /** One row with a large blob. */
  async one(sql: string, ...values: SqlValue[]): Promise<Record<string, SqlValue> | undefined> {
    this.#idleMs = lookedIdleMs;
    return ((await this.#ask({ sql, values, moved: true })) as Record<string, SqlValue>[])[0];
  }

  #ask(request: Omit<ReadRequest, 'seq'>): Promise<unknown[]> {
    const worker = this.#start();
    const seq = this.#seq++;
    return new Promise((resolve, reject) => {
      const asked = { seq, ...request };
      this.#waiting.set(seq, { resolve, reject, request: asked });
      worker.postMessage(asked);
    });
  }

  /** SQLite cannot be interrupted from here: the thread is ended, and the next one answers the other queries. */
  #tooLong(seq: number): void {
    const late = this.#waiting.get(seq);
    const [first] = this.#waiting.keys();
    this.#waiting.delete(seq);
    const text = `job store: no answer to the query within ${this.#queryMs / 1000} s`;
    late?.reject(new HaliteError('store.unavailable', text));
    if (!late || first !== seq) return;
    void this.#worker?.terminate();
    this.#worker = undefined;
    if (this.#waiting.size === 0) return;
    const worker = this.#start();
    for (const { request } of this.#waiting.values()) worker.postMessage(request);
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
      if (answer.damaged) this.#damaged();
      if (this.#waiting.size === 0) this.#rest();
    });
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const waiting of this.#waiting.values()) waiting.reject(storeError(this.#file, messageOf(error)));
      this.#waiting.clear();
      // The writer checks whether the file still exists.
      this.#damaged();
    });
    this.#worker = worker;
    return worker;
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      void this.#worker?.terminate();
      this.#worker = undefined;
      this.#idleMs = readerIdleMs;
    }, this.#idleMs);
    this.#idle.unref();
  }
}
