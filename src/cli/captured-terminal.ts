// A terminal that keeps what was printed, for tests.
import type { Terminal } from './io.ts';

export interface CapturedTerminal extends Terminal {
  readonly stdout: string;
  readonly stderr: string;
}

export function captureTerminal(): CapturedTerminal {
  const kept = { stdout: '', stderr: '' };
  return {
    get stdout() {
      return kept.stdout;
    },
    get stderr() {
      return kept.stderr;
    },
    out: (text) => {
      kept.stdout += typeof text === 'string' ? text : Buffer.from(text).toString();
    },
    err: (text) => {
      kept.stderr += text;
    },
  };
}
