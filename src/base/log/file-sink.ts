// Appends lines to a log file, follows rotation, and never stops the program when the file cannot be written.
import { closeSync, fstatSync, mkdirSync, openSync, stat } from 'node:fs';
import { dirname } from 'node:path';
import { BatchWriter, type Target } from './batch-writer.ts';
import type { Sink } from './sink.ts';

/** Salt creates log files under umask 027. */
const fileMode = 0o640;
const folderMode = 0o750;
const lookEveryMs = 1000;

type Failed = (error: Error, what: 'opened' | 'written') => void;

class LogFile implements Target {
  readonly #path: string;
  readonly #failed: Failed;
  #fd: number | undefined;
  #identity = '';
  #stale = true;
  #broken = false;
  /** The last batch could not be written: reported once. */
  #full = false;
  #lookedAt = 0;

  constructor(path: string, failed: Failed) {
    this.#path = path;
    this.#failed = failed;
  }

  fd(mayReplace: boolean): number | undefined {
    if (!this.#stale || !mayReplace) return this.#fd;
    this.#stale = false;
    this.close();
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: folderMode });
      this.#fd = openSync(this.#path, 'a', fileMode);
      const { dev, ino } = fstatSync(this.#fd);
      this.#identity = `${dev}:${ino}`;
      this.#broken = false;
    } catch (error) {
      if (!this.#broken) this.#failed(error as Error, 'opened');
      this.#broken = true;
      this.#stale = true;
    }
    return this.#fd;
  }

  /** Rotation without a signal: the path refers to another file than the open one. */
  written(error?: Error): void {
    if (error && !this.#full) this.#failed(error, 'written');
    this.#full = error !== undefined;
    const now = Date.now();
    if (now - this.#lookedAt < lookEveryMs) return;
    this.#lookedAt = now;
    stat(this.#path, (error, found) => {
      if (error || `${found.dev}:${found.ino}` !== this.#identity) this.#stale = true;
    });
  }

  renew(): void {
    this.#stale = true;
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** The file is opened with the first line, so that a command that logs nothing creates no file. */
export function fileSink(path: string, failed: Failed, dropped?: (count: number) => string): Sink {
  const file = new LogFile(path, failed);
  const writer = new BatchWriter(file, dropped);
  return {
    write: (line) => writer.add(`${line}\n`),
    flush: () => writer.flush(),
    flushSync: () => writer.flushSync(),
    reopen: () => file.renew(),
    close: async () => {
      await writer.flush();
      file.close();
      file.renew();
    },
  };
}
