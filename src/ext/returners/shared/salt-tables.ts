// The tables `jids`, `salt_returns` and `salt_events` as Salt's SQL returners fill and read them.

import {
  isDict,
  type JobCache,
  type PlainDict,
  pyStr,
  type ReturnerSession,
  type StoredEvent,
  type Value,
} from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import { jidOf } from 'halite/sdk/jobs';
import {
  type Dialect,
  inTurn,
  type SqlClient,
  type SqlRow,
  type SqlRun,
  type SqlValue,
} from '../../shared/sql/sql-client.ts';
import { fromJson, plainDict, textField } from './loads.ts';
import { asReturned, asStored, eventOf } from './runner-returns.ts';
import { unwritten } from './written-events.ts';

/** The columns of the tables; the plain form is that of mysql, pgsql and pgjsonb. */
export interface TableShape {
  returnRow(ret: PlainDict): Record<string, SqlValue>;
  /** Columns read back, besides `id`. */
  readonly returnColumns: readonly string[];
  readReturn(row: SqlRow): PlainDict | undefined;
  loadRow(jid: string, load: PlainDict): Record<string, SqlValue>;
  readonly loadColumns: readonly string[];
  readLoad(row: SqlRow): PlainDict | undefined;
  /** The column with the time of a return. */
  readonly timeColumn: string;
  /** No events are kept. */
  readonly noEvents?: boolean;
}

/** Keeps statements below the packet size of databases; a single row may be larger. */
const statementBytes = 1_000_000;
const statementRows = 200;
/** Column widths of Salt's tables. Longer names are truncated in these columns only. */
const funWidth = 50;
const tagWidth = 255;

/** JSON for every table: characters beyond 16 bits are escaped, because MySQL's `utf8` cannot store them. */
export const sqlJson = (value: Value): string =>
  dumpJson(value, { ensureAscii: false }).replace(
    /[\ud800-\udfff]/g,
    (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export function funOf(ret: PlainDict): string {
  const fun = ret['fun'];
  return (Array.isArray(fun) ? fun.map(pyStr).join(',') : textField(ret, 'fun')).slice(0, funWidth);
}

/** Whether a job succeeded: Salt's runners have this only inside their return, others have an exit status. */
export function successOf(ret: PlainDict): boolean {
  const said = truth(ret['success']);
  if (said !== undefined) return said;
  return truth(eventOf(ret)?.['success']) ?? ret['retcode'] === 0;
}

/** Several functions in one job succeed together. */
function truth(value: Value | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const all = Array.isArray(value)
    ? value
    : isDict(value)
      ? [...(value instanceof Map ? value.values() : Object.values(value))]
      : [];
  return all.length > 0 && all.every((item) => typeof item === 'boolean') ? !all.includes(false) : undefined;
}

export function plainShape(dialect: Dialect): TableShape {
  const json = (value: Value) => dialect.json(sqlJson(value));
  return {
    returnRow: (given) => {
      const ret = asStored(given);
      return {
        fun: funOf(ret),
        jid: textField(ret, 'jid'),
        return: json(ret['return'] ?? null),
        id: textField(ret, 'id'),
        success: dialect.success(successOf(ret)),
        full_ret: json(ret),
      };
    },
    returnColumns: ['full_ret'],
    readReturn: (row) => asReturned(plainDict(fromJson(String(row['full_ret'])))),
    loadRow: (jid, load) => ({ jid, load: json(load) }),
    loadColumns: ['load'],
    readLoad: (row) => plainDict(fromJson(String(row['load']))),
    timeColumn: 'alter_time',
  };
}

export interface TableOptions {
  readonly client: SqlClient;
  readonly dialect: Dialect;
  readonly shape?: TableShape;
  /** Written with events. */
  readonly masterId: string;
  /** `archive_jobs`: removed rows are copied to `…_archive` tables. */
  readonly archive?: boolean;
}

/** A session over Salt's tables. */
export function tableSession(options: TableOptions): ReturnerSession {
  const { client, dialect, masterId } = options;
  const shape = options.shape ?? plainShape(dialect);
  // Another write of this session must not come between the search for duplicates and the write.
  const turn = inTurn();
  const saveMany = (rets: readonly PlainDict[]) =>
    turn(() => (rets.length === 0 ? Promise.resolve() : client.transaction((run) => keep(run, dialect, shape, rets))));
  const saveEvents = (events: readonly StoredEvent[]) =>
    turn(async () => {
      if (events.length === 0) return;
      const rows = events.map(({ tag, data }) => ({
        tag: tag.slice(0, tagWidth),
        data: dialect.json(sqlJson(data)),
        master_id: masterId,
      }));
      // Existing tables may have no column `id`: then duplicates cannot be searched.
      const fresh = await unwritten(client, dialect, events, rows).catch(() => rows);
      await client.transaction((run) =>
        insert(
          run,
          dialect,
          'salt_events',
          fresh.map((row) => ({ ...row })),
        ),
      );
    });
  return {
    save: (ret) => saveMany([ret]),
    saveMany,
    ...(shape.noEvents ? {} : { saveEvents }),
    jobCache: tableCache(options, shape, turn),
    close: () => client.close(),
  };
}

type Turn = ReturnType<typeof inTurn>;

function tableCache({ client, dialect, archive }: TableOptions, shape: TableShape, turn: Turn): JobCache {
  const { name, mark } = dialect;
  const column = (item: string) => `${dialect.asText(name(item))} AS ${name(item)}`;
  const loads = `SELECT ${name('jid')}, ${shape.loadColumns.map(column).join(', ')} FROM ${name('jids')}`;
  const returns = `SELECT ${['id', ...shape.returnColumns].map((item) => (item === 'id' ? name('id') : column(item))).join(', ')} FROM ${name('salt_returns')}`;
  const byMinion = (rows: readonly SqlRow[]) => toMap(rows, 'id', shape.readReturn);
  return {
    saveLoad: (jid, load) =>
      turn(() => insert(client.run, dialect, 'jids', [shape.loadRow(jid, load)], dialect.unlessThere)),
    async load(jid) {
      const [row] = await client.run(`${loads} WHERE ${name('jid')} = ${mark(1)}`, [jid]);
      return row ? shape.readLoad(row) : undefined;
    },
    returns: async (jid) => byMinion(await client.run(`${returns} WHERE ${name('jid')} = ${mark(1)}`, [jid])),
    async lastOf(fun) {
      const wanted = fun.slice(0, funWidth);
      const newest = `SELECT ${name('id')}, MAX(${name('jid')}) FROM ${name('salt_returns')} WHERE ${name('fun')} = ${mark(2)} GROUP BY ${name('id')}`;
      const which = `(${name('id')}, ${name('jid')}) IN (${newest})`;
      return byMinion(await client.run(`${returns} WHERE ${name('fun')} = ${mark(1)} AND ${which}`, [wanted, wanted]));
    },
    jids: async () => toMap(await client.run(`${loads} ORDER BY ${name('jid')}`), 'jid', shape.readLoad),
    async minions() {
      const rows = await client.run(`SELECT DISTINCT ${name('id')} FROM ${name('salt_returns')}`);
      return rows.map((row) => String(row['id'])).sort();
    },
    clean: (seconds) => turn(() => client.transaction((run) => clean(run, dialect, shape, seconds, archive === true))),
  };
}

function toMap(rows: readonly SqlRow[], key: string, read: (row: SqlRow) => PlainDict | undefined) {
  const found = new Map<string, PlainDict>();
  for (const row of rows) {
    const load = read(row);
    if (load) found.set(String(row[key]), load);
  }
  return found;
}

/** Writes results that are not stored yet, each once. */
async function keep(run: SqlRun, dialect: Dialect, shape: TableShape, rets: readonly PlainDict[]): Promise<void> {
  const { name } = dialect;
  const key = (jid: unknown, id: unknown) => `${String(jid)} ${String(id)}`;
  const rows = new Map<string, Record<string, SqlValue>>();
  for (const ret of rets) {
    const row = shape.returnRow(ret);
    const one = key(row['jid'], row['id']);
    if (!rows.has(one)) rows.set(one, row);
  }
  const marks = (values: readonly SqlValue[], from: number) =>
    values.map((_, at) => dialect.mark(from + at)).join(', ');
  for (const part of chunks([...rows.values()], () => 1)) {
    const jids = [...new Set(part.map((row) => row['jid']!))];
    const ids = [...new Set(part.map((row) => row['id']!))];
    const there = await run(
      `SELECT ${name('jid')}, ${name('id')} FROM ${name('salt_returns')} WHERE ${name('jid')} IN (${marks(jids, 1)}) AND ${name('id')} IN (${marks(ids, jids.length + 1)})`,
      [...jids, ...ids],
    );
    for (const row of there) rows.delete(key(row['jid'], row['id']));
  }
  await insert(run, dialect, 'salt_returns', [...rows.values()]);
}

/** Splits rows into statements of limited size and number. */
function chunks<T>(rows: readonly T[], size: (row: T) => number): T[][] {
  const parts: T[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const last = parts.at(-1);
    bytes += size(row);
    if (last && last.length < statementRows && bytes <= statementBytes) last.push(row);
    else {
      parts.push([row]);
      bytes = size(row);
    }
  }
  return parts;
}

const bytesOf = (row: Record<string, SqlValue>): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);

async function insert(
  run: SqlRun,
  dialect: Dialect,
  table: string,
  rows: readonly Record<string, SqlValue>[],
  ending = '',
): Promise<void> {
  for (const part of chunks(rows, bytesOf)) {
    const columns = Object.keys(part[0]!);
    const values = part.flatMap((row) => columns.map((column) => row[column]!));
    const tuples = part.map(
      (_, at) => `(${columns.map((__, within) => dialect.mark(at * columns.length + within + 1)).join(', ')})`,
    );
    const names = columns.map((column) => dialect.name(column)).join(', ');
    await run(`INSERT INTO ${dialect.name(table)} (${names}) VALUES ${tuples.join(', ')} ${ending}`.trimEnd(), values);
  }
}

/** Removes older jobs, after archiving them on request; returns their number. */
async function clean(
  run: SqlRun,
  dialect: Dialect,
  shape: TableShape,
  seconds: number,
  archive: boolean,
): Promise<number> {
  const { name, mark } = dialect;
  const older = (column: string) => `${name(column)} < ${dialect.ago(mark(1))}`;
  const jids = `${name('jid')} < ${mark(1)}`;
  const limit = jidOf((Date.now() - seconds * 1000) * 1000);
  const plans: [table: string, where: string, value: SqlValue][] = [
    ['jids', jids, limit],
    ['salt_returns', older(shape.timeColumn), seconds],
    ...(shape.noEvents ? [] : ([['salt_events', older('alter_time'), seconds]] as [string, string, SqlValue][])),
  ];
  const [row] = await run(`SELECT COUNT(*) AS n FROM ${name('jids')} WHERE ${jids}`, [limit]);
  for (const [table, where, value] of plans) {
    if (archive) {
      await run(dialect.copyTable(name(`${table}_archive`), name(table)));
      await run(`INSERT INTO ${name(`${table}_archive`)} SELECT * FROM ${name(table)} WHERE ${where}`, [value]);
    }
    await run(`DELETE FROM ${name(table)} WHERE ${where}`, [value]);
  }
  return Number(row?.['n'] ?? 0);
}
