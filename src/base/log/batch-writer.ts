// Collects lines and writes them to a file descriptor in batches, off the event loop.
import { write, writeSync } from 'node:fs';

const maxPending = 8 * 1024 * 1024;
const retryMs = 10;

export interface Target {
  /** The descriptor to write to; it may be replaced only while no batch is in flight. Undefined when there is none. */
  fd(mayReplace: boolean): number | undefined;
  /** Called after each batch, for housekeeping. */
  written?(): void;
}

/** Lines keep their order; when the disk is too slow, lines are dropped and counted so that memory stays bounded. */
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

  /**
   * Resolves when everything added so far is written, or at the deadline: a reader that hangs must not block the
   * program.
   */
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
   * Writes synchronously when the process ends. A batch in progress is not repeated: its thread is joined at exit, and
   * a second write would duplicate the lines.
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
