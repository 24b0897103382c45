// Reads what was added to a file since the last check; handles rotated and truncated files.
import { open } from 'halite/sdk/fs';

/** The most that is read in one check. */
const mostBytes = 4 << 20;

export class Tail {
  readonly #path: string;
  #inode: number | undefined;
  #position = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Starts at the end of the file; a file that does not exist yet is read from its beginning. */
  async skip(): Promise<void> {
    const file = await open(this.#path, 'r').catch(() => undefined);
    if (!file) return;
    try {
      const { ino, size } = await file.stat();
      this.#inode = ino;
      this.#position = size;
    } finally {
      await file.close();
    }
  }

  /** The new text, and whether it is the beginning of another file. */
  async read(): Promise<{ readonly bytes: Buffer; readonly fresh: boolean }> {
    const file = await open(this.#path, 'r');
    try {
      const { ino, size } = await file.stat();
      const fresh = ino !== this.#inode || size < this.#position;
      if (fresh) this.#position = 0;
      this.#inode = ino;
      const length = Math.min(size - this.#position, mostBytes);
      const buffer = Buffer.alloc(length);
      const { bytesRead } = await file.read(buffer, 0, length, this.#position);
      this.#position += bytesRead;
      return { bytes: buffer.subarray(0, bytesRead), fresh };
    } finally {
      await file.close();
    }
  }
}
