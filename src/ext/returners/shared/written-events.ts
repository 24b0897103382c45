// Finds events that are already written, among the newest rows, and skips them.
import type { StoredEvent, Value } from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import type { Dialect, SqlClient, SqlValue } from '../../shared/sql/sql-client.ts';
import { fromJson } from './loads.ts';

export interface EventRow {
  readonly tag: string;
  readonly data: SqlValue;
  readonly master_id: string;
}

/** A master writes in order and at most 500 events at once, so the events before a kill are among its last rows. */
const newest = 1000;

const canonical = (text: string): string => {
  const value: Value = fromJson(text) ?? null;
  return dumpJson(value, { sortKeys: true });
};
const keyOf = (tag: string, text: string): string => `${tag} ${canonical(text)}`;

/** The rows to write. Events contain their time, so two equal events are the same one. */
export async function unwritten(
  client: SqlClient,
  dialect: Dialect,
  events: readonly StoredEvent[],
  rows: readonly EventRow[],
): Promise<readonly EventRow[]> {
  const doubtful = new Set(rows.filter((_, at) => events[at]?.again === true));
  const masterId = rows[0]?.master_id;
  if (doubtful.size === 0 || masterId === undefined) return rows;
  const { name, mark } = dialect;
  const table = `${name('salt_events')} WHERE`;
  const last = await client.run(
    `SELECT ${name('id')}, ${name('tag')} FROM ${table} ${name('master_id')} = ${mark(1)} ORDER BY ${name('id')} DESC LIMIT ${newest}`,
    [masterId],
  );
  const tags = new Set([...doubtful].map(({ tag }) => tag));
  const ids = last.filter((row) => tags.has(String(row['tag']))).map((row) => row['id'] as SqlValue);
  if (ids.length === 0) return rows;
  const marks = ids.map((_, at) => mark(at + 1)).join(', ');
  const data = `${dialect.asText(name('data'))} AS ${name('data')}`;
  const there = await client.run(`SELECT ${name('tag')}, ${data} FROM ${table} ${name('id')} IN (${marks})`, ids);
  const known = new Set(there.map((row) => keyOf(String(row['tag']), String(row['data']))));
  return rows.filter((row) => !doubtful.has(row) || !known.has(keyOf(row.tag, String(row.data))));
}
