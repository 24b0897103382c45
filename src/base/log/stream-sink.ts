// Writes lines to an open descriptor such as stderr.
import { BatchWriter } from './batch-writer.ts';
import type { Sink } from './sink.ts';

export function streamSink(fd = 2, dropped?: (count: number) => string): Sink {
  const writer = new BatchWriter({ fd: () => fd }, dropped);
  return {
    write: (line) => writer.add(`${line}\n`),
    flush: () => writer.flush(),
    flushSync: () => writer.flushSync(),
    reopen: () => {},
    close: () => writer.flush(),
  };
}
