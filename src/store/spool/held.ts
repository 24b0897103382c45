// A spool that one process writes and reads: records that wait until a peer takes them.
import type { Logger } from '../../base/log/index.ts';
import { type ReadLimits, SpoolReader } from './reader.ts';
import { SpoolWriter } from './writer.ts';

const mostBytes = 64 * 1024 * 1024 * 1024;

export interface HeldRecords {
  readonly first: number;
  readonly next: number;
  readonly bytes: number;
  append(record: Uint8Array): Promise<number>;
  peek(limits: Omit<ReadLimits, 'upTo'>): ReturnType<SpoolReader['peek']>;
  delivered(next: number): void;
}

export async function openHeldSpool(
  folder: string,
  log: Pick<Logger, 'error' | 'info'>,
): Promise<{ spool: HeldRecords; close(): Promise<void> }> {
  const writer = await SpoolWriter.open(folder, {
    // As much as the disk takes: nothing that minions were told is stored may be dropped.
    maxBytes: mostBytes,
    damaged: (file) =>
      log.error('results that wait for the cluster were damaged: the rest of the file is set aside', { file }),
    trouble: (text) => {
      if (text === undefined) log.info('results that wait for the cluster can be written again');
      else log.error('results that wait for the cluster cannot be written', { error: text });
    },
  });
  const reader = new SpoolReader(folder);
  const spool: HeldRecords = {
    get first() {
      return reader.position;
    },
    get next() {
      return writer.next;
    },
    get bytes() {
      return reader.position >= writer.next ? 0 : writer.bytes;
    },
    append: (record) => writer.append(record),
    peek: (limits) => reader.peek({ ...limits, upTo: writer.next }),
    delivered: (next) => {
      if (reader.delivered(next)) writer.delivered();
    },
  };
  const close = async (): Promise<void> => {
    await writer.close();
    reader.close();
  };
  return { spool, close };
}
