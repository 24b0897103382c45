// The embedded job store: SQLite in cachedir, one writer and one reader thread, JSON columns that plain SQL can ask.
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadJson } from '../../base/codec/json/index.ts';
import { pack } from '../../base/codec/msgpack/index.ts';
import { type Dict, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { matchesGlob } from '../../base/util/fnmatch.ts';
import type { JobFilter, JobSummary } from '../../extend/sdk/context.ts';
import type {
  JobRecord,
  JobStore,
  MinionData,
  PendingDelivery,
  Retention,
  ReturnRecord,
  VerdictRecord,
} from '../jobs.ts';
import type { SqlValue } from './driver.ts';
import { Reader, Writer } from './workers.ts';

const parse = (text: SqlValue | undefined): Dict => {
  const value = loadJson(String(text ?? '{}'));
  return isDict(value) ? value : newDict();
};

export class SqliteJobStore implements JobStore {
  readonly description: string;
  readonly #writer: Writer;
  readonly #reader: Reader;

  private constructor(file: string, writer: Writer) {
    this.description = `sqlite ${file}`;
    this.#writer = writer;
    this.#reader = new Reader(file);
  }

  static async open(file: string): Promise<SqliteJobStore> {
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    // Results may hold secrets: the file is private from its first byte on, and SQLite's side files follow its mode.
    closeSync(openSync(file, 'a', 0o600));
    return new SqliteJobStore(file, await Writer.open(file));
  }

  async saveJob(job: JobRecord): Promise<void> {
    await this.#writer.write('job', pack(job as unknown as Dict));
  }

  async saveReturn(ret: ReturnRecord): Promise<'stored' | 'duplicate'> {
    return (await this.#writer.write('return', pack(ret as unknown as Dict))) as 'stored' | 'duplicate';
  }

  async saveVerdicts(verdicts: readonly VerdictRecord[]): Promise<void> {
    await this.#writer.write('verdicts', pack({ rows: verdicts as unknown as Value[] }));
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
    return new Map(rows.map((row) => [String(row['id']), parse(row['data'])]));
  }

  async loadMinionData(): Promise<Map<string, MinionData>> {
    const rows = await this.#reader.all('SELECT id, grains, pillar FROM minion_data');
    return new Map(
      rows.map((row) => [String(row['id']), { grains: parse(row['grains']), pillar: parse(row['pillar']) }]),
    );
  }

  async load(jid: string): Promise<Dict | undefined> {
    const [row] = await this.#reader.all('SELECT load FROM job WHERE jid = ?', jid);
    return row && parse(row['load']);
  }

  async expected(jid: string): Promise<string[]> {
    const [row] = await this.#reader.all('SELECT expected FROM job WHERE jid = ?', jid);
    const ids = row ? loadJson(String(row['expected'])) : [];
    return Array.isArray(ids) ? ids.map(String) : [];
  }

  async returns(jid: string): Promise<Map<string, Dict>> {
    const rows = await this.#reader.all('SELECT id, full_ret FROM ret WHERE jid = ? ORDER BY received', jid);
    return new Map(rows.map((row) => [String(row['id']), parse(row['full_ret'])]));
  }

  async verdicts(jid: string): Promise<VerdictRecord[]> {
    const rows = await this.#reader.all('SELECT * FROM verdict WHERE jid = ? ORDER BY id', jid);
    return rows.map((row) => ({
      jid,
      id: String(row['id']),
      verdict: String(row['verdict']),
      reason: String(row['reason']),
      text: String(row['text']),
      evidence: parse(row['evidence']),
      at: Number(row['at']),
    }));
  }

  async list(filter: JobFilter): Promise<JobSummary[]> {
    const where: string[] = [];
    const values: SqlValue[] = [];
    const add = (condition: string, ...given: SqlValue[]): void => {
      where.push(condition);
      values.push(...given);
    };
    if (!filter.internal) add('internal = 0');
    if (filter.startAfter) add('started >= ?', filter.startAfter.getTime());
    if (filter.startBefore) add('started <= ?', filter.startBefore.getTime());
    const condition = where.length > 0 ? `WHERE ${where.join(' AND ')}` : '';
    const limit = filter.limit && !filter.functions && !filter.targets ? ` LIMIT ${Math.trunc(filter.limit)}` : '';
    const rows = await this.#reader.all(
      `SELECT jid, fun, tgt, load FROM job ${condition} ORDER BY jid DESC${limit}`,
      ...values,
    );
    const wanted = rows.filter((row) => named(filter.functions, row['fun']) && named(filter.targets, row['tgt']));
    const summaries = wanted.map((row) => ({ jid: String(row['jid']), load: parse(row['load']) }));
    return filter.limit ? summaries.slice(0, filter.limit) : summaries;
  }

  async query(sql: string, parameters: readonly Value[] = []): Promise<Dict[]> {
    const values = parameters.map((value): SqlValue => {
      if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
        return value;
      throw new HaliteError('call.arguments', 'a query parameter must be text or a number');
    });
    const rows = await this.#reader.all(sql, ...values);
    return rows.map((row) => newDict(Object.entries(row)) as PlainDict);
  }

  async clean(retention: Retention): Promise<{ jobs: number }> {
    const { keepSeconds, maxBytes } = retention;
    return { jobs: Number(await this.#writer.write('clean', pack({ keepSeconds, maxBytes }))) };
  }

  async close(): Promise<void> {
    await this.#reader.close();
    await this.#writer.close();
  }
}

/** Salt's list_jobs filters are globs; none given means all. */
function named(globs: readonly string[] | undefined, value: SqlValue | undefined): boolean {
  return !globs || globs.some((glob) => matchesGlob(String(value ?? ''), glob));
}
