// Salt's `sqlite` queue: a file per queue with a table of its name, each item once, first in first out.

import { HaliteError, isDict, messageOf, oneOrMore, pyStr, type Value } from 'halite/sdk';
import { dumpJson, loadJson } from 'halite/sdk/codec';
import { readdirSync, safeJoin } from 'halite/sdk/fs';
import { type NativeSqlite, openNative } from '../../shared/sql/sqlite-client.ts';

const ext = '.db';

/** An item as it is stored: text unchanged, other values as JSON, with Salt's single quotes where these can be read back. */
function storedText(item: Value): string {
  if (typeof item === 'string') return item;
  if (!Array.isArray(item) && !isDict(item)) return pyStr(item);
  const json = dumpJson(item);
  return /'|\\"/.test(json) ? json : json.replaceAll('"', "'");
}

/** The reverse of `storedText`, for items that are maps. */
export function readItem(text: string): Value {
  try {
    return loadJson(text);
  } catch {
    return loadJson(text.replaceAll("'", '"'));
  }
}

const itemsOf = (items: Value): string[] => oneOrMore(items).map(storedText);

async function withQueue<T>(folder: string, queue: string, work: (db: NativeSqlite, table: string) => T): Promise<T> {
  if (queue === '' || /[/\0]/.test(queue) || queue.startsWith('.'))
    throw new HaliteError('call.arguments', `${pyStr(queue)} is not acceptable as the name of a queue`);
  const db = await openNative(safeJoin(folder, `${queue}${ext}`));
  try {
    const table = `"${queue.replaceAll('"', '""')}"`;
    db.exec('PRAGMA busy_timeout = 10000');
    db.exec(`CREATE TABLE IF NOT EXISTS ${table}(id INTEGER PRIMARY KEY, name TEXT UNIQUE)`);
    return atOnce(db, () => work(db, table));
  } finally {
    db.close();
  }
}

function atOnce<T>(db: NativeSqlite, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

interface Row {
  readonly id: number;
  readonly name: string;
}

export function listQueues(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(ext) && !name.startsWith('.'));
  return names.map((name) => name.slice(0, -ext.length)).sort();
}

export const listItems = (folder: string, queue: string): Promise<string[]> =>
  withQueue(folder, queue, (db, table) =>
    (db.prepare(`SELECT id, name FROM ${table} ORDER BY id`).all() as Row[]).map((row) => row.name),
  );

/** True, or Salt's message when an item already exists; then nothing is added. */
export async function insertItems(folder: string, queue: string, items: Value): Promise<Value> {
  try {
    return await withQueue(folder, queue, (db, table) => {
      const insert = db.prepare(`INSERT INTO ${table}(name) VALUES(?)`);
      for (const item of itemsOf(items)) insert.run(item);
      return true;
    });
  } catch (error) {
    const reason = messageOf(error);
    if (!reason.startsWith('UNIQUE constraint failed')) throw error;
    const which = Array.isArray(items) ? 'One or more items already exists' : 'Item already exists';
    return `${which} in this queue. sqlite error: ${reason}`;
  }
}

export const deleteItems = (folder: string, queue: string, items: Value): Promise<Value> =>
  withQueue(folder, queue, (db, table) => {
    const remove = db.prepare(`DELETE FROM ${table} WHERE name = ?`);
    for (const item of itemsOf(items)) remove.run(item);
    return true;
  });

/** Removes the oldest items; a negative number means all of them, as in SQLite. */
export const popItems = (folder: string, queue: string, quantity: number): Promise<string[]> =>
  withQueue(folder, queue, (db, table) => {
    const rows = db.prepare(`SELECT id, name FROM ${table} ORDER BY id LIMIT ?`).all(quantity) as Row[];
    const remove = db.prepare(`DELETE FROM ${table} WHERE id = ?`);
    for (const row of rows) remove.run(row.id);
    return rows.map((row) => row.name);
  });
