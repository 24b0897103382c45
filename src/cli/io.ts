// Standard output and error of commands, written at once: no stream objects to set up, nothing left to flush at exit.
import { writeSync } from 'node:fs';
import { visibleColored, visibleText } from '../base/util/visible.ts';

const pause = new Int32Array(new SharedArrayBuffer(4));

function write(fd: number, text: string | Uint8Array): void {
  let bytes: Uint8Array = typeof text === 'string' ? Buffer.from(text) : text;
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      // The reader is gone (`salt … | head`): there is nobody left to work for.
      if (code === 'EPIPE') process.exit(0);
      if (code !== 'EAGAIN') throw thrown;
      Atomics.wait(pause, 0, 0, 5);
    }
  }
}

/**
 * Which control sequences of a text are meant for the terminal. What commands print holds ids, results and errors of minions,
 * which must not steer the operator's terminal: unless said otherwise, none.
 */
export type Escapes = 'none' | 'colors' | 'all';

/** Where a command prints; tests hand in their own. */
export interface Terminal {
  out(text: string | Uint8Array, escapes?: Escapes): void;
  err(text: string, escapes?: Escapes): void;
}

/** C1 controls, line separators and turns of direction begin with one of these bytes; nothing else in UTF-8 JSON has to be looked at. */
const mayHide = (bytes: Buffer): boolean => bytes.includes(0xc2) || bytes.includes(0xe2) || bytes.includes(0x1b);

/** The text with everything visible that it must not do. Bytes are text that is written already. */
export function safeFor(escapes: Escapes, text: string | Uint8Array): string | Uint8Array {
  if (escapes === 'all') return text;
  if (typeof text === 'string') return escapes === 'colors' ? visibleColored(text) : visibleText(text);
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  return mayHide(bytes) ? safeFor(escapes, bytes.toString()) : text;
}

export const terminal: Terminal = {
  out: (text, escapes = 'none') => write(1, safeFor(escapes, text)),
  err: (text, escapes = 'none') => write(2, safeFor(escapes, text)),
};
