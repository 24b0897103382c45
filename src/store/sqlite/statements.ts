// The database statements of each kind of write.
import { dumpJson, isPlainJson, parseDict } from '../../base/codec/json/index.ts';
import { unpack } from '../../base/codec/msgpack/index.ts';
import { type Dict, isDict, type Value } from '../../base/codec/value.ts';
import { traitsOf } from '../../extend/sdk/job-filter.ts';
import { listedJob } from '../../extend/sdk/shown-job.ts';
import type { Database } from './driver.ts';

export type WriteKind =
  | 'job'
  | 'return'
  | 'verdicts'
  | 'events'
  | 'minion'
  | 'drop-minion'
  | 'pending'
  | 'drop-pending'
  | 'mine';

/** JSON for a column; types that JSON lacks (bytes, dates) become text, as in Salt's own returners. */
const json = (value: Value): string => dumpJson(value, { ensureAscii: false });
const text = (dict: Row, key: string): string => String(dict[key] ?? '');
const whole = (dict: Row, key: string): number => Number(dict[key] ?? 0);
const optional = (dict: Row, key: string): string | null => (typeof dict[key] === 'string' ? String(dict[key]) : null);
const rowsOf = (dict: Row): Row[] => dict['rows'] as Row[];
type Row = Record<string, Value>;

/** Numbers that SQLite does not accept unchanged; a match inside a text only costs time. */
const endless = /NaN|Infinity/;

function headOf(jid: string, load: Dict): (string | number | null)[] {
  const shown = listedJob(jid, load);
  const { fun, targets, metadata } = traitsOf(load);
  const traits = [fun, json([...targets]), isDict(metadata) ? json(metadata) : null];
  return [isPlainJson(shown) ? 1 : 0, ...traits, `${json(jid)}: ${json(shown)}`, jid];
}

/** Larger events are stored as a note: the table is bounded by their number. */
const largestEvent = 64 * 1024;

function eventData(data: Value): string {
  const written = json(data);
  return written.length <= largestEvent ? written : json({ truncated: true, bytes: written.length });
}

const insertJob =
  'INSERT INTO job (jid, fun, tgt, tgt_type, user, load, expected, started, internal) VALUES (?,?,?,?,?,?,?,?,?) ';

const sql = {
  // A run that a minion reported is overwritten by a job of the master.
  job:
    `${insertJob}ON CONFLICT (jid) DO UPDATE SET load = excluded.load, expected = excluded.expected, fun = excluded.fun, ` +
    "tgt = excluded.tgt, tgt_type = excluded.tgt_type, user = excluded.user WHERE user = excluded.user OR load ->> '$.cmd' = '_return'",
  adopted: `${insertJob}ON CONFLICT DO NOTHING`,
  // A job that is written again keeps its time, kind and user: no other user can overwrite it.
  head:
    'INSERT OR REPLACE INTO head (jid, plain, fun, tgt, meta, text) ' +
    'SELECT jid, ?, ?, ?, ?, ? FROM job WHERE jid = ? AND internal = 0',
  odd: 'INSERT OR IGNORE INTO odd (jid) VALUES (?)',
  ret: 'INSERT INTO ret (jid, id, fun, retcode, success, full_ret, received) VALUES (?,?,?,?,?,?,?) ON CONFLICT DO NOTHING',
  verdict:
    'INSERT INTO verdict (jid, id, verdict, reason, text, evidence, at) VALUES (?,?,?,?,?,?,?) ' +
    'ON CONFLICT (jid, id) DO UPDATE SET verdict = excluded.verdict, reason = excluded.reason, ' +
    'text = excluded.text, evidence = excluded.evidence, at = excluded.at',
  event: 'INSERT INTO event (tag, data, jid, minion, at) VALUES (?,?,?,?,?)',
  minion:
    'INSERT INTO minion_data (id, grains, pillar) VALUES (?,?,?) ' +
    'ON CONFLICT (id) DO UPDATE SET grains = excluded.grains, pillar = excluded.pillar',
  pending:
    'INSERT INTO pending (jid, id, until) VALUES (?,?,?) ON CONFLICT (jid, id) DO UPDATE SET until = excluded.until',
  dropPending: 'DELETE FROM pending WHERE jid = ? AND id = ?',
  mine: 'INSERT INTO mine (id, data) VALUES (?,?) ON CONFLICT (id) DO UPDATE SET data = excluded.data',
  dropMinion: 'DELETE FROM minion_data WHERE id = ?',
} as const;

export type Write = (kind: WriteKind, data: Uint8Array) => 'stored' | 'duplicate';
type Run = (name: keyof typeof sql, ...values: (string | number | null)[]) => number;
type Writes = Record<WriteKind, (row: Row) => 'stored' | 'duplicate' | undefined>;

const jobWrites = (run: Run): Pick<Writes, 'job' | 'return' | 'verdicts' | 'events'> => ({
  job(row) {
    const words = [text(row, 'jid'), text(row, 'fun'), text(row, 'tgt'), text(row, 'tgt_type'), text(row, 'user')];
    const lists = [json(row['load'] as Dict), json(row['expected'] as Value[])];
    const changes = run(
      row['adopted'] ? 'adopted' : 'job',
      ...words,
      ...lists,
      whole(row, 'started'),
      row['internal'] ? 1 : 0,
    );
    if (changes === 0) return 'duplicate';
    run('head', ...headOf(text(row, 'jid'), row['load'] as Dict));
    return 'stored';
  },
  return(row) {
    const words = [text(row, 'jid'), text(row, 'id'), text(row, 'fun')];
    const numbers = [whole(row, 'retcode'), row['success'] ? 1 : 0];
    const load = json(row['load'] as Dict);
    const changes = run('ret', ...words, ...numbers, load, whole(row, 'received'));
    if (changes > 0 && endless.test(load)) run('odd', text(row, 'jid'));
    return changes > 0 ? 'stored' : 'duplicate';
  },
  verdicts(given) {
    for (const row of rowsOf(given)) {
      const words = [text(row, 'jid'), text(row, 'id'), text(row, 'verdict'), text(row, 'reason'), text(row, 'text')];
      run('verdict', ...words, json(row['evidence'] ?? null), whole(row, 'at'));
    }
    return 'stored';
  },
  events(given) {
    for (const row of rowsOf(given)) {
      const data = row['data'] === null || row['data'] === undefined ? null : eventData(row['data']);
      run('event', text(row, 'tag'), data, optional(row, 'jid'), optional(row, 'id'), whole(row, 'at'));
    }
    return 'stored';
  },
});

const minionWrites = (run: Run): Omit<Writes, 'job' | 'return' | 'verdicts' | 'events'> => ({
  minion: (row) => void run('minion', text(row, 'id'), json(row['grains'] as Dict), json(row['pillar'] as Dict)),
  'drop-minion': (row) => void run('dropMinion', text(row, 'id')),
  pending(given) {
    for (const row of rowsOf(given)) run('pending', text(row, 'jid'), text(row, 'id'), whole(row, 'until'));
    return 'stored';
  },
  'drop-pending': (row) => void run('dropPending', text(row, 'jid'), text(row, 'id')),
  mine: (row) => void run('mine', text(row, 'id'), json(row['data'] as Dict)),
});

/** A store of an earlier version has no prepared rows for the list yet. */
export function fillHeads(db: Database): void {
  const insert = db.prepare(sql.head);
  const some = db.prepare('SELECT jid, load FROM job WHERE jid > ? ORDER BY jid LIMIT 1000');
  for (let last = ''; ; ) {
    const jobs = some.all(last);
    if (jobs.length === 0) return;
    for (const { jid, load } of jobs) insert.run(...headOf(String(jid), parseDict(load)));
    last = String(jobs.at(-1)?.['jid']);
  }
}

/** Prepares every statement once; the returned function does one write inside the open transaction. */
export function prepareWrites(db: Database): Write {
  const prepared = Object.fromEntries(Object.entries(sql).map(([name, each]) => [name, db.prepare(each)]));
  const run: Run = (name, ...values) => prepared[name]?.run(...values).changes ?? 0;
  const writes: Writes = { ...jobWrites(run), ...minionWrites(run) };
  return (kind, data) => writes[kind](unpack(data) as Row) ?? 'stored';
}
