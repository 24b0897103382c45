// Small values of a daemon that must survive a kill: one file, written at once.
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { openDatabase, type SqlValue } from './driver.ts';

export interface SmallTable {
  get(space: string, key: string): Uint8Array | undefined;
  all(space: string): readonly (readonly [key: string, value: Uint8Array])[];
  set(space: string, key: string, value: Uint8Array): void;
  remove(space: string, key: string): void;
  close(): void;
}

const schema =
  'CREATE TABLE IF NOT EXISTS small (space TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (space, key)) WITHOUT ROWID';

/** Opens or creates it, readable by its owner only. */
export async function openSmallTable(file: string): Promise<SmallTable> {
  mkdirSync(dirname(file), { recursive: true });
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
  const database = await openDatabase(file);
  database.exec(schema);
  const one = database.prepare('SELECT value FROM small WHERE space = ? AND key = ?');
  const some = database.prepare('SELECT key, value FROM small WHERE space = ? ORDER BY key');
  const put = database.prepare('INSERT OR REPLACE INTO small (space, key, value) VALUES (?, ?, ?)');
  const drop = database.prepare('DELETE FROM small WHERE space = ? AND key = ?');
  return {
    get: (space, key) => bytesOf(one.get(space, key)?.['value']),
    all: (space) =>
      some.all(space).map((row) => [String(row['key']), bytesOf(row['value']) ?? new Uint8Array()] as const),
    set: (space, key, value) => void put.run(space, key, value),
    remove: (space, key) => void drop.run(space, key),
    close: () => database.close(),
  };
}

const bytesOf = (value: SqlValue | undefined): Uint8Array | undefined =>
  value instanceof Uint8Array ? value : undefined;
