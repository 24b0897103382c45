// What members of a cluster compare and give each other, read in the reader thread.
import { parseDict, parseValue } from '../../base/codec/json/index.ts';
import { asList } from '../../base/codec/value.ts';
import type { ComparedRow, ComparedStore, RowKey, Tallied, TallyKind } from '../jobs.ts';
import type { SqlValue } from './driver.ts';
import { allCounted, hourLength, markKey, minuteLength, removedKey } from './tally.ts';
import type { Reader } from './workers.ts';

type Row = Record<string, SqlValue>;
type Key = Pick<RowKey, 'jid' | 'id'>;

/** Rows read at once: results may be long. */
const atOnce = 16;

const tables: Readonly<Record<TallyKind, string>> = {
  job: "(SELECT jid, '' AS id, 0 AS attempt, '' AS digest, 0 AS place FROM job)",
  ret: '(SELECT jid, id, attempt, coalesce(digest, result_digest(full_ret)) AS digest, place FROM ret)',
  verdict: "(SELECT jid, id, 0 AS attempt, '' AS digest, 0 AS place FROM verdict)",
};

export function comparedStore(reader: Reader): Omit<ComparedStore, 'addRows'> {
  const meta = async (key: string): Promise<string | undefined> => {
    const [row] = await reader.all('SELECT value FROM meta WHERE key = ?', key);
    return row && String(row['value']);
  };
  return {
    async tallies(from, to, minutes) {
      const rows = await reader.all(
        `SELECT kind, span, count, hash FROM tally WHERE span >= ? AND span <= ? AND length(span) = ?
         AND (SELECT value FROM meta WHERE key = '${markKey}') = '${allCounted}' ORDER BY span DESC, kind`,
        ...[from, `${to}~`, minutes ? minuteLength : hourLength],
      );
      if (rows.length === 0 && (await meta(markKey)) !== allCounted) return undefined;
      return rows.map(talliedOf);
    },
    removedTo: () => meta(removedKey),
    async keys(kind, span, most, after = { jid: span, id: '' }) {
      const rows = await reader.all(
        `SELECT * FROM ${tables[kind]} WHERE jid >= ? AND jid < ? AND (jid, id) > (?, ?) ORDER BY jid, id LIMIT ?`,
        ...[after.jid, `${span}~`, after.jid, after.id, most],
      );
      return rows.map(keyOf);
    },
    async known(kind, keys) {
      const given = JSON.stringify(keys.map(({ jid, id }) => [jid, id]));
      return (await reader.all(`SELECT k.* FROM ${wanted} JOIN ${tables[kind]} k USING (jid, id)`, given)).map(keyOf);
    },
    async rows(kind, keys) {
      const found: ComparedRow[] = [];
      for (let at = 0; at < keys.length; at += atOnce) {
        found.push(...(await someRows(reader, kind, keys.slice(at, at + atOnce))));
      }
      return found;
    },
  };
}

const wanted = '(SELECT value ->> 0 AS jid, value ->> 1 AS id FROM json_each(?))';

async function someRows(reader: Reader, kind: TallyKind, keys: readonly Key[]): Promise<ComparedRow[]> {
  const using = kind === 'job' ? 'USING (jid)' : 'USING (jid, id)';
  const sql = `SELECT t.* FROM ${wanted} CROSS JOIN ${kind} t ${using}`;
  const read = (some: readonly Key[]): Promise<Row[]> =>
    reader.query(sql, JSON.stringify(some.map(({ jid, id }) => [jid, id])));
  try {
    return (await read(keys)).map((row) => rowOf(kind, row));
  } catch (error) {
    // Together they are too long.
    if (keys.length === 1) throw error;
    const found: ComparedRow[] = [];
    for (const key of keys) found.push(...(await read([key])).map((row) => rowOf(kind, row)));
    return found;
  }
}

const talliedOf = (row: Row): Tallied => ({
  kind: row['kind'] as TallyKind,
  span: String(row['span']),
  count: Number(row['count']),
  hash: String(row['hash']),
});

const keyOf = (row: Row): RowKey => ({
  ...{ jid: String(row['jid']), id: String(row['id']), attempt: Number(row['attempt']) },
  ...{ digest: String(row['digest']), place: Number(row['place']) },
});

function rowOf(kind: TallyKind, row: Row): ComparedRow {
  const text = (name: string): string => String(row[name]);
  const [jid, id, fun] = [text('jid'), text('id'), text('fun')];
  if (kind === 'job') {
    const [tgt, tgt_type, user, load] = [text('tgt'), text('tgt_type'), text('user'), parseDict(row['load'])];
    const expected = (asList(parseValue(text('expected'))) ?? []).map(String);
    const owner = row['owner'] === null ? {} : { owner: Number(row['owner']) };
    const [started, internal] = [Number(row['started']), row['internal'] === 1];
    return { kind, job: { jid, fun, tgt, tgt_type, user, load, expected, started, internal, ...owner } };
  }
  if (kind === 'verdict') {
    const words = { verdict: text('verdict'), reason: text('reason'), text: text('text') };
    return { kind, jid, id, ...words, evidence: parseDict(row['evidence']), at: Number(row['at']) };
  }
  return {
    ...{ kind, jid, id, fun, load: parseDict(row['full_ret']), attempt: Number(row['attempt']) },
    ...{ retcode: Number(row['retcode']), success: row['success'] === 1, received: Number(row['received']) },
    place: Math.max(0, Number(row['place'])),
    ...(row['via'] === null ? {} : { via: Number(row['via']) }),
  };
}
