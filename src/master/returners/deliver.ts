// Delivers the records of one spool to its returner, in order: retried until accepted, each counted once.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { dumpJson } from '../../base/codec/json/index.ts';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { ExtensionLog, ReturnerSession } from '../../extend/sdk/index.ts';
import { type SpoolEntry, SpoolReader } from '../../store/spool/reader.ts';
import { type Progress, type SinkRecord, unpackRecord } from './records.ts';

export interface DeliveryOptions {
  readonly returner: string;
  readonly folder: string;
  readonly upTo: number;
  /** event_return_queue: this many together, unless the first has waited this long. */
  readonly gather?: { readonly count: number; readonly ms: number } | undefined;
  readonly log: ExtensionLog;
  open(config?: string, kwargs?: PlainDict): Promise<ReturnerSession>;
  report(progress: Progress): void;
}

const batchRecords = 500;
const batchBytes = 4 * 1024 * 1024;
const applyMs = 120_000;
const [firstPauseMs, longestPauseMs] = [250, 5_000];
/**
 * After so many failures of one record the next one is tried: a record that the database refuses must not block the
 * rest.
 */
const suspectAfter = 3;
const mostSessions = 8;

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #reader: SpoolReader;
  readonly #sessions = new Map<string, Promise<ReturnerSession>>();
  readonly #done: Promise<void>;
  #upTo: number;
  #wake: (() => void) | undefined;
  #stopping = false;
  #delivered = 0;
  #refused = 0;
  #limit = batchRecords;
  #failures = 0;
  #error: string | undefined;
  #since = 0;
  /** Records before this one may already be written: by a master that was killed, or in a failed attempt. */
  #doubtful: number;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#upTo = options.upTo;
    this.#reader = new SpoolReader(options.folder);
    this.#doubtful = Math.min(options.upTo, this.#reader.position + batchRecords);
    this.#done = this.#run();
  }

  /** Records up to here are on disk. */
  appended(upTo: number): void {
    this.#upTo = upTo;
    this.#wake?.();
  }

  /** One last attempt, then the sessions are closed; the rest stays in the spool for the next start. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake?.();
    await this.#done;
    await this.#closeSessions();
    this.#reader.close();
  }

  async #run(): Promise<void> {
    for (;;) {
      const last = this.#stopping;
      const entries = this.#ready(last) ? this.#peek(this.#limit) : [];
      if (entries.length > 0) await this.#attempt(entries);
      if (last && (entries.length === 0 || this.#error !== undefined)) return;
      if (this.#error !== undefined)
        await this.#pause(Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#failures - 1)));
      else if (entries.length === 0) await this.#pause(this.#gatherMs());
    }
  }

  #peek(records: number): SpoolEntry[] {
    return this.#reader.peek({ records, bytes: batchBytes, upTo: this.#upTo });
  }

  #ready(last: boolean): boolean {
    const { gather } = this.#options;
    const waiting = this.#upTo - this.#reader.position;
    if (waiting === 0) this.#since = 0;
    else this.#since ||= Date.now();
    return last || !gather || waiting >= gather.count || (waiting > 0 && Date.now() - this.#since >= gather.ms);
  }

  #gatherMs(): number {
    const { gather } = this.#options;
    return gather && this.#since > 0 ? Math.max(10, this.#since + gather.ms - Date.now()) : 2 ** 30;
  }

  async #attempt(entries: readonly SpoolEntry[]): Promise<void> {
    try {
      await inTime(this.#apply(entries));
      this.#limit = Math.min(batchRecords, this.#limit * 4);
      this.#succeeded(entries.at(-1)!.seq + 1, entries.length);
    } catch (error) {
      this.#doubtful = Math.max(this.#doubtful, entries.at(-1)!.seq + 1);
      this.#failed(error);
      // One by one, so that all acceptable records are stored and the refused one is found.
      this.#limit = 1;
      if (this.#failures >= suspectAfter) await this.#suspect(entries[0]!, error);
    }
  }

  #succeeded(next: number, count: number): void {
    const removed = this.#reader.delivered(next);
    this.#delivered += count;
    this.#failures = 0;
    this.#error = undefined;
    this.#since = 0;
    this.#report(removed);
  }

  #failed(error: unknown): void {
    this.#failures++;
    void this.#closeSessions();
    const text = messageOf(error);
    if (this.#error === text) return;
    this.#error = text;
    this.#report(false);
  }

  #report(removed: boolean): void {
    this.#options.report({
      position: this.#reader.position,
      delivered: this.#delivered,
      refused: this.#refused,
      damaged: this.#reader.damaged,
      ...(this.#error === undefined ? {} : { error: this.#error }),
      removed,
    });
  }

  /** If the next record is accepted, the server works and refuses only this record. */
  async #suspect(entry: SpoolEntry, error: unknown): Promise<void> {
    const next = this.#peek(2)[1];
    if (!next) return;
    try {
      await inTime(this.#apply([next]));
    } catch {
      return;
    }
    const { folder, log, returner } = this.#options;
    const line = dumpJson({ error: messageOf(error), record: unpackRecord(entry.body) as unknown as Value });
    appendFileSync(join(folder, 'refused.jsonl'), `${line}\n`, { mode: 0o600 });
    this.#refused++;
    log.error('the returner refuses a record: it is kept in refused.jsonl', {
      returner,
      folder,
      error: messageOf(error),
    });
    this.#succeeded(next.seq + 1, 1);
  }

  async #apply(entries: readonly SpoolEntry[]): Promise<void> {
    const records = entries.map(({ body, seq }) => ({ ...unpackRecord(body), again: seq < this.#doubtful }));
    await this.#saveLoads(records);
    await this.#saveReturns(records);
    const events = records.filter((record) => record.k === 'event');
    if (events.length === 0) return;
    const session = await this.#session();
    if (!session.saveEvents)
      throw new HaliteError('config.value', `the returner ${this.#options.returner} cannot store events`);
    await session.saveEvents(events.map(({ tag, data, again }) => ({ tag, data, again })));
  }

  /** The order between jobs does not matter; of two forms of one job the last applies. */
  async #saveLoads(records: readonly SinkRecord[]): Promise<void> {
    const loads = new Map(records.flatMap((record) => (record.k === 'load' ? [[record.jid, record] as const] : [])));
    if (loads.size === 0) return;
    const { jobCache } = await this.#session();
    for (const { jid, load, minions } of loads.values()) await jobCache?.saveLoad(jid, load, minions);
  }

  async #saveReturns(records: readonly SinkRecord[]): Promise<void> {
    let batch: PlainDict[] = [];
    let [config, kwargs]: [string | undefined, PlainDict | undefined] = [undefined, undefined];
    const flush = async (): Promise<void> => {
      if (batch.length > 0) await saveAll(await this.#session(config, kwargs), batch);
      batch = [];
    };
    for (const record of records) {
      if (record.k !== 'ret') continue;
      if (keyOf(record.config, record.kwargs) !== keyOf(config, kwargs)) await flush();
      [config, kwargs] = [record.config, record.kwargs];
      batch.push(record.load);
    }
    await flush();
  }

  #session(config?: string, kwargs?: PlainDict): Promise<ReturnerSession> {
    const key = keyOf(config, kwargs);
    let session = this.#sessions.get(key);
    if (!session) {
      if (this.#sessions.size >= mostSessions) void this.#closeSessions();
      session = this.#options.open(config, kwargs);
      session.catch(() => this.#sessions.delete(key));
      this.#sessions.set(key, session);
    }
    return session;
  }

  async #closeSessions(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    const close = async (each: Promise<ReturnerSession>): Promise<void> => (await each).close?.();
    await withTimeout(Promise.allSettled(sessions.map(close)), 2000, () => [], { ref: false });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      // New records end only an idle wait, not the pause after a failure.
      const idle = this.#error === undefined;
      this.#wake = () => {
        if (!idle && !this.#stopping) return;
        clearTimeout(timer);
        resolve();
      };
      if (this.#stopping) this.#wake();
    });
  }
}

const keyOf = (config?: string, kwargs?: PlainDict): string => `${config ?? ''} ${kwargs ? dumpJson(kwargs) : ''}`;

async function saveAll(session: ReturnerSession, loads: readonly PlainDict[]): Promise<void> {
  if (session.saveMany) return session.saveMany(loads);
  for (const load of loads) await session.save(load);
}

/** A driver that never answers is treated like one that failed. */
function inTime(work: Promise<void>): Promise<void> {
  return withTimeout(work, applyMs, () => {
    throw new HaliteError('wire.timeout', `no answer within ${applyMs / 1000} s`);
  });
}
