// Worker thread that owns the only writing connection: it collects writes and commits them in one transaction.
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors/index.ts';
import { collectWhenIdle } from '../../base/util/small-heap.ts';
import { type CleanRequest, cleanStep, trimEvents } from './clean.ts';
import { moveAside, salvage, troubleOf } from './damage.ts';
import { type Database, openDatabase, type StoreSync } from './driver.ts';
import { addColumns, schema, schemaVersion, views } from './schema.ts';
import { fillHeads, prepareWrites, type Write, type WriteKind } from './statements.ts';
import { Tally } from './tally.ts';
import { WriteQueue, type WriteRequest } from './write-queue.ts';

export interface WriterSettings {
  readonly file: string;
  readonly masterId: string;
  readonly keepEvents: number;
  /** Of a member of a cluster: its rows are counted, to be compared with those of the others. */
  readonly shared: boolean;
  readonly sync: StoreSync;
}

/** One write; `data` is msgpack, so that encoding as JSON happens in this thread. */
export interface CleanMessage {
  readonly seq: number;
  readonly clean: CleanRequest;
}
export interface WriteAnswer {
  readonly seq: number;
  readonly result?: string | number;
  readonly error?: string;
  /** Not on disk yet, but kept in memory and retried: the caller need not wait for it. */
  readonly held?: boolean;
}
/** Reported when writes begin to fail (null when they work again), and when a damaged (or lost) file was replaced. */
export type WriterNews = { readonly trouble: string | null } | { readonly moved: string; readonly why: string };
/** Writes of one transaction that are all stored, and have no other result. */
export interface StoredAnswer {
  readonly stored: Float64Array;
}
export type FromWriter = 'ready' | 'closed' | StoredAnswer | WriteAnswer[] | WriteAnswer | WriterNews;
/** Many writes at once: the end offset of each one's bytes. */
export interface WriteBatch {
  readonly seqs: readonly number[];
  readonly kinds: readonly WriteKind[];
  readonly ends: readonly number[];
  readonly bytes: Uint8Array;
}
export type ToWriter = WriteBatch | CleanMessage | 'check' | 'close';

const given = parentPort;
if (!given) throw new Error('the store writer is a worker thread');
const port = given;
const send = (message: FromWriter): void => port.postMessage(message);
const { file, masterId, keepEvents, shared, sync } = workerData as WriterSettings;

const retryMs = 500;
const largestBatch = 2000;
/** Number of batches with events after which surplus events are removed; the rest of the cleaning is periodic. */
const trimEvery = 50;
/** Maximum size in memory while the disk accepts nothing. */
const mostWaitingBytes = 128 * 1024 * 1024;
const tidyBytes = 1024 * 1024;

const queue = new WriteQueue();
let scheduled = false;
let trouble: string | undefined;
let eventBatches = 0;
/** Between a damaged file and its replacement no database is open; writes are queued. */
let isOpen = false;
/** Renamed but not reported yet: no new file could be created. */
let taken: { readonly aside: string; readonly why: string } | undefined;
let db: Database;
let write: Write;
let tally: Tally | undefined;

async function openStore(): Promise<void> {
  const opened = await openDatabase(file, { sync });
  try {
    const current = Number(opened.prepare('PRAGMA user_version').get()?.['user_version']) === schemaVersion;
    if (!current) opened.exec('DROP TABLE IF EXISTS head');
    opened.exec(schema);
    if (!current) {
      opened.exec('BEGIN IMMEDIATE');
      addColumns(opened);
      fillHeads(opened);
      opened.exec(views);
      opened.exec('COMMIT');
    }
    opened.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('master_id', ?)").run(masterId);
    if (!shared) Tally.forget(opened);
    tally = shared ? new Tally(opened) : undefined;
    write = prepareWrites(opened);
    db = opened;
    isOpen = true;
  } catch (error) {
    opened.close();
    throw error;
  }
}

/** A damaged file is renamed, never deleted: its content may be needed, and can often be read with `.recover`. */
function takeAway(why: unknown): void {
  if (isOpen) {
    isOpen = false;
    db.close();
  }
  taken = { aside: moveAside(file), why: messageOf(why) };
}

async function openOrReplace(): Promise<void> {
  try {
    await openStore();
  } catch (error) {
    if (troubleOf(error) !== 'damaged') throw error;
    takeAway(error);
    await openStore();
  }
  if (!taken) return;
  const { aside, why } = taken;
  taken = undefined;
  try {
    const old = await openDatabase(aside, { readonly: true });
    salvage(old, db);
    old.close();
  } catch {
    // Nothing in it is readable.
  }
  send({ moved: aside, why });
}

function schedule(delayMs = 0): void {
  if (scheduled) return;
  scheduled = true;
  if (delayMs > 0) setTimeout(flush, delayMs);
  else setImmediate(flush);
}

function flush(): void {
  scheduled = false;
  if (!isOpen) {
    replace(openOrReplace);
    return;
  }
  if (queue.length === 0) {
    if (trouble !== undefined) probe();
    else count();
    return;
  }
  const batch = queue.take(largestBatch);
  try {
    db.exec('BEGIN IMMEDIATE');
    const results = batch.map(({ kind, data }) => write(kind, data));
    if (batch.some(({ kind }) => kind === 'events') && ++eventBatches % trimEvery === 0) trimEvents(db, keepEvents);
    commit();
    say(undefined);
    answer(batch, results);
    // An idle thread would keep the memory that a long result used.
    if (batch.some(({ data }) => data.byteLength > tidyBytes)) collectWhenIdle();
  } catch (error) {
    rollBack();
    failed(batch, error);
    return;
  }
  if (queue.length > 0 || tally?.isComplete === false) schedule();
}

function answer(batch: readonly WriteRequest[], results: readonly string[]): void {
  if (results.every((result) => result === 'stored')) {
    const stored = Float64Array.from(batch, ({ seq }) => seq);
    port.postMessage({ stored } satisfies FromWriter, [stored.buffer]);
  } else send(batch.map(({ seq }, at) => ({ seq, result: results[at]! })));
}

function commit(): void {
  tally?.write();
  db.exec('COMMIT');
  tally?.done(true);
}

/** While nothing else is to be written: counts rows that were here before. */
function count(): void {
  if (!tally || tally.isComplete) return;
  try {
    db.exec('BEGIN IMMEDIATE');
    tally.step();
    commit();
    if (!tally.isComplete) schedule();
  } catch (error) {
    rollBack();
    failed([], error);
  }
}

/** Nothing is queued, so no write would show that the disk works again. */
function probe(): void {
  try {
    db.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('probe', '')");
    say(undefined);
  } catch {
    schedule(retryMs);
  }
}

function rollBack(): void {
  tally?.done(false);
  try {
    db.exec('ROLLBACK');
  } catch {
    // No transaction is open: BEGIN itself failed, or SQLite has ended it.
  }
}

function failed(batch: WriteRequest[], error: unknown): void {
  const kind = troubleOf(error);
  if (kind === 'refused') {
    singly(batch);
    return;
  }
  if (kind === 'wait') {
    say(messageOf(error));
    hold(batch);
    schedule(retryMs);
    return;
  }
  queue.putBack(batch);
  replace(async () => {
    takeAway(error);
    await openOrReplace();
  });
}

/** Nothing is written until the new file exists; if it cannot be created now, that is retried. */
function replace(work: () => Promise<void>): void {
  scheduled = true;
  work()
    .catch((error: unknown) => {
      say(messageOf(error));
      hold([]);
    })
    .finally(() => {
      scheduled = false;
      schedule(isOpen ? 0 : retryMs);
    });
}

/** One of them is invalid: each is written separately, so that only this one fails. */
function singly(batch: readonly WriteRequest[]): void {
  const answers = batch.map(({ seq, kind, data }): WriteAnswer => {
    try {
      db.exec('BEGIN IMMEDIATE');
      const result = write(kind, data);
      commit();
      return { seq, result };
    } catch (error) {
      rollBack();
      return { seq, error: messageOf(error) };
    }
  });
  send(answers);
  if (queue.length > 0) schedule();
}

/**
 * The disk accepts nothing now. Results, also in frames of other masters, stay queued, and their callers wait for the
 * acknowledgement; a request to keep a job for later is refused; the rest is written later, and no caller waits for it.
 * Events are dropped.
 */
function hold(batch: readonly WriteRequest[]): void {
  const all = [...batch, ...queue.empty()];
  const answers = all.flatMap(early);
  const refused = new Set(answers.filter((answer) => answer.error !== undefined).map((answer) => answer.seq));
  queue.putBack(all.filter((request) => !refused.has(request.seq)));
  send(answers);
}

function early({ seq, kind }: WriteRequest): WriteAnswer[] {
  if (kind === 'return' || kind === 'frame' || kind === 'repair') return [];
  if (kind === 'pending' || kind === 'events') return [{ seq, error: trouble ?? 'not now' }];
  return [{ seq, result: 'held', held: true }];
}

function say(text: string | undefined): void {
  if (text === trouble) return;
  trouble = text;
  send({ trouble: text ?? null });
}

function take(request: WriteRequest): void {
  if (trouble !== undefined) {
    const answers = early(request);
    if (answers.length > 0) send(answers);
    if (answers.some((answer) => answer.error !== undefined)) return;
    if (queue.bytes > mostWaitingBytes) {
      send([{ seq: request.seq, error: trouble }]);
      return;
    }
  }
  queue.push(request);
  schedule();
}

function takeAll({ seqs, kinds, ends, bytes }: WriteBatch): void {
  for (const [at, seq] of seqs.entries()) {
    take({ seq, kind: kinds[at]!, data: bytes.subarray(ends[at - 1] ?? 0, ends[at]) });
  }
}

/** The file was removed (`rm -r` of the cache): its content is still open here, and is written to a new file. */
function writeAgain(): void {
  const fresh = `${file}.new`;
  replace(async () => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(fresh, '', { mode: 0o600 });
    db.exec(`VACUUM INTO '${fresh.replaceAll("'", "''")}'`);
    isOpen = false;
    db.close();
    for (const side of ['-wal', '-shm']) rmSync(file + side, { force: true });
    renameSync(fresh, file);
    await openStore();
    send({ moved: '', why: 'the file was removed' });
  });
}

/** Between two steps queued writes are written. */
function clean({ seq, clean: request }: CleanMessage): void {
  if (isOpen && !existsSync(file)) writeAgain();
  let jobs = 0;
  const step = (): void => {
    try {
      if (queue.length > 0 && trouble === undefined) flush();
      if (!isOpen) throw new Error(trouble ?? 'the file is being replaced');
      db.exec('BEGIN IMMEDIATE');
      const result = cleanStep(db, request);
      commit();
      jobs += result.jobs;
      if (result.done) send([{ seq, result: jobs }]);
      else setImmediate(step);
    } catch (error) {
      rollBack();
      send([{ seq, error: messageOf(error) }]);
    }
  };
  step();
}

/** A reader found damage: check everything, and replace the file if it is damaged. */
function check(): void {
  if (!isOpen) return;
  if (!existsSync(file)) {
    writeAgain();
    return;
  }
  let problem = '';
  try {
    const row = db.prepare('PRAGMA quick_check(1)').get();
    problem = String(row?.['quick_check'] ?? 'ok');
  } catch (error) {
    if (troubleOf(error) === 'damaged') problem = messageOf(error);
  }
  if (problem !== 'ok' && problem !== '') failed([], Object.assign(new Error(problem), { code: 'SQLITE_CORRUPT' }));
}

function close(): void {
  trouble = undefined;
  while (isOpen && queue.length > 0 && trouble === undefined) flush();
  send(queue.empty().map(({ seq }) => ({ seq, error: trouble ?? 'closed' })));
  if (isOpen) db.close();
  send('closed');
  port.close();
}

async function start(): Promise<void> {
  await openOrReplace();
  port.on('message', (message: ToWriter) => {
    if (message === 'close') close();
    else if (message === 'check') check();
    else if ('clean' in message) clean(message);
    else takeAll(message);
  });
  send('ready');
  schedule();
}

start().catch((error: unknown) => {
  send({ seq: -1, error: messageOf(error) });
  port.close();
});
