// Count and XOR of a 64-bit hash of all rows by hour and by minute of their jid, so that members of a cluster find out
// cheaply where their histories differ. Kept by triggers of the writing connection, in the transaction of the rows.
//
// A store of before is counted in portions, in the order of jids: rows above the mark are not counted yet, and their
// triggers do nothing. Without a cluster there are no triggers, and what was counted is thrown away.
import { createHash } from 'node:crypto';
import type { TallyKind } from '../jobs.ts';
import type { Database, SqlValue } from './driver.ts';
import { digestOf } from './ledger.ts';

/** As in a jid: YYYYMMDDHH and YYYYMMDDHHMM. */
export const [hourLength, minuteLength] = [10, 12];

export const markKey = 'tallied';
/** Set when jobs were removed because of their size. */
export const removedKey = 'removed_to';
/** Above every jid: everything is counted. */
export const allCounted = '~';
const portion = 500;

/** Rows of before the cluster have no digest: it is made of the result. */
const digestOfRow = (digest: SqlValue, written: SqlValue): string =>
  typeof digest === 'string' ? digest : digestOf(String(written));

function hashOf(kind: string, jid: string, id: string, attempt: SqlValue, digest: string): Buffer {
  return createHash('sha256').update(`${kind}\0${jid}\0${id}\0${attempt}\0${digest}`).digest().subarray(0, 8);
}

/** Name, parameters and expression of what counts of a row: `NEW` or `OLD` stands for `$`. */
const counted: Readonly<Record<TallyKind, { readonly table: string; readonly values: string; readonly of: string }>> = {
  job: { table: 'job', values: "$.jid, '', 0, '', ''", of: 'jid' },
  ret: { table: 'ret', values: '$.jid, $.id, $.attempt, $.digest, $.full_ret', of: 'attempt, digest, full_ret' },
  verdict: { table: 'verdict', values: "$.jid, $.id, 0, '', ''", of: 'jid' },
};

const triggers = Object.entries(counted)
  .map(([kind, { table, values, of }]) => {
    const call = (row: string, sign: number): string =>
      `SELECT tally('${kind}', ${sign}, ${values.replaceAll('$', row)});`;
    return `
CREATE TEMP TRIGGER tally_${kind}_in AFTER INSERT ON main.${table} BEGIN ${call('NEW', 1)} END;
CREATE TEMP TRIGGER tally_${kind}_out AFTER DELETE ON main.${table} BEGIN ${call('OLD', -1)} END;
CREATE TEMP TRIGGER tally_${kind}_new AFTER UPDATE OF ${of} ON main.${table} BEGIN ${call('OLD', -1)} ${call('NEW', 1)} END;`;
  })
  .join('');

interface Change {
  count: number;
  readonly hash: Buffer;
}

export class Tally {
  readonly #db: Database;
  readonly #changes = new Map<string, Change>();
  /** Rows up to here are counted. */
  #mark: string;
  #next: string;
  #counting: string | undefined;

  constructor(db: Database) {
    this.#db = db;
    const row = db.prepare(`SELECT value FROM meta WHERE key = '${markKey}'`).get();
    this.#next = row ? String(row['value']) : '';
    this.#mark = this.#next;
    // A store that was used without a cluster meanwhile, or never with one.
    if (!row) db.exec('DELETE FROM tally');
    db.define('tally', (kind, sign, jid, id, attempt, digest, written) => {
      this.#add(String(kind), Number(sign), String(jid), String(id), attempt, digestOfRow(digest, written));
      return null;
    });
    db.exec(triggers);
  }

  /** A store without a cluster is not counted. */
  static forget(db: Database): void {
    db.exec(`DELETE FROM tally; DELETE FROM meta WHERE key = '${markKey}'`);
  }

  get isComplete(): boolean {
    return this.#mark === allCounted;
  }

  /** Called in the transaction of the rows, as its last step. */
  write(): void {
    if (this.#changes.size === 0) return;
    const find = this.#db.prepare('SELECT count, hash FROM tally WHERE kind = ? AND span = ?');
    const put = this.#db.prepare('INSERT OR REPLACE INTO tally (kind, span, count, hash) VALUES (?,?,?,?)');
    const drop = this.#db.prepare('DELETE FROM tally WHERE kind = ? AND span = ?');
    for (const [key, { count, hash }] of this.#changes) {
      const [kind = '', span = ''] = key.split(' ');
      const before = find.get(kind, span);
      if (before) xorInto(hash, Buffer.from(String(before['hash']), 'hex'));
      const total = count + Number(before?.['count'] ?? 0);
      if (total > 0) put.run(kind, span, total, hash.toString('hex'));
      else drop.run(kind, span);
    }
  }

  /** After the transaction: it was stored, or it was not. */
  done(stored: boolean): void {
    this.#changes.clear();
    if (stored) this.#mark = this.#next;
    else this.#next = this.#mark;
  }

  /** Counts some rows that were here before; in a transaction that ends with `write` and `done`. */
  step(): void {
    if (this.isComplete) return;
    const above = this.#mark;
    let to = allCounted;
    for (const { table } of Object.values(counted)) {
      const some = this.#db.prepare(`SELECT jid FROM ${table} WHERE jid > ? ORDER BY jid LIMIT ${portion}`).all(above);
      const last = some.length < portion ? allCounted : String(some.at(-1)?.['jid']);
      if (last < to) to = last;
    }
    this.#counting = to;
    for (const [kind, { table, values }] of Object.entries(counted)) {
      const call = `tally('${kind}', 1, ${values.replaceAll('$', 'r')})`;
      this.#db.prepare(`SELECT count(${call}) FROM ${table} r WHERE jid > ? AND jid <= ?`).get(above, to);
    }
    this.#counting = undefined;
    this.#next = to;
    this.#db.prepare(`INSERT OR REPLACE INTO meta (key, value) VALUES ('${markKey}', ?)`).run(to);
  }

  #add(kind: string, sign: number, jid: string, id: string, attempt: SqlValue, digest: string): void {
    if (jid > (this.#counting ?? this.#mark)) return;
    const hash = hashOf(kind, jid, id, attempt, digest);
    for (const length of [hourLength, minuteLength]) {
      const key = `${kind} ${jid.slice(0, length)}`;
      const change = this.#changes.get(key);
      if (!change) this.#changes.set(key, { count: sign, hash: Buffer.from(hash) });
      else {
        change.count += sign;
        xorInto(change.hash, hash);
      }
    }
  }
}

function xorInto(into: Buffer, other: Uint8Array): void {
  for (let at = 0; at < 8; at++) into[at]! ^= other[at] ?? 0;
}
