// Returner `sqlite3`: results and jobs in a SQLite file, in the tables of Salt's sqlite3 returner.
import { defineReturner, newDict, type PlainDict, p, pyStr } from 'halite/sdk';
import type { SqlRow } from '../shared/sql/sql-client.ts';
import { openSqlite, sqliteDialect } from '../shared/sql/sqlite-client.ts';
import { fromJson, textField } from './shared/loads.ts';
import { funOf, plainShape, sqlJson, successOf, type TableShape, tableSession } from './shared/salt-tables.ts';

const schema = `
CREATE TABLE IF NOT EXISTS jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS salt_returns (
  fun TEXT KEY, jid TEXT KEY, id TEXT KEY, fun_args TEXT,
  date TEXT NOT NULL, full_ret TEXT NOT NULL, success TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS halite_returns_jid ON salt_returns (jid, id);
CREATE INDEX IF NOT EXISTS halite_returns_fun ON salt_returns (fun, id, jid);
`;

/** A time as Python prints it: local time with microseconds. */
function localStamp(at = new Date()): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return `${local.toISOString().slice(0, 23).replace('T', ' ')}000`;
}

/** Here Salt stores only the return value in the column full_ret. */
function readReturn(row: SqlRow): PlainDict | undefined {
  const value = fromJson(String(row['full_ret']));
  if (value === undefined) return undefined;
  const success = /^(?:1|true)$/i.test(String(row['success']));
  return newDict([
    ['return', value],
    ['fun', String(row['fun'])],
    ['jid', String(row['jid'])],
    ['id', String(row['id'])],
    ...(row['success'] === '' ? [] : ([['success', success]] as const)),
  ]);
}

const shape: TableShape = {
  ...plainShape(sqliteDialect),
  returnRow: (ret) => ({
    fun: funOf(ret),
    jid: textField(ret, 'jid'),
    id: textField(ret, 'id'),
    fun_args: Array.isArray(ret['fun_args']) && ret['fun_args'].length > 0 ? pyStr(ret['fun_args']) : null,
    date: localStamp(),
    full_ret: sqlJson(ret['return'] ?? null),
    success: sqliteDialect.success(successOf(ret)),
  }),
  returnColumns: ['full_ret', 'fun', 'jid', 'success'],
  readReturn,
  timeColumn: 'date',
  noEvents: true,
};

export default defineReturner({
  name: 'sqlite3',
  doc: 'Stores results and jobs in a SQLite file, in the tables jids and salt_returns, which are created if they are missing.',
  keeps: ['jobs'],
  options: {
    database: p.path({ aliases: ['db'], doc: 'the file' }),
    timeout: p.float({ default: 5, doc: 'seconds to wait while another program writes' }),
  },
  async open(options, ctx) {
    const client = await openSqlite(options.database, options.timeout * 1000, schema);
    return tableSession({ client, dialect: sqliteDialect, shape, masterId: ctx.id });
  },
});
