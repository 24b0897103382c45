// A logger that stores its lines in memory, for tests.
import { createLogger, type LoggerOptions, type RootLogger } from './create.ts';
import type { Sink } from './sink.ts';

export interface MemoryLog {
  readonly log: RootLogger;
  readonly lines: string[];
  /** For the console of another logger. */
  readonly sink: Sink;
}

/** All lines are stored unless a level is given. */
export function memoryLogger(options: LoggerOptions = {}): MemoryLog {
  const lines: string[] = [];
  const consoleSink: Sink = {
    write: (line) => void lines.push(line),
    flush: async () => {},
    flushSync: () => {},
    reopen: () => {},
    close: async () => {},
  };
  return { lines, sink: consoleSink, log: createLogger({ level: 'all', ...options, consoleSink }) };
}
