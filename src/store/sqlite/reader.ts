// Worker thread for reading: long queries run here, in parallel to the writer, so neither waits for the other.
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors/index.ts';
import { answerHash } from './answer-hash.ts';
import { troubleOf } from './damage.ts';
import { openDatabase, type SqlValue } from './driver.ts';
import { jobFits } from './job-fits.ts';
import { digestOf } from './ledger.ts';
import { joinPairs } from './pairs.ts';

export interface ReadRequest {
  readonly seq: number;
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** The columns `name` and `data` as joined texts. */
  readonly joined?: boolean;
  /** A query of a user: a result that does not fit into memory is refused. */
  readonly bounded?: boolean;
  /** Large blobs in the result: they are transferred to the caller instead of being copied. */
  readonly moved?: boolean;
}
export interface ReadAnswer {
  readonly seq: number;
  readonly rows?: Record<string, SqlValue>[] | string[];
  readonly error?: string;
  readonly damaged?: boolean;
}

const buffersIn = (rows: readonly Record<string, SqlValue>[]): ArrayBuffer[] =>
  rows.flatMap((row) =>
    Object.values(row).flatMap((value) =>
      value instanceof Uint8Array && value.byteLength === value.buffer.byteLength ? [value.buffer as ArrayBuffer] : [],
    ),
  );

const mostBytes = 64 * 1024 * 1024;

function someOf(rows: Iterable<Record<string, SqlValue>>): Record<string, SqlValue>[] {
  const found: Record<string, SqlValue>[] = [];
  let bytes = 0;
  for (const row of rows) {
    for (const value of Object.values(row)) bytes += 50 + (sizeOf(value) ?? 0);
    if (bytes > mostBytes) throw new Error(`the answer is larger than ${mostBytes >> 20} MB: ask for less, with LIMIT`);
    found.push(row);
  }
  return found;
}

const sizeOf = (value: SqlValue): number | undefined =>
  typeof value === 'string' ? value.length : value instanceof Uint8Array ? value.byteLength : undefined;

const port = parentPort;
if (!port) throw new Error('the store reader is a worker thread');
const db = await openDatabase((workerData as { file: string }).file, { readonly: true });
db.define('result_digest', (written) => digestOf(String(written)));
db.define('answer_hash', (written) => answerHash(String(written)));
db.define('job_fits', jobFits as (...values: SqlValue[]) => SqlValue);
port.on('message', (request: ReadRequest) => {
  try {
    const statement = db.prepare(request.sql);
    const found = request.bounded ? someOf(statement.iterate(...request.values)) : statement.all(...request.values);
    const rows = request.joined ? joinPairs(found) : found;
    port.postMessage({ seq: request.seq, rows } satisfies ReadAnswer, request.moved ? buffersIn(found) : []);
  } catch (error) {
    const damaged = troubleOf(error) === 'damaged';
    port.postMessage({ seq: request.seq, error: messageOf(error), damaged } satisfies ReadAnswer);
  }
});
