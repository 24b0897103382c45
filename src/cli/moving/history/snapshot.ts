// A consistent copy of a job history that may be in use.
import { existsSync, rmSync } from 'node:fs';
import { messageOf } from '../../../base/errors/index.ts';
import { openDatabase } from '../../../store/sqlite/driver.ts';

/** Writes the copy to `to`, which must not exist yet; a text is the reason why there is none. */
export async function snapshotDatabase(database: string, to: string): Promise<true | string> {
  if (!existsSync(database)) return `${database} does not exist`;
  try {
    const db = await openDatabase(database, { readonly: true });
    try {
      // One read transaction over the whole file: writers go on meanwhile.
      db.prepare('VACUUM INTO ?').run(to);
    } finally {
      db.close();
    }
    return true;
  } catch (error) {
    rmSync(to, { force: true });
    return `${database} could not be copied: ${messageOf(error)}`;
  }
}

/** Why a database that came from elsewhere cannot be used; undefined when it can. */
export async function databaseProblem(file: string): Promise<string | undefined> {
  try {
    const db = await openDatabase(file, { readonly: true });
    try {
      const [row] = db.prepare('PRAGMA quick_check(1)').all();
      const said = String(row?.['quick_check'] ?? 'no answer');
      return said === 'ok' ? undefined : said;
    } finally {
      db.close();
    }
  } catch (error) {
    return messageOf(error);
  }
}

/** How many jobs and results a history has. */
export async function countsOf(file: string): Promise<{ jobs: number; results: number } | undefined> {
  if (!existsSync(file)) return undefined;
  try {
    const db = await openDatabase(file, { readonly: true });
    try {
      const count = (sql: string): number => Number(db.prepare(sql).get()?.['n'] ?? 0);
      return {
        jobs: count('SELECT count(*) AS n FROM job WHERE internal = 0'),
        results: count('SELECT count(*) AS n FROM ret'),
      };
    } finally {
      db.close();
    }
  } catch {
    return undefined;
  }
}
