// A SQLite file for returners, with better-sqlite3, or Node's own library from version 22.13 on.
import { HaliteError, messageOf } from 'halite/sdk';
import { type Dialect, type ErrorWords, type SqlClient, type SqlRow, type SqlRun, sqlError } from './sql-client.ts';

interface NativeStatement {
  run(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
}
export interface NativeSqlite {
  exec(sql: string): unknown;
  prepare(sql: string): NativeStatement;
  close(): unknown;
}

export const sqliteDialect: Dialect = {
  name: (text) => `"${text}"`,
  mark: () => '?',
  asText: (column) => column,
  json: (text) => text,
  success: (value) => (value ? '1' : '0'),
  unlessThere: 'ON CONFLICT DO NOTHING',
  // Texts of local time, as Python writes them.
  ago: (mark) => `strftime('%Y-%m-%d %H:%M:%f', 'now', 'localtime', '-' || ${mark} || ' seconds')`,
  copyTable: (copy, original) => `CREATE TABLE IF NOT EXISTS ${copy} AS SELECT * FROM ${original} WHERE 0`,
};

/** The database handle, for callers with their own statements. */
export async function openNative(file: string): Promise<NativeSqlite> {
  try {
    const { default: Better } = await import('better-sqlite3');
    return new Better(file) as unknown as NativeSqlite;
  } catch (error) {
    if (!/^ERR_MODULE_NOT_FOUND$|^MODULE_NOT_FOUND$|^ERR_DLOPEN_FAILED$/.test(codeOf(error))) throw error;
    const name = 'node:sqlite';
    const node = (await import(name).catch(() => undefined)) as
      | { DatabaseSync: new (file: string) => NativeSqlite }
      | undefined;
    if (node) return new node.DatabaseSync(file);
    throw new HaliteError('extension.unavailable', `The package better-sqlite3 is not installed: ${messageOf(error)}`, {
      hint: 'Install it with npm install better-sqlite3, or use Node 22.13 or newer.',
      cause: error,
    });
  }
}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '');

/** Opens a file; `schema` creates missing tables. */
export async function openSqlite(file: string, timeoutMs: number, schema: string): Promise<SqlClient> {
  const words: ErrorWords = {
    returner: 'sqlite3',
    place: file,
    isPermanent: (code) => /^SQLITE_(?:TOOBIG|MISMATCH|CONSTRAINT)/.test(code),
    isMissing: () => false,
  };
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw sqlError(words, error);
    }
  };
  const native = await openNative(file).catch((error: unknown) => {
    throw sqlError(words, error);
  });
  guarded(() => {
    native.exec(`PRAGMA busy_timeout = ${Math.max(0, Math.trunc(timeoutMs))}`);
    native.exec(schema);
  });
  const run: SqlRun = async (sql, values = []) =>
    guarded(() => {
      const statement = native.prepare(sql);
      const plain = values.map((value) => (typeof value === 'boolean' ? Number(value) : value));
      if (/^\s*SELECT/i.test(sql)) return statement.all(...plain) as SqlRow[];
      statement.run(...plain);
      return [];
    });
  return {
    run,
    async transaction(work) {
      guarded(() => native.exec('BEGIN IMMEDIATE'));
      try {
        const result = await work(run);
        guarded(() => native.exec('COMMIT'));
        return result;
      } catch (error) {
        native.exec('ROLLBACK');
        throw error;
      }
    },
    close: async () => void native.close(),
  };
}
