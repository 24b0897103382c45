// Worker thread for reading: long queries run here, beside the writer, so neither waits for the other.
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors/index.ts';
import { troubleOf } from './damage.ts';
import { openDatabase, type SqlValue } from './driver.ts';
import { joinPairs } from './pairs.ts';

export interface ReadRequest {
  readonly seq: number;
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** The columns `name` and `data` as joined texts. */
  readonly joined?: boolean;
  /** Large blobs in the answer: they move to the asker instead of being copied. */
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

const port = parentPort;
if (!port) throw new Error('the store reader is a worker thread');
const db = await openDatabase((workerData as { file: string }).file, { readonly: true });
port.on('message', (request: ReadRequest) => {
  try {
    const found = db.prepare(request.sql).all(...request.values);
    const rows = request.joined ? joinPairs(found) : found;
    port.postMessage({ seq: request.seq, rows } satisfies ReadAnswer, request.moved ? buffersIn(found) : []);
  } catch (error) {
    const damaged = troubleOf(error) === 'damaged';
    port.postMessage({ seq: request.seq, error: messageOf(error), damaged } satisfies ReadAnswer);
  }
});
