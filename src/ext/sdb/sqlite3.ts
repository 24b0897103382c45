// Secret store `sqlite3`: a table of keys and packed values in a SQLite file, as Salt's driver keeps them.
import { type Dict, defineSdb, dictGet, HaliteError, pyStr, type Value } from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { type NativeSqlite, openNative } from '../shared/sql/sqlite-client.ts';
import { listOf, required, textOf } from './shared/profile.ts';

function quote(name: string): string {
  if (name.includes('\0')) throw new HaliteError('config.value', 'The name of a table holds a NUL');
  return `"${name.replaceAll('"', '""')}"`;
}

/** Creates the table if it is missing: with statements of the profile, or with two columns. */
function prepare(db: NativeSqlite, profile: Dict, table: string): void {
  const own = listOf(dictGet(profile, 'create_statements')).map((sql) => pyStr(sql));
  const usual = [
    `CREATE TABLE ${quote(table)} (key text, value blob)`,
    `CREATE UNIQUE INDEX ${quote(`${table}_idx`)} ON ${quote(table)} (key)`,
  ];
  const statements = own.length > 0 ? own : dictGet(profile, 'create_table') === false ? [] : usual;
  try {
    for (const sql of statements) db.exec(sql);
  } catch {
    // The table already exists.
  }
}

async function withTable<T>(profile: Dict, work: (db: NativeSqlite, table: string) => T): Promise<T> {
  const db = await openNative(required(profile, 'database'));
  try {
    const table = textOf(profile, 'table') ?? 'sdb';
    prepare(db, profile, table);
    return work(db, quote(table));
  } finally {
    db.close();
  }
}

export default defineSdb({
  name: 'sqlite3',
  doc: 'A SQLite file (`database`, `table`); other tables by `create_statements`, `get_query` and `set_query` with :key and :value.',
  get: (key, profile): Promise<Value> =>
    withTable(profile, (db, table) => {
      const query = textOf(profile, 'get_query') ?? `SELECT value FROM ${table} WHERE key=:key`;
      const row = db.prepare(query).all({ key })[0] as Record<string, unknown> | undefined;
      const packed = row === undefined ? undefined : Object.values(row)[0];
      if (packed === undefined || packed === null) return null;
      return packed instanceof Uint8Array ? unpack(packed) : (packed as Value);
    }),
  set: (key, value, profile): Promise<Value> =>
    withTable(profile, (db, table) => {
      const query = textOf(profile, 'set_query') ?? `INSERT OR REPLACE INTO ${table} VALUES (:key, :value)`;
      db.prepare(query).run({ key, value: Buffer.from(pack(value, { bin: true })) });
      return true;
    }),
});
