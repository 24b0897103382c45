// Removes old jobs in small steps, so that writes never wait long for the cleaning.
import { jidOf } from '../../base/util/jid.ts';
import type { Database } from './driver.ts';
import { removedKey } from './tally.ts';

export interface CleanRequest {
  readonly keepSeconds: number;
  readonly maxBytes: number;
  readonly keepEvents: number;
}

/** Rows removed at once. */
const stepRows = 500;
/** Space returned to the file system in one step. */
const stepPages = 500;
const eventBytes = 64 * 1024 * 1024;

/** One step of the cleaning; `done` when nothing is left to do. */
export interface Step {
  readonly jobs: number;
  readonly done: boolean;
}

/** Of the audit; the oldest are removed. */
const mostAudited = 1_000_000;

function trimAudit(db: Database): void {
  const { last } = db.prepare('SELECT max(number) AS last FROM audit').get() ?? {};
  if (typeof last === 'number' && last > mostAudited)
    db.prepare(
      'DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE number <= ? ORDER BY number LIMIT ?)',
    ).run(last - mostAudited, stepRows);
}

function usedBytes(db: Database): number {
  const value = (name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  return (value('page_count') - value('freelist_count')) * value('page_size');
}

/** Time limit of one step, because writes wait for it. */
const stepMs = 10;

/** As much as fits into the time of one step. */
export function cleanStep(db: Database, request: CleanRequest): Step {
  let jobs = 0;
  for (const end = performance.now() + stepMs; performance.now() < end; ) {
    const result = cleanOne(db, request);
    jobs += result.jobs;
    if (result.done) return { jobs, done: true };
  }
  return { jobs, done: false };
}

/** Whole jobs, oldest first: those past their age, then while the data exceeds its size; then events and free pages. */
function cleanOne(db: Database, request: CleanRequest): Step {
  const before = request.keepSeconds > 0 ? Date.now() - request.keepSeconds * 1000 : 0;
  const aged = before > 0 ? (agedJob(db, before) ?? orphan(db, before)) : undefined;
  if (aged !== undefined) return removeOf(db, aged);
  if (request.maxBytes > 0 && usedBytes(db) > request.maxBytes) {
    const oldest = oldestJob(db) ?? orphan(db, Date.now());
    if (oldest !== undefined) {
      // In a cluster: others that have more space do not give it back.
      db.prepare(
        `INSERT INTO meta (key, value) VALUES ('${removedKey}', ?) ON CONFLICT DO UPDATE SET value = max(value, excluded.value)`,
      ).run(oldest);
      return removeOf(db, oldest);
    }
  }
  trimEvents(db, request.keepEvents);
  trimAudit(db);
  return { jobs: 0, done: !giveBack(db) };
}

const kept = 'jid NOT IN (SELECT jid FROM pending)';
const first = (row: Record<string, unknown> | undefined): string | undefined => row && String(row['jid']);

const agedJob = (db: Database, before: number): string | undefined =>
  first(db.prepare(`SELECT jid FROM job WHERE started < ? AND ${kept} ORDER BY started LIMIT 1`).get(before));

const oldestJob = (db: Database): string | undefined =>
  first(db.prepare(`SELECT jid FROM job WHERE ${kept} ORDER BY started LIMIT 1`).get());

/**
 * Results whose job was never stored here are found by their jid, which contains the time (one day of tolerance for
 * clocks).
 */
const orphan = (db: Database, before: number): string | undefined =>
  first(
    db
      .prepare(
        'SELECT jid FROM ret WHERE jid < ? AND NOT EXISTS (SELECT 1 FROM job WHERE job.jid = ret.jid) ORDER BY jid LIMIT 1',
      )
      .get(jidOf((before - 86_400_000) * 1000)),
  );

/** A job with very many results takes several steps; its own row is removed last. */
function removeOf(db: Database, jid: string): Step {
  let rows = 0;
  for (const table of ['ret', 'verdict']) {
    rows += db
      .prepare(`DELETE FROM ${table} WHERE jid = ? AND id IN (SELECT id FROM ${table} WHERE jid = ? LIMIT ${stepRows})`)
      .run(jid, jid).changes;
  }
  if (rows >= stepRows) return { jobs: 0, done: false };
  for (const table of ['head', 'odd', 'job']) db.prepare(`DELETE FROM ${table} WHERE jid = ?`).run(jid);
  return { jobs: 1, done: false };
}

/** The newest events stay: limited by number and by size. */
export function trimEvents(db: Database, keep: number): void {
  const last = Number(db.prepare('SELECT max(number) AS n FROM event').get()?.['n'] ?? 0);
  db.prepare('DELETE FROM event WHERE number <= ?').run(last - Math.max(0, keep));
  const heavy = db
    .prepare(
      'SELECT number FROM (SELECT number, sum(length(data)) OVER (ORDER BY number DESC) AS weight FROM event) ' +
        'WHERE weight > ? ORDER BY number DESC LIMIT 1',
    )
    .get(eventBytes);
  if (heavy) db.prepare('DELETE FROM event WHERE number <= ?').run(Number(heavy['number']));
}

/** When much of the file is free, some of it is returned to the file system; true while there is more. */
function giveBack(db: Database): boolean {
  const value = (name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  if (value('auto_vacuum') !== 2) return false;
  const free = value('freelist_count');
  if (free < stepPages || free < value('page_count') / 4) return false;
  db.exec(`PRAGMA incremental_vacuum(${stepPages})`);
  return value('freelist_count') < free;
}
