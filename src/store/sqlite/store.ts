// The embedded job store: SQLite in cachedir, one writer and one reader thread, JSON columns that plain SQL can query.
import { closeSync, fchmodSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { type JsonText, parseDict, parseValue } from '../../base/codec/json/index.ts';
import { pack } from '../../base/codec/msgpack/index.ts';
import { asList, type Dict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { JobFilter, JobSummary } from '../../extend/sdk/context.ts';
import { hasConditions, jidRange, jobTest, traitsOf } from '../../extend/sdk/job-filter.ts';
import type {
  AppliedFrame,
  AuditRecord,
  ComparedRow,
  ComparedStore,
  EventRecord,
  JobRecord,
  JobStore,
  LedgerStore,
  MinionData,
  PendingDelivery,
  Retention,
  ReturnRecord,
  StoredFrame,
  StoreHealth,
  StoreLoad,
  UnfinishedJob,
  VerdictRecord,
} from '../jobs.ts';
import { comparedStore } from './compare.ts';
import type { SqlValue, StoreSync } from './driver.ts';
import { shortJson } from './json.ts';
import { positionKey } from './ledger.ts';
import { Reader, Writer } from './workers.ts';
import { listText, returnsText } from './written.ts';

export interface SqliteOptions {
  /** For the column `master_id` of salt_events. */
  readonly masterId?: string;
  /** Number of events to keep while more arrive; `clean` may set another number. */
  readonly keepEvents?: number;
  /** Of a member of a cluster: rows are counted, to be compared with those of others. */
  readonly shared?: boolean;
  readonly sync?: StoreSync;
  /** Something the operator should know: reported once when it begins and once when it ends. */
  readonly news?: (level: 'error' | 'info', text: string, fields: Record<string, string>) => void;
}

const unfinishedSql = `SELECT j.jid, j.fun, j.user, j.owner, json_group_array(e.value) AS ids
  FROM (SELECT jid, fun, user, expected, owner FROM job WHERE internal = 0 AND started BETWEEN ? AND ?
    AND coalesce(owner = ?, 1) ORDER BY started DESC LIMIT ?) j,
    json_each(j.expected) e
  WHERE NOT EXISTS (SELECT 1 FROM ret r WHERE r.jid = j.jid AND r.id = e.value)
    AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.jid = j.jid AND v.id = e.value AND v.reason <> '')
    AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.jid = j.jid AND p.id = e.value)
  GROUP BY j.jid`;

export class SqliteJobStore implements JobStore, LedgerStore, ComparedStore {
  readonly description: string;
  #writer!: Writer;
  readonly #reader: Reader;
  readonly #options: SqliteOptions;
  readonly #compared: Omit<ComparedStore, 'addRows'>;
  #health: StoreHealth = {};

  private constructor(file: string, options: SqliteOptions) {
    this.description = `sqlite ${file}`;
    this.#options = options;
    this.#reader = new Reader(file, () => this.#writer.check());
    this.#compared = comparedStore(this.#reader);
  }

  static async open(file: string, options: SqliteOptions = {}): Promise<SqliteJobStore> {
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    // Results may contain secrets: the file is private from its first byte on, and SQLite's side files have the same
    // mode.
    const handle = openSync(file, 'a', 0o600);
    fchmodSync(handle, 0o600);
    closeSync(handle);
    const store = new SqliteJobStore(file, options);
    const { masterId = 'master', keepEvents = Number.MAX_SAFE_INTEGER, shared = false, sync = 'normal' } = options;
    store.#writer = await Writer.open(
      file,
      { masterId, keepEvents, shared, sync },
      {
        trouble: (text) => store.#troubled(text),
        moved: (aside, why) => store.#moved(aside, why),
      },
    );
    return store;
  }

  health(): StoreHealth {
    return this.#health;
  }

  writeLoad(): StoreLoad {
    return this.#writer.load();
  }

  #troubled(text: string | undefined): void {
    const { moved } = this.#health;
    this.#health = { ...(text ? { trouble: text, since: Date.now() } : {}), ...(moved ? { moved } : {}) };
    const fields = { store: this.description, ...(text ? { error: text } : {}) };
    if (!text) this.#options.news?.('info', 'the job store can be written again', fields);
    else this.#options.news?.('error', 'the job store cannot be written; jobs continue, results are queued', fields);
  }

  #moved(aside: string, why: string): void {
    this.#reader.reopen();
    if (aside === '') {
      const fields = { store: this.description, error: why };
      this.#options.news?.(
        'error',
        'the file of the job store was removed: its whole content was written again',
        fields,
      );
      return;
    }
    this.#health = { ...this.#health, moved: aside };
    this.#options.news?.('error', 'the job store was damaged: the old file was renamed, a new one is in use', {
      ...{ store: this.description, aside, error: why },
    });
  }

  async saveJob(job: JobRecord): Promise<void> {
    await this.#writer.write('job', pack(job as unknown as Dict));
  }

  saveReturn(ret: ReturnRecord): Promise<'stored' | 'duplicate'> {
    try {
      const text = shortJson(ret.load);
      const { load: _, ...row } = ret;
      const packed = pack((text === undefined ? ret : { ...row, text }) as unknown as Dict);
      return this.#writer.write('return', packed) as Promise<'stored' | 'duplicate'>;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async saveVerdicts(verdicts: readonly VerdictRecord[]): Promise<void> {
    await this.#writer.write('verdicts', pack({ rows: verdicts as unknown as Value[] }));
  }

  async saveEvents(events: readonly EventRecord[]): Promise<void> {
    await this.#writer.write('events', pack({ rows: events as unknown as Value[] }));
  }

  async saveAudit(records: readonly AuditRecord[]): Promise<void> {
    await this.#writer.write('audit', pack({ rows: records as unknown as Value[] }));
  }

  async saveMinionData(id: string, data: MinionData): Promise<void> {
    await this.#writer.write('minion', pack({ id, grains: data.grains, pillar: data.pillar }));
  }

  async dropMinionData(id: string): Promise<void> {
    await this.#writer.write('drop-minion', pack({ id }));
  }

  async savePending(deliveries: readonly PendingDelivery[]): Promise<void> {
    await this.#writer.write('pending', pack({ rows: deliveries as unknown as Value[] }));
  }

  async dropPending(jid: string, id: string): Promise<void> {
    await this.#writer.write('drop-pending', pack({ jid, id }));
  }

  async pending(): Promise<PendingDelivery[]> {
    const rows = await this.#reader.all('SELECT jid, id, until FROM pending ORDER BY jid, id');
    return rows.map((row) => ({ jid: String(row['jid']), id: String(row['id']), until: Number(row['until']) }));
  }

  async saveMine(id: string, data: Dict): Promise<void> {
    await this.#writer.write('mine', pack({ id, data }));
  }

  async loadMine(): Promise<Map<string, Dict>> {
    const rows = await this.#reader.all('SELECT id, data FROM mine');
    return new Map(rows.map((row) => [String(row['id']), parseDict(row['data'])]));
  }

  async loadMinionData(): Promise<Map<string, MinionData>> {
    const rows = await this.#reader.all('SELECT id, grains, pillar FROM minion_data');
    return new Map(
      rows.map((row) => [String(row['id']), { grains: parseDict(row['grains']), pillar: parseDict(row['pillar']) }]),
    );
  }

  async load(jid: string): Promise<Dict | undefined> {
    const [row] = await this.#reader.all('SELECT load FROM job WHERE jid = ?', jid);
    return row && parseDict(row['load']);
  }

  async expected(jid: string): Promise<string[]> {
    const [row] = await this.#reader.all('SELECT expected FROM job WHERE jid = ?', jid);
    const ids = row ? parseValue(String(row['expected'])) : [];
    return (asList(ids) ?? []).map(String);
  }

  async returns(jid: string): Promise<Map<string, Dict>> {
    const sql = 'SELECT id AS name, full_ret AS data FROM ret WHERE jid = ? ORDER BY received, id';
    return new Map(await this.#reader.pairs(sql, jid));
  }

  async hasReturn(jid: string, id: string): Promise<boolean> {
    return (await this.#reader.all('SELECT 1 FROM ret WHERE jid = ? AND id = ?', jid, id)).length > 0;
  }

  async verdicts(jid: string, id?: string): Promise<VerdictRecord[]> {
    const [only, values] = id === undefined ? ['', [jid]] : ['AND id = ?', [jid, id]];
    const rows = await this.#reader.all(`SELECT * FROM verdict WHERE jid = ? ${only} ORDER BY id`, ...values);
    return rows.map((row) => ({
      jid,
      id: String(row['id']),
      verdict: String(row['verdict']),
      reason: String(row['reason']),
      text: String(row['text']),
      evidence: parseDict(row['evidence']),
      at: Number(row['at']),
    }));
  }

  async unfinished({ from, to, most, owner }: Parameters<JobStore['unfinished']>[0]): Promise<UnfinishedJob[]> {
    const rows = await this.#reader.all(unfinishedSql, from, to, owner ?? null, most);
    return rows.map((row) => ({
      jid: String(row['jid']),
      fun: String(row['fun']),
      user: String(row['user']),
      ids: (parseValue(String(row['ids'])) as Value[]).map(String),
      ...(row['owner'] === null ? {} : { owner: Number(row['owner']) }),
    }));
  }

  async applyFrame(frame: StoredFrame): Promise<AppliedFrame> {
    return JSON.parse(String(await this.#writer.write('frame', pack(frame as unknown as Dict)))) as AppliedFrame;
  }

  async addRows(rows: readonly ComparedRow[]): Promise<AppliedFrame> {
    const packed = pack({ rows: rows as unknown as Value[] });
    return JSON.parse(String(await this.#writer.write('repair', packed))) as AppliedFrame;
  }

  tallies: ComparedStore['tallies'] = (...args) => this.#compared.tallies(...args);
  removedTo = (): Promise<string | undefined> => this.#compared.removedTo();
  keys: ComparedStore['keys'] = (...args) => this.#compared.keys(...args);
  known: ComparedStore['known'] = (...args) => this.#compared.known(...args);
  rows: ComparedStore['rows'] = (...args) => this.#compared.rows(...args);

  async ledgerPosition(): Promise<string | undefined> {
    const [row] = await this.#reader.all('SELECT value FROM meta WHERE key = ?', positionKey);
    return row && String(row['value']);
  }

  async unplaced(most: number, after = { jid: '', id: '' }): Promise<ReturnRecord[]> {
    const rows = await this.#reader.all(
      'SELECT * FROM ret WHERE place < 0 AND (jid, id) > (?, ?) ORDER BY jid, id LIMIT ?',
      ...[after.jid, after.id, most],
    );
    return rows.map((row) => ({
      ...{ jid: String(row['jid']), id: String(row['id']), fun: String(row['fun']), load: parseDict(row['full_ret']) },
      ...{ retcode: Number(row['retcode']), success: row['success'] === 1, received: Number(row['received']) },
      ...{ attempt: Number(row['attempt']), via: Number(row['via']) },
    }));
  }

  async receivers(jid: string): Promise<{ owner?: number; via: Map<string, number> }> {
    const [job] = await this.#reader.all('SELECT owner FROM job WHERE jid = ? AND owner IS NOT NULL', jid);
    const rows = await this.#reader.all('SELECT id, via FROM ret WHERE jid = ? AND via IS NOT NULL', jid);
    const via = new Map(rows.map((row) => [String(row['id']), Number(row['via'])]));
    return job ? { owner: Number(job['owner']), via } : { via };
  }

  async list(filter: JobFilter): Promise<JobSummary[]> {
    const where: string[] = [];
    const values: SqlValue[] = [];
    const add = (condition: string, ...given: SqlValue[]): void => {
      where.push(condition);
      values.push(...given);
    };
    add('jid BETWEEN ? AND ?', ...jidRange(filter));
    if (!filter.internal) add('internal = 0');
    const filtered = hasConditions(filter);
    const limit = filter.limit && !filtered ? ` LIMIT ${Math.trunc(filter.limit)}` : '';
    const sql = `SELECT jid AS name, load AS data FROM job WHERE ${where.join(' AND ')} ORDER BY jid DESC${limit}`;
    const found = await this.#reader.pairs(sql, ...values);
    const fits = jobTest(filter);
    const wanted = filtered ? found.filter(([, load]) => fits(traitsOf(load))) : found;
    const summaries = wanted.map(([jid, load]) => ({ jid, load }));
    return filter.limit ? summaries.slice(0, filter.limit) : summaries;
  }

  listText(filter: JobFilter): Promise<JsonText | undefined> {
    return listText(this.#reader, filter);
  }

  returnsText(jid: string): Promise<JsonText | undefined> {
    return returnsText(this.#reader, jid);
  }

  async query(sql: string, parameters: readonly Value[] = []): Promise<Dict[]> {
    const values = parameters.map((value): SqlValue => {
      if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
        return value;
      throw new HaliteError('call.arguments', 'a query parameter must be text or a number');
    });
    const rows = await this.#reader.query(sql, ...values);
    return rows.map((row) => newDict(Object.entries(row)) as PlainDict);
  }

  async clean(retention: Retention): Promise<{ jobs: number }> {
    return { jobs: Number(await this.#writer.clean({ keepEvents: Number.MAX_SAFE_INTEGER, ...retention })) };
  }

  async close(): Promise<void> {
    await this.#reader.close();
    await this.#writer.close();
  }
}
