// Standard output and error of commands, written synchronously: no streams to set up, nothing to flush at exit.
import { writeSync } from 'node:fs';
import { visibleColored, visibleText } from '../base/util/visible.ts';
import { commandLog } from './command-log.ts';

const pause = new Int32Array(new SharedArrayBuffer(4));

function write(fd: number, text: string | Uint8Array): void {
  let bytes: Uint8Array = typeof text === 'string' ? Buffer.from(text) : text;
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      // The reader has closed the pipe (`salt … | head`): no more output is needed.
      if (code === 'EPIPE') process.exit(0);
      if (code !== 'EAGAIN') throw thrown;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

/**
 * Which control sequences of a text may reach the terminal. Output contains ids, results and errors of minions,
 * which must not control the operator's terminal: by default, none.
 */
export type Escapes = 'none' | 'colors' | 'all';

/** The output of a command; tests supply their own. */
export interface Terminal {
  out(text: string | Uint8Array, escapes?: Escapes): void;
  err(text: string, escapes?: Escapes): void;
}

/**
 * C1 controls, line separators and direction marks begin with one of these bytes; other bytes of UTF-8 JSON need no
 * check.
 */
const mayHide = (bytes: Buffer): boolean => bytes.includes(0xc2) || bytes.includes(0xe2) || bytes.includes(0x1b);

/** The text with control characters made visible unless allowed. Bytes are text that is already encoded. */
export function safeFor(escapes: Escapes, text: string | Uint8Array): string | Uint8Array {
  if (escapes === 'all') return text;
  if (typeof text === 'string') return escapes === 'colors' ? visibleColored(text) : visibleText(text);
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  return mayHide(bytes) ? safeFor(escapes, bytes.toString()) : text;
}

export const terminal: Terminal = {
  out: (text, escapes = 'none') => write(1, safeFor(escapes, text)),
  err: (text, escapes = 'none') => {
    write(2, safeFor(escapes, text));
    // Lines that are erased again, with the progress of a job, are no messages.
    if (escapes !== 'all') commandLog.copy(visibleText(text));
  },
};
