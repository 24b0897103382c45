// Worker thread that owns the only writing connection: it gathers what arrives and commits it in one transaction.
import { parentPort, workerData } from 'node:worker_threads';
import { dumpJson } from '../../base/codec/json/index.ts';
import { unpack } from '../../base/codec/msgpack/index.ts';
import type { Dict, Value } from '../../base/codec/value.ts';
import { messageOf } from '../../base/errors/index.ts';
import { type Database, openDatabase } from './driver.ts';
import { schema } from './schema.ts';

/** One write as the main thread sends it; `data` is msgpack, so that encoding as JSON happens here, off the loop. */
export interface WriteRequest {
  readonly seq: number;
  readonly kind:
    | 'job'
    | 'return'
    | 'verdicts'
    | 'minion'
    | 'drop-minion'
    | 'pending'
    | 'drop-pending'
    | 'mine'
    | 'clean';
  readonly data: Uint8Array;
}
export interface WriteAnswer {
  readonly seq: number;
  readonly result?: string | number;
  readonly error?: string;
}

const port = parentPort;
if (!port) throw new Error('the store writer is a worker thread');
const file = (workerData as { file: string }).file;

/** JSON for a column; values JSON has no form for (bytes, dates) become text, as in Salt's own returners. */
const json = (value: Value): string => dumpJson(value, { ensureAscii: false });

function prepare(db: Database) {
  return {
    job: db.prepare(
      'INSERT INTO job (jid, fun, tgt, tgt_type, user, load, expected, started, internal) VALUES (?,?,?,?,?,?,?,?,?) ' +
        'ON CONFLICT (jid) DO UPDATE SET load = excluded.load, expected = excluded.expected',
    ),
    ret: db.prepare(
      'INSERT INTO ret (jid, id, fun, retcode, success, full_ret, received) VALUES (?,?,?,?,?,?,?) ON CONFLICT DO NOTHING',
    ),
    verdict: db.prepare(
      'INSERT INTO verdict (jid, id, verdict, reason, text, evidence, at) VALUES (?,?,?,?,?,?,?) ' +
        'ON CONFLICT (jid, id) DO UPDATE SET verdict = excluded.verdict, reason = excluded.reason, ' +
        'text = excluded.text, evidence = excluded.evidence, at = excluded.at',
    ),
    minion: db.prepare(
      'INSERT INTO minion_data (id, grains, pillar) VALUES (?,?,?) ' +
        'ON CONFLICT (id) DO UPDATE SET grains = excluded.grains, pillar = excluded.pillar',
    ),
    pending: db.prepare(
      'INSERT INTO pending (jid, id, until) VALUES (?,?,?) ON CONFLICT (jid, id) DO UPDATE SET until = excluded.until',
    ),
    dropPending: db.prepare('DELETE FROM pending WHERE jid = ? AND id = ?'),
    mine: db.prepare('INSERT INTO mine (id, data) VALUES (?,?) ON CONFLICT (id) DO UPDATE SET data = excluded.data'),
    dropMinion: db.prepare('DELETE FROM minion_data WHERE id = ?'),
  };
}

const text = (dict: Record<string, Value>, key: string): string => String(dict[key] ?? '');
const whole = (dict: Record<string, Value>, key: string): number => Number(dict[key] ?? 0);

function write(db: Database, statements: ReturnType<typeof prepare>, request: WriteRequest): string | number {
  const data = unpack(request.data) as Record<string, Value>;
  switch (request.kind) {
    case 'job':
      statements.job.run(
        text(data, 'jid'),
        text(data, 'fun'),
        text(data, 'tgt'),
        text(data, 'tgt_type'),
        text(data, 'user'),
        json(data['load'] as Dict),
        json(data['expected'] as Value[]),
        whole(data, 'started'),
        data['internal'] ? 1 : 0,
      );
      return 'stored';
    case 'return': {
      const { changes } = statements.ret.run(
        text(data, 'jid'),
        text(data, 'id'),
        text(data, 'fun'),
        whole(data, 'retcode'),
        data['success'] ? 1 : 0,
        json(data['load'] as Dict),
        whole(data, 'received'),
      );
      return changes > 0 ? 'stored' : 'duplicate';
    }
    case 'verdicts':
      for (const row of data['rows'] as Record<string, Value>[]) {
        statements.verdict.run(
          text(row, 'jid'),
          text(row, 'id'),
          text(row, 'verdict'),
          text(row, 'reason'),
          text(row, 'text'),
          json(row['evidence'] ?? null),
          whole(row, 'at'),
        );
      }
      return 'stored';
    case 'minion':
      statements.minion.run(text(data, 'id'), json(data['grains'] as Dict), json(data['pillar'] as Dict));
      return 'stored';
    case 'drop-minion':
      statements.dropMinion.run(text(data, 'id'));
      return 'stored';
    case 'pending':
      for (const row of data['rows'] as Record<string, Value>[]) {
        statements.pending.run(text(row, 'jid'), text(row, 'id'), whole(row, 'until'));
      }
      return 'stored';
    case 'mine':
      statements.mine.run(text(data, 'id'), json(data['data'] as Dict));
      return 'stored';
    case 'drop-pending':
      statements.dropPending.run(text(data, 'jid'), text(data, 'id'));
      return 'stored';
    case 'clean':
      return clean(db, whole(data, 'keepSeconds'), whole(data, 'maxBytes'));
  }
}

/** Removes whole jobs, oldest first: those past their age, then while the file is above its size. */
function clean(db: Database, keepSeconds: number, maxBytes: number): number {
  let removed = 0;
  const drop = (jids: readonly string[]): void => {
    for (const table of ['ret', 'verdict', 'job']) {
      const statement = db.prepare(`DELETE FROM ${table} WHERE jid = ?`);
      for (const jid of jids) statement.run(jid);
    }
    removed += jids.length;
  };
  const oldest = (where: string, ...values: number[]): string[] =>
    db
      .prepare(`SELECT jid FROM job ${where} jid NOT IN (SELECT jid FROM pending) ORDER BY started LIMIT 500`)
      .all(...values)
      .map((row) => String(row['jid']));
  if (keepSeconds > 0) drop(oldest('WHERE started < ? AND', Date.now() - keepSeconds * 1000));
  if (maxBytes > 0) {
    const pages = Number(db.prepare('PRAGMA page_count').get()?.['page_count'] ?? 0);
    const free = Number(db.prepare('PRAGMA freelist_count').get()?.['freelist_count'] ?? 0);
    const size = Number(db.prepare('PRAGMA page_size').get()?.['page_size'] ?? 4096);
    if ((pages - free) * size > maxBytes) drop(oldest('WHERE'));
  }
  return removed;
}

const queue: WriteRequest[] = [];
let scheduled = false;

function flush(db: Database, statements: ReturnType<typeof prepare>): void {
  scheduled = false;
  const batch = queue.splice(0, 1000);
  let answers: WriteAnswer[] = [];
  try {
    db.exec('BEGIN IMMEDIATE');
    answers = batch.map((request) => ({ seq: request.seq, result: write(db, statements, request) }));
    db.exec('COMMIT');
  } catch (error) {
    try {
      db.exec('ROLLBACK');
    } catch {
      // No transaction was open: BEGIN itself failed.
    }
    answers = batch.map((request) => ({ seq: request.seq, error: messageOf(error) }));
  }
  port?.postMessage(answers);
  if (queue.length > 0) schedule(db, statements);
}

function schedule(db: Database, statements: ReturnType<typeof prepare>): void {
  if (scheduled) return;
  scheduled = true;
  setImmediate(() => flush(db, statements));
}

try {
  const db = await openDatabase(file);
  db.exec(schema);
  const statements = prepare(db);
  port.on('message', (message: WriteRequest | 'close') => {
    if (message === 'close') {
      while (queue.length > 0) flush(db, statements);
      db.close();
      port.postMessage('closed');
      port.close();
      return;
    }
    queue.push(message);
    schedule(db, statements);
  });
  port.postMessage('ready');
} catch (error) {
  port.postMessage({ seq: -1, error: messageOf(error) } satisfies WriteAnswer);
  port.close();
}
