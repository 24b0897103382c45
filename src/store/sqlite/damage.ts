// Classifies errors of SQLite, and moves a damaged file away.
import { existsSync, renameSync } from 'node:fs';
import type { Database, SqlValue } from './driver.ts';

/**
 * `wait`: the same write will succeed when the disk works again; `damaged`: the file must be replaced; `refused`: only
 * this write is invalid.
 */
export type Trouble = 'wait' | 'damaged' | 'refused';

const waiting = new Set([5, 6, 8, 10, 13, 14]);
const damaged = new Set([11, 26]);
const names: Readonly<Record<string, number>> = {
  SQLITE_BUSY: 5,
  SQLITE_LOCKED: 6,
  SQLITE_READONLY: 8,
  SQLITE_IOERR: 10,
  SQLITE_CORRUPT: 11,
  SQLITE_FULL: 13,
  SQLITE_CANTOPEN: 14,
  SQLITE_NOTADB: 26,
};

/** better-sqlite3 gives the name of the extended code, Node's own library its number. */
export function troubleOf(error: unknown): Trouble {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  const named = Object.entries(names).find(([name]) => typeof code === 'string' && code.startsWith(name))?.[1];
  const number = named ?? (typeof errcode === 'number' ? errcode & 0xff : 0);
  if (damaged.has(number)) return 'damaged';
  return waiting.has(number) ? 'wait' : 'refused';
}

/** Renames the database with its side files; returns the new name, or what it would be if the file still existed. */
export function moveAside(file: string): string {
  const stamp = new Date().toISOString().replace(/\D/g, '').slice(0, 14);
  let aside = `${file}.damaged-${stamp}`;
  for (let n = 2; existsSync(aside); n++) aside = `${file}.damaged-${stamp}-${n}`;
  if (existsSync(file)) renameSync(file, aside);
  for (const side of ['-wal', '-shm']) if (existsSync(file + side)) renameSync(file + side, aside + side);
  return aside;
}

/** Data that is needed immediately: copied as far as it is readable. The history stays in the old file. */
const saved: Readonly<Record<string, readonly string[]>> = {
  pending: ['jid', 'id', 'until'],
  mine: ['id', 'data'],
  minion_data: ['id', 'grains', 'pillar'],
};

export function salvage(from: Database, to: Database): number {
  let rows = 0;
  for (const [table, columns] of Object.entries(saved)) {
    const into = to.prepare(
      `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
    try {
      for (const row of from.prepare(`SELECT ${columns.join(', ')} FROM ${table}`).all()) {
        into.run(...columns.map((column) => row[column] as SqlValue));
        rows++;
      }
    } catch {
      // This table is damaged too.
    }
  }
  return rows;
}
