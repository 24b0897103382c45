// Queues in SQLite files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Better from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteItems, insertItems, listItems, listQueues, popItems, readItem } from './sqlite-queue.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'queues-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a queue in SQLite', () => {
  it('returns items in the order they were added, each once', async () => {
    expect(await insertItems(folder, 'later', 'first')).toBe(true);
    expect(await insertItems(folder, 'later', ["it's", 'third', 4])).toBe(true);
    expect(await insertItems(folder, 'later', 'first')).toBe(
      'Item already exists in this queue. sqlite error: UNIQUE constraint failed: later.name',
    );
    expect(await insertItems(folder, 'later', ['new', 'third'])).toMatch(/^One or more items already exists/);
    expect(await listItems(folder, 'later')).toEqual(['first', "it's", 'third', '4']);
    expect(await popItems(folder, 'later', 1)).toEqual(['first']);
    expect(await deleteItems(folder, 'later', ['third', 'nothing'])).toBe(true);
    expect(await popItems(folder, 'later', -1)).toEqual(["it's", '4']);
    expect(await popItems(folder, 'later', 5)).toEqual([]);
    expect(await popItems(folder, 'later', 0)).toEqual([]);
  });

  it('stores maps as Salt does, and reads back those Salt could not', async () => {
    const easy = { fun: 'test.arg', args: [1], kwargs: { a: null } };
    const hard = { fun: 'cmd.run', args: ['echo "it\'s"'], kwargs: {} };
    await insertItems(folder, 'calls', easy);
    await insertItems(folder, 'calls', hard);
    const [first = '', second = ''] = await popItems(folder, 'calls', 2);
    expect(first).toBe("{'fun': 'test.arg', 'args': [1], 'kwargs': {'a': null}}");
    expect([readItem(first), readItem(second)]).toEqual([easy, hard]);
  });

  it('reads and writes a file that Salt created', async () => {
    const made = new Better(join(folder, 'old.db'));
    made.exec("CREATE TABLE old(id INTEGER PRIMARY KEY, name TEXT UNIQUE); INSERT INTO old(name) VALUES('kept')");
    made.close();
    writeFileSync(join(folder, 'notes.txt'), '');
    expect(listQueues(folder)).toEqual(['old']);
    expect(await popItems(folder, 'old', 1)).toEqual(['kept']);
  });

  it('accepts any name that is a valid file name', async () => {
    await insertItems(folder, 'a-b "c"; drop', 'x');
    expect(listQueues(folder)).toEqual(['a-b "c"; drop']);
    for (const name of ['', '../x', 'a/b', '.hidden', 'a\0b'])
      await expect(insertItems(folder, name, 'x')).rejects.toThrow('not acceptable as the name of a queue');
  });
});
