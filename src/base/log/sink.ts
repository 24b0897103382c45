// A receiver of log lines.
import type { LogMethod } from './levels.ts';

export interface Sink {
  /** Writes one complete line, given without line break. */
  write(line: string, method: LogMethod): void;
  /** Resolves when all lines so far are written, or after a deadline. */
  flush(): Promise<void>;
  /** Writes the remaining lines synchronously while the process ends. */
  flushSync(): void;
  /** Opens the target again, after log rotation. */
  reopen(): void;
  close(): Promise<void>;
}
