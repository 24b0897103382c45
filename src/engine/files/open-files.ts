// Files kept open while they are being sent, so that a chunk costs only one read.
import { type FileHandle, open } from 'node:fs/promises';
import type { FoundFile } from './backend.ts';

export interface OpenFile {
  readonly file: FoundFile;
  /** Bytes from a position, in a new buffer or the given one; fewer at the end of the file, none after it. */
  read(position: number, length: number, into?: Buffer): Promise<Buffer>;
}

interface Entry {
  readonly file: FoundFile;
  readonly handle: Promise<FileHandle>;
  users: number;
  dropped: boolean;
  checkedAt: number;
  lastUse: number;
}

const maxOpen = 64;
const idleMs = 10_000;
/** How long a file counts as unchanged after it was looked up. */
const trustMs = 1_000;

export class OpenFiles {
  readonly #entries = new Map<string, Entry>();
  #timer: NodeJS.Timeout | undefined;

  /** The file last opened under this name, if it was looked up a moment ago. */
  recent(key: string): OpenFile | undefined {
    const entry = this.#entries.get(key);
    return entry && performance.now() - entry.checkedAt < trustMs ? this.#opened(entry) : undefined;
  }

  /** The file with a name after a new look-up: the open one if it is still the same, otherwise it is opened again. */
  use(key: string, file: FoundFile): OpenFile {
    const now = performance.now();
    const known = this.#entries.get(key);
    if (known && isSame(known.file, file)) {
      known.checkedAt = now;
      return this.#opened(known);
    }
    if (known) this.#drop(key, known);
    this.#sweep(now, maxOpen - 1);
    const entry: Entry = { file, handle: openSame(file), users: 0, dropped: false, checkedAt: now, lastUse: now };
    this.#entries.set(key, entry);
    entry.handle.catch(() => this.#drop(key, entry));
    this.#timer ??= setInterval(() => this.#sweep(performance.now(), maxOpen), idleMs).unref();
    return this.#opened(entry);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const [key, entry] of this.#entries) this.#drop(key, entry);
  }

  #opened(entry: Entry): OpenFile {
    return { file: entry.file, read: (position, length, into) => this.#read(entry, position, length, into) };
  }

  async #read(entry: Entry, position: number, length: number, into?: Buffer): Promise<Buffer> {
    entry.users++;
    entry.lastUse = performance.now();
    try {
      const handle = await entry.handle;
      const buffer = into ?? Buffer.allocUnsafe(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    } finally {
      entry.users--;
      if (entry.dropped && entry.users === 0) closeHandle(entry);
    }
  }

  /** Closes idle files, and the longest unused ones until at most `keep` are left. */
  #sweep(now: number, keep: number): void {
    for (const [key, entry] of this.#entries) if (now - entry.lastUse > idleMs) this.#drop(key, entry);
    if (this.#entries.size <= keep) return;
    const oldest = [...this.#entries].sort(([, a], [, b]) => a.lastUse - b.lastUse);
    for (const [key, entry] of oldest.slice(0, this.#entries.size - keep)) this.#drop(key, entry);
  }

  #drop(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    if (entry.dropped) return;
    entry.dropped = true;
    if (entry.users === 0) closeHandle(entry);
  }
}

function isSame(a: FoundFile, b: FoundFile): boolean {
  return a.path === b.path && a.version === b.version;
}

function closeHandle(entry: Entry): void {
  entry.handle.then((handle) => handle.close()).catch(() => undefined);
}

/** Opens a file and verifies that it is the one that was looked up: it may have been replaced by a link. */
async function openSame(file: FoundFile): Promise<FileHandle> {
  const handle = await open(file.path, 'r');
  if (file.identity === undefined) return handle;
  const { dev, ino } = await handle.stat();
  if (`${dev}:${ino}` === file.identity) return handle;
  await handle.close();
  throw new Error(`${file.path} was replaced while it was opened`);
}
