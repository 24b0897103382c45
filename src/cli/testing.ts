// A terminal that stores its output, for tests.
import { safeFor, type Terminal } from './io.ts';

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
    out: (text, escapes = 'none') => {
      kept.stdout += Buffer.from(safeFor(escapes, text)).toString();
    },
    err: (text, escapes = 'none') => {
      kept.stderr += safeFor(escapes, text);
    },
  };
}
