// Standard output and error of commands, written at once: no stream objects to set up, nothing left to flush at exit.
import { writeSync } from 'node:fs';

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

/** Where a command prints; tests hand in their own. */
export interface Terminal {
  out(text: string | Uint8Array): void;
  err(text: string): void;
}

export const terminal: Terminal = {
  out: (text) => write(1, text),
  err: (text) => write(2, text),
};
