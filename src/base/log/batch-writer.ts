// Collects lines and writes them to a file descriptor in batches, off the event loop.
import { write, writeSync } from 'node:fs';

const maxPending = 8 * 1024 * 1024;
const retryMs = 10;

export interface Target {
  /** The descriptor to write to; it may be replaced only while no batch is in flight. Undefined when there is none. */
  fd(mayReplace: boolean): number | undefined;
  /** Told after each batch, for housekeeping. */
  written?(): void;
}

/** Order is kept; when the disk cannot follow, lines are dropped and counted instead of filling the memory. */
export class BatchWriter {
  readonly #target: Target;
  #pending: string[] = [];
  #size = 0;
  #dropped = 0;
  #scheduled = false;
  #flight: Buffer | undefined;
  #idle: (() => void)[] = [];

  constructor(target: Target) {
    this.#target = target;
  }

  add(line: string): void {
    if (this.#size + line.length > maxPending) {
      this.#dropped++;
      return;
    }
    this.#pending.push(line);
    this.#size += line.length;
    if (this.#scheduled || this.#flight) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
    });
  }

  /** Resolves when everything added so far is written, or when the deadline passes: a stuck reader must not hang us. */
  flush(deadlineMs = 2000): Promise<void> {
    if (!this.#flight && this.#pending.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.#idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
      if (!this.#flight) this.#start();
    });
  }

  /**
   * For the last moment before the process ends. A batch in flight is left alone: its thread is joined at exit, and
   * writing it again would double the lines.
   */
  flushSync(): void {
    const batch = this.#take();
    const fd = batch && this.#target.fd(!this.#flight);
    if (!batch || fd === undefined) return;
    let at = 0;
    for (let tries = 0; at < batch.length && tries < 100; tries++) {
      try {
        at += writeSync(fd, batch, at);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      }
    }
  }

  #take(): Buffer | undefined {
    if (this.#dropped > 0) {
      this.#pending.push(`... ${this.#dropped} log lines were dropped because the log could not be written\n`);
      this.#dropped = 0;
    }
    if (this.#pending.length === 0) return undefined;
    const batch = Buffer.from(this.#pending.join(''));
    this.#pending = [];
    this.#size = 0;
    return batch;
  }

  #start(): void {
    if (this.#flight) return;
    const batch = this.#take();
    const fd = batch && this.#target.fd(true);
    if (!batch || fd === undefined) {
      const waiting = this.#idle;
      this.#idle = [];
      for (const resolve of waiting) resolve();
      return;
    }
    this.#flight = batch;
    this.#send(fd, batch);
  }

  #send(fd: number, rest: Buffer): void {
    write(fd, rest, 0, rest.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#send(fd, rest), retryMs);
        return;
      }
      if (!error && written < rest.length) {
        this.#send(fd, rest.subarray(written));
        return;
      }
      this.#flight = undefined;
      this.#target.written?.();
      this.#start();
    });
  }
}
