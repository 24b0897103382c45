// Worker thread for reading: long queries run here, beside the writer, so neither waits for the other.
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors/index.ts';
import { openDatabase, type SqlValue } from './driver.ts';

export interface ReadRequest {
  readonly seq: number;
  readonly sql: string;
  readonly values: readonly SqlValue[];
}
export interface ReadAnswer {
  readonly seq: number;
  readonly rows?: Record<string, SqlValue>[];
  readonly error?: string;
}

const port = parentPort;
if (!port) throw new Error('the store reader is a worker thread');
const db = await openDatabase((workerData as { file: string }).file, { readonly: true });
port.on('message', (request: ReadRequest) => {
  try {
    port.postMessage({ seq: request.seq, rows: db.prepare(request.sql).all(...request.values) } satisfies ReadAnswer);
  } catch (error) {
    port.postMessage({ seq: request.seq, error: messageOf(error) } satisfies ReadAnswer);
  }
});
