// Asks a question on the terminal and reads one line.
import { readSync } from 'node:fs';
import type { Terminal } from '../io.ts';

const pause = new Int32Array(new SharedArrayBuffer(4));

/** The line without its line end; undefined at the end of input. */
export function ask(question: string, io: Terminal): string | undefined {
  io.out(question);
  const byte = Buffer.alloc(1);
  const line: number[] = [];
  for (;;) {
    let count: number;
    try {
      count = readSync(0, byte, 0, 1, null);
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code === 'EAGAIN') {
        // The terminal is in non-blocking mode, set by another program.
        Atomics.wait(pause, 0, 0, 20);
        continue;
      }
      if (code !== 'EOF') throw thrown;
      count = 0;
    }
    if (count === 0) return line.length === 0 ? undefined : Buffer.from(line).toString('utf8');
    if (byte[0] === 10) return Buffer.from(line).toString('utf8').replace(/\r$/, '');
    line.push(byte[0]!);
  }
}
