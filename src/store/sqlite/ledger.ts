// Frames of the ledger of a cluster, as rows of this store: the same rows on every member, in whatever order its own
// writes and the frames of others arrive.
import { createHash } from 'node:crypto';
import { dumpJson, parseDict, parseValue } from '../../base/codec/json/index.ts';
import { asList, type Dict } from '../../base/codec/value.ts';
import { exitCode, type JobReturn, saysSuccess } from '../../protocol/job/job-return.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { readJobReturn } from '../../protocol/wire/messages/job-return.ts';
import type {
  AppliedFrame,
  ComparedRow,
  Conflict,
  FrameItem,
  JobRecord,
  ReturnRecord,
  StoredFrame,
  VerdictRecord,
} from '../jobs.ts';
import { storedJob } from '../records.ts';
import type { Database, SqlValue } from './driver.ts';

export type Stored = 'stored' | 'duplicate';

/** Equal for equal results, on every member. */
export const digestOf = (written: string): string =>
  createHash('sha256').update(written).digest('base64url').slice(0, 11);

/** Numbers that SQLite does not accept unchanged; a match inside a text only costs time. */
export const endless = /NaN|Infinity/;

export const positionKey = 'ledger_position';

const sql = {
  place: 'UPDATE ret SET place = ? WHERE jid = ? AND id = ? AND attempt = ? AND place < 0 AND via = ?',
  there: 'SELECT attempt, place, via, full_ret FROM ret WHERE jid = ? AND id = ?',
  replace:
    'UPDATE ret SET fun = ?, retcode = ?, success = ?, full_ret = ?, received = ?, place = ?, digest = ?, via = ? WHERE jid = ? AND id = ?',
  odd: 'INSERT OR IGNORE INTO odd (jid) VALUES (?)',
  known: 'SELECT expected, tgt AS minion, load FROM job WHERE jid = ?',
  expect: 'UPDATE job SET expected = ? WHERE jid = ?',
  verdict: 'SELECT 1 FROM verdict WHERE jid = ? AND id = ?',
  position: `INSERT OR REPLACE INTO meta (key, value) VALUES ('${positionKey}', ?)`,
} as const;

/** The ordinary writes, which frames use too. */
export interface RowWrites {
  job(row: JobRecord): Stored | undefined;
  return(row: ReturnRecord & { readonly place: number }): Stored | undefined;
  verdicts(rows: readonly VerdictRecord[]): Stored | undefined;
}

type ReturnItem = Extract<FrameItem, { kind: 'ret' }>;

export interface FrameWrites {
  frame(frame: StoredFrame): AppliedFrame;
  /** Rows that other members have: only what is not here is added. */
  repair(rows: readonly ComparedRow[]): AppliedFrame;
}

export function frameWrites(db: Database, writes: RowWrites): FrameWrites {
  const prepared = Object.fromEntries(Object.entries(sql).map(([name, text]) => [name, db.prepare(text)]));
  const run = (name: keyof typeof sql, ...values: SqlValue[]): number => prepared[name]?.run(...values).changes ?? 0;
  const get = (name: keyof typeof sql, ...values: SqlValue[]): Record<string, SqlValue> | undefined =>
    prepared[name]?.get(...values);

  const takeReturn = (
    item: ReturnItem,
    { place, from, own }: Pick<StoredFrame, 'place' | 'from' | 'own'>,
  ): 'fresh' | 'known' | Conflict => {
    const { jid, id, attempt, fun, retcode, received, load } = item;
    if (own && run('place', place, jid, id, attempt, from) > 0) return 'known';
    if (writes.return({ ...item, via: from, place }) === 'stored') return 'fresh';
    const there = get('there', jid, id);
    if (!there || Number(there['attempt']) > attempt) return 'known';
    const [written, before] = [dumpJson(load, { ensureAscii: false }), String(there['full_ret'])];
    const known = Number(there['place']);
    if (known < 1 || place < known) {
      const words = [fun, retcode, item.success ? 1 : 0, written];
      run('replace', ...words, received, place, digestOf(written), from, jid, id);
      if (endless.test(written)) run('odd', jid);
    }
    if (written === before || sameOutcome(load, parseDict(before))) return 'known';
    return { jid, id, via: [there['via'] === null ? null : Number(there['via']), from] };
  };

  /** The record of a run that a minion reported is that of every minion that ran it in the same microsecond. */
  const takeOwnRun = (job: JobRecord): void => {
    const known = get('known', job.jid);
    if (!known) {
      writes.job({ ...job, adopted: true });
      return;
    }
    if (storedJob(parseDict(known['load']))?.startedBy === undefined) return;
    const before = asList(parseValue(String(known['expected']))) ?? [];
    const all = [...new Set([...before.map(String), ...job.expected])].sort();
    // The same record on every member: that of the first minion by name.
    if (job.tgt < String(known['minion'])) writes.job({ ...job, adopted: false });
    run('expect', dumpJson(all, { ensureAscii: false }), job.jid);
  };

  const frame = (given: StoredFrame): AppliedFrame => {
    const [fresh, conflicts]: [number[], Conflict[]] = [[], []];
    for (const [at, item] of given.items.entries()) {
      if (item.kind === 'ret') {
        const outcome = takeReturn(item, given);
        if (outcome === 'fresh') fresh.push(at);
        else if (outcome !== 'known') conflicts.push(outcome);
      } else if (item.kind === 'verdict') writes.verdicts([item]);
      else if (item.kind === 'own') takeOwnRun(item.job);
      // The owner has the newest record of its job.
      else if (!given.own) writes.job(item.job);
    }
    run('position', given.position);
    return { fresh, conflicts };
  };

  const add = (row: ComparedRow): Stored | undefined | Conflict => {
    if (row.kind === 'job') return writes.job({ ...row.job, adopted: true });
    if (row.kind === 'verdict') return get('verdict', row.jid, row.id) ? 'duplicate' : writes.verdicts([row]);
    if (row.place < 1 || row.via === undefined) return writes.return({ ...row, place: 0 });
    const outcome = takeReturn(row, { place: row.place, from: row.via, own: false });
    if (typeof outcome === 'object') return outcome;
    return outcome === 'fresh' ? 'stored' : 'duplicate';
  };

  const repair = (rows: readonly ComparedRow[]): AppliedFrame => {
    const [fresh, conflicts]: [number[], Conflict[]] = [[], []];
    for (const [at, row] of rows.entries()) {
      const outcome = add(row);
      if (outcome === 'stored') fresh.push(at);
      else if (typeof outcome === 'object') conflicts.push(outcome);
    }
    return { fresh, conflicts };
  };
  return { frame, repair };
}

/** Two deliveries of one result may name different masters; what the minion says is the same. */
function sameOutcome(a: Dict, b: Dict): boolean {
  const [one, other] = [readJobReturn(a), readJobReturn(b)];
  if (isProblem(one) || isProblem(other)) return false;
  return outcome(one) === outcome(other);
}

const outcome = (ret: JobReturn): string => dumpJson([ret.return, exitCode(ret), saysSuccess(ret)]);
