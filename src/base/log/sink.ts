// What receives log lines.
import type { LogMethod } from './levels.ts';

export interface Sink {
  /** Takes one finished line, without line break. */
  write(line: string, method: LogMethod): void;
  /** Resolves when what was written so far is out, or after a deadline. */
  flush(): Promise<void>;
  /** Last effort while the process ends. */
  flushSync(): void;
  /** Opens the target again, after log rotation. */
  reopen(): void;
  close(): Promise<void>;
}
