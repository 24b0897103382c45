// The database statements of each kind of write.
import { isPlainJson, parseDict } from '../../base/codec/json/index.ts';
import { unpack } from '../../base/codec/msgpack/index.ts';
import { type Dict, isDict, type Value } from '../../base/codec/value.ts';
import { traitsOf } from '../../extend/sdk/job-filter.ts';
import { listedJob } from '../../extend/sdk/shown-job.ts';
import type { ComparedRow, StoredFrame } from '../jobs.ts';
import type { Database } from './driver.ts';
import { json } from './json.ts';
import { digestOf, endless, frameWrites, type Stored } from './ledger.ts';

export type WriteKind =
  | 'job'
  | 'return'
  | 'verdicts'
  | 'events'
  | 'audit'
  | 'minion'
  | 'drop-minion'
  | 'pending'
  | 'drop-pending'
  | 'mine'
  | 'frame'
  | 'repair';

const text = (dict: Row, key: string): string => String(dict[key] ?? '');
const whole = (dict: Row, key: string): number => Number(dict[key] ?? 0);
const optional = (dict: Row, key: string): string | null => (typeof dict[key] === 'string' ? String(dict[key]) : null);
const wholeOrNone = (dict: Row, key: string): number | null =>
  dict[key] === undefined || dict[key] === null ? null : whole(dict, key);
const rowsOf = (dict: Row): Row[] => dict['rows'] as Row[];
type Row = Record<string, Value>;

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
  'INSERT INTO job (jid, fun, tgt, tgt_type, user, load, expected, started, internal, owner) VALUES (?,?,?,?,?,?,?,?,?,?) ';

const sql = {
  // A run that a minion reported is overwritten by a job of the master.
  job:
    `${insertJob}ON CONFLICT (jid) DO UPDATE SET load = excluded.load, expected = excluded.expected, fun = excluded.fun, ` +
    "tgt = excluded.tgt, tgt_type = excluded.tgt_type, user = excluded.user, owner = excluded.owner WHERE user = excluded.user OR load ->> '$.cmd' = '_return'",
  adopted: `${insertJob}ON CONFLICT DO NOTHING`,
  // A job that is written again keeps its time, kind and user: no other user can overwrite it.
  head:
    'INSERT OR REPLACE INTO head (jid, plain, fun, tgt, meta, text) ' +
    'SELECT jid, ?, ?, ?, ?, ? FROM job WHERE jid = ? AND internal = 0',
  odd: 'INSERT OR IGNORE INTO odd (jid) VALUES (?)',
  ret:
    'INSERT INTO ret (jid, id, fun, retcode, success, full_ret, received, attempt, place, digest, via) VALUES (?,?,?,?,?,?,?,?,?,?,?) ' +
    'ON CONFLICT (jid, id) DO UPDATE SET fun = excluded.fun, retcode = excluded.retcode, success = excluded.success, ' +
    'full_ret = excluded.full_ret, received = excluded.received, attempt = excluded.attempt, place = excluded.place, ' +
    'digest = excluded.digest, via = excluded.via WHERE excluded.attempt > ret.attempt',
  verdict:
    'INSERT INTO verdict (jid, id, verdict, reason, text, evidence, at) VALUES (?,?,?,?,?,?,?) ' +
    'ON CONFLICT (jid, id) DO UPDATE SET verdict = excluded.verdict, reason = excluded.reason, ' +
    'text = excluded.text, evidence = excluded.evidence, at = excluded.at',
  audit:
    'INSERT INTO audit (at, user, eauth, origin, agent, request, what, target, fun, result, jid, key, digest) ' +
    'VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)',
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

/** The text is the outcome of a frame as JSON. */
export type Write = (kind: WriteKind, data: Uint8Array) => string;
type Run = (name: keyof typeof sql, ...values: (string | number | null)[]) => number;
type Writes = Record<Exclude<WriteKind, 'frame' | 'repair'>, (row: Row) => Stored | undefined>;

/** Short results come as the text of the column, which is cheaper to pass than their values. */
const textOfReturn = ({ text, load }: Row): string => (typeof text === 'string' ? text : json(load as Dict));
const auditTexts = ['user', 'eauth', 'origin', 'agent', 'request', 'what', 'target', 'fun', 'result'];

const jobWrites = (run: Run): Pick<Writes, 'job' | 'return' | 'verdicts' | 'events' | 'audit'> => ({
  job(row) {
    const words = [text(row, 'jid'), text(row, 'fun'), text(row, 'tgt'), text(row, 'tgt_type'), text(row, 'user')];
    const lists = [json(row['load'] as Dict), json(row['expected'] as Value[])];
    const changes = run(
      row['adopted'] ? 'adopted' : 'job',
      ...words,
      ...lists,
      whole(row, 'started'),
      row['internal'] ? 1 : 0,
      wholeOrNone(row, 'owner'),
    );
    if (changes === 0) return 'duplicate';
    run('head', ...headOf(text(row, 'jid'), row['load'] as Dict));
    return 'stored';
  },
  return(row) {
    const load = textOfReturn(row);
    const jid = text(row, 'jid');
    const via = wholeOrNone(row, 'via');
    const changes = run(
      'ret',
      jid,
      text(row, 'id'),
      text(row, 'fun'),
      whole(row, 'retcode'),
      row['success'] ? 1 : 0,
      load,
      whole(row, 'received'),
      wholeOrNone(row, 'attempt') ?? 1,
      // Without a cluster there is neither place nor digest.
      via === null ? 0 : (wholeOrNone(row, 'place') ?? -1),
      via === null ? null : digestOf(load),
      via,
    );
    if (changes > 0 && endless.test(load)) run('odd', jid);
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
  audit(given) {
    for (const row of rowsOf(given))
      run(
        'audit',
        whole(row, 'at'),
        ...auditTexts.map((name) => text(row, name)),
        ...['jid', 'key', 'digest'].map((name) => optional(row, name)),
      );
    return 'stored';
  },
});

const minionWrites = (run: Run): Omit<Writes, 'job' | 'return' | 'verdicts' | 'events' | 'audit'> => ({
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
  const ledger = frameWrites(db, {
    job: (job) => writes.job(job as unknown as Row),
    return: (ret) => writes.return(ret as unknown as Row),
    verdicts: (rows) => writes.verdicts({ rows: rows as unknown as Value[] }),
  });
  return (kind, data) => {
    const row = unpack(data) as Row;
    if (kind === 'frame') return JSON.stringify(ledger.frame(row as unknown as StoredFrame));
    if (kind === 'repair') return JSON.stringify(ledger.repair(rowsOf(row) as unknown as ComparedRow[]));
    return writes[kind](row) ?? 'stored';
  };
}
