// Tokens in a database file. Only the digests of tokens are in it: a copy of the file opens nothing.
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { dumpJson, parseValue } from '../../base/codec/json/index.ts';
import { asList, isTexts, type Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { moveAside, troubleOf } from '../sqlite/damage.ts';
import { type Database, openDatabase, type SqlValue } from '../sqlite/driver.ts';
import {
  digestOf,
  isToken,
  mostListed,
  newToken,
  type StoredToken,
  type TokenData,
  type TokenStore,
  unavailable,
} from './tokens.ts';

const schema = `
CREATE TABLE IF NOT EXISTS token (
  digest TEXT PRIMARY KEY, name TEXT NOT NULL, eauth TEXT NOT NULL, start REAL NOT NULL, expire REAL NOT NULL,
  user_groups TEXT, rules TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS token_expire ON token (expire);`;

const columns = ['digest', 'name', 'eauth', 'start', 'expire', 'user_groups', 'rules'] as const;
type Row = Readonly<Record<string, SqlValue>>;

export interface TokenTableParts {
  readonly file: string;
  readonly hashType: string;
  readonly log: Pick<Logger, 'error'>;
  readonly now?: () => number;
}

export class TokenTable implements TokenStore {
  readonly #parts: TokenTableParts;
  #opening: Promise<Database> | undefined;

  constructor(parts: TokenTableParts) {
    this.#parts = parts;
    const folder = dirname(parts.file);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }

  async create(data: TokenData): Promise<StoredToken> {
    const token = newToken(this.#parts.hashType);
    const { name, eauth, start, expire, groups, rules } = data;
    const values: SqlValue[] = [digestOf(token), name, eauth, start, expire, textOrNull(groups), textOrNull(rules)];
    await this.#with((db) =>
      db.prepare(`INSERT INTO token (${columns.join(', ')}) VALUES (?, ?, ?, ?, ?, ?, ?)`).run(...values),
    );
    return { ...data, token };
  }

  async get(token: string): Promise<StoredToken | undefined> {
    if (!isToken(token)) return undefined;
    const digest = digestOf(token);
    const row = await this.#with((db) => db.prepare('SELECT * FROM token WHERE digest = ?').get(digest));
    const found = row && readRow(row, token);
    if (!row || (found && found.expire > this.#now())) return found;
    await this.delete(token);
    return undefined;
  }

  async list(): Promise<StoredToken[]> {
    const sql = 'SELECT * FROM token WHERE expire > ? ORDER BY digest LIMIT ?';
    const rows = await this.#with((db) => db.prepare(sql).all(this.#now(), mostListed));
    return rows.flatMap((row) => readRow(row, String(row['digest'])) ?? []);
  }

  async delete(token: string): Promise<boolean> {
    if (!isToken(token)) return false;
    const sql = 'DELETE FROM token WHERE digest IN (?, ?)';
    return (await this.#with((db) => db.prepare(sql).run(digestOf(token), token))).changes > 0;
  }

  async sweep(): Promise<void> {
    await this.#with((db) => db.prepare('DELETE FROM token WHERE expire <= ?').run(this.#now()));
  }

  close(): void {
    const opened = this.#opening;
    this.#opening = undefined;
    opened?.then(
      (db) => db.close(),
      () => undefined,
    );
  }

  #now(): number {
    return (this.#parts.now ?? Date.now)() / 1000;
  }

  /** What was damaged has been set aside: the call is made once more, on a new file. */
  async #with<T>(work: (db: Database) => T): Promise<T> {
    try {
      return await this.#tried(work);
    } catch (error) {
      if (troubleOf(error) !== 'damaged') throw unavailable(error);
    }
    try {
      return await this.#tried(work);
    } catch (error) {
      throw unavailable(error);
    }
  }

  async #tried<T>(work: (db: Database) => T): Promise<T> {
    this.#opening ??= open(this.#parts.file);
    const opening = this.#opening;
    let db: Database | undefined;
    try {
      db = await opening;
      return work(db);
    } catch (error) {
      const damaged = troubleOf(error) === 'damaged';
      // Others may have met the same error: only the first of them does something about it.
      if (this.#opening === opening && (damaged || !db)) {
        this.#opening = undefined;
        if (damaged) this.#setAside(db, error);
      }
      throw error;
    }
  }

  /** Users log in again, which is better than that nobody can. */
  #setAside(db: Database | undefined, error: unknown): void {
    db?.close();
    this.#parts.log.error('the tokens were damaged and are set aside: users have to log in again', {
      file: moveAside(this.#parts.file),
      error: messageOf(error),
    });
  }
}

async function open(file: string): Promise<Database> {
  const db = await openDatabase(file);
  // The master waits for every call: somebody who has locked the file must not hold it up for seconds.
  db.exec('PRAGMA busy_timeout = 250');
  db.exec(schema);
  return db;
}

const textOrNull = (value: readonly Value[] | undefined): string | null =>
  value === undefined ? null : dumpJson([...value]);

/** Undefined for a row that somebody else has written. */
function readRow(row: Row, token: string): StoredToken | undefined {
  const { name, eauth, start, expire } = row;
  if (typeof name !== 'string' || typeof eauth !== 'string') return undefined;
  if (typeof start !== 'number' || typeof expire !== 'number') return undefined;
  const [groups, rules] = [listIn(row['user_groups']), listIn(row['rules'])];
  // Without its rules a token would have those of the configuration.
  if (groups === null || rules === null || (groups && !isTexts(groups))) return undefined;
  return { token, name, eauth, start, expire, ...(groups ? { groups } : {}), ...(rules ? { rules } : {}) };
}

/** Undefined when there is none, null when it is not readable. */
function listIn(text: SqlValue | undefined): Value[] | undefined | null {
  if (text === null || text === undefined) return undefined;
  try {
    return asList(parseValue(String(text))) ?? null;
  } catch {
    return null;
  }
}
