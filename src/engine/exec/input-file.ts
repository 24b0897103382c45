// The standard input of a command, as an unnamed file in memory.
import { randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { O_CREAT, O_EXCL, O_RDWR } = constants;

/**
 * A descriptor at the beginning of the text. With a socket (Node's default) bash assumes it was started by a remote
 * shell daemon and reads ~/.bashrc; a named pipe blocks a program that opens /dev/stdin after everything was written.
 */
export function openInput(input: string | Uint8Array): number {
  const folder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const path = join(folder, `halite-input-${randomBytes(12).toString('hex')}`);
  const file = openSync(path, O_RDWR | O_CREAT | O_EXCL, 0o600);
  try {
    unlinkSync(path);
    const bytes = typeof input === 'string' ? Buffer.from(input) : input;
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, done);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}
