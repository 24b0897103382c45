// A common interface for the available SQLite library: better-sqlite3, or Node's own from version 22.13 on.
import { HaliteError } from '../../base/errors/index.ts';

/** When a commit counts: written to the file, or on the disk. */
export type StoreSync = 'normal' | 'full';
export type SqlValue = string | number | bigint | null | Uint8Array;
export interface Statement {
  run(...values: SqlValue[]): { changes: number };
  all(...values: SqlValue[]): Record<string, SqlValue>[];
  get(...values: SqlValue[]): Record<string, SqlValue> | undefined;
  iterate(...values: SqlValue[]): Iterable<Record<string, SqlValue>>;
}
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** A deterministic function for use in SQL. */
  define(name: string, fn: (...values: SqlValue[]) => SqlValue): void;
  close(): void;
}

type Native = {
  exec(sql: string): void;
  prepare(sql: string): unknown;
  function(name: string, options: { deterministic: boolean }, fn: (...values: SqlValue[]) => SqlValue): void;
  close(): void;
};

async function openNative(file: string, readonly: boolean): Promise<Native> {
  try {
    const { default: Better } = await import('better-sqlite3');
    return new Better(file, { readonly }) as unknown as Native;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('SQLITE_')) throw error;
    const name = 'node:sqlite';
    const node = (await import(name).catch(() => undefined)) as
      | { DatabaseSync: new (file: string, options: { readOnly: boolean }) => Native }
      | undefined;
    if (!node) {
      throw new HaliteError('store.unavailable', 'no SQLite library: better-sqlite3 is not installed for this Node', {
        hint: 'Install it with `npm install better-sqlite3`, or use Node 22.13 or newer.',
        cause: error,
      });
    }
    return new node.DatabaseSync(file, { readOnly: readonly });
  }
}

export interface DatabaseOptions {
  readonly readonly?: boolean;
  /** `full`: each commit is on the disk before it returns, so that not even a power failure loses it. */
  readonly sync?: StoreSync;
}

/** Opens a database file for writing (WAL, created when missing) or for reading only. */
export async function openDatabase(file: string, options: DatabaseOptions = {}): Promise<Database> {
  const native = await openNative(file, options.readonly ?? false);
  native.exec('PRAGMA busy_timeout = 5000');
  if (!options.readonly) {
    // Works for new files only: pages freed by cleaning can be returned to the file system in small portions.
    native.exec('PRAGMA auto_vacuum = INCREMENTAL');
    // NORMAL in WAL: a killed process loses nothing, a power failure at most the last moments.
    const synchronous = options.sync === 'full' ? 'FULL' : 'NORMAL';
    native.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 4000; PRAGMA cache_size = -16384`,
    );
  }
  return {
    exec: (sql) => native.exec(sql),
    prepare: (sql) => native.prepare(sql) as Statement,
    define: (name, fn) => native.function(name, { deterministic: true }, fn),
    close: () => native.close(),
  };
}
