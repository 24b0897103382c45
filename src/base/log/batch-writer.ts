// Collects lines and writes them to a file descriptor in batches, off the event loop.
import { write, writeSync } from 'node:fs';

const maxPending = 8 * 1024 * 1024;
const retryMs = 10;
const newLine = 10;

export interface Target {
  /** The descriptor to write to; it may be replaced only while no batch is in flight. Undefined when there is none. */
  fd(mayReplace: boolean): number | undefined;
  /** Called after each batch, for housekeeping; with the error when a part of it could not be written. */
  written?(error?: Error): void;
}

/** The line that stands for lines that are not there. */
const droppedText = (count: number): string =>
  `... ${count} log lines were dropped because the log could not be written`;
/** Two of them: for text, and for logs whose every line is an object. */
export const droppedLine = {
  text: droppedText,
  json: (count: number): string =>
    JSON.stringify({
      ...{ time: new Date().toISOString(), level: 'WARNING', name: 'salt', process: process.pid },
      ...{ message: 'log lines were dropped because the log could not be written', dropped: count },
    }),
};

/** Lines keep their order; when the disk is too slow, lines are dropped and counted so that memory stays bounded. */
export class BatchWriter {
  readonly #target: Target;
  readonly #droppedLine: (count: number) => string;
  /** The last line in the file has no end. */
  #torn = false;
  #pending: string[] = [];
  #size = 0;
  #dropped = 0;
  /** At the start of the batch that is being written: how many dropped lines it speaks of. */
  #notice = { bytes: 0, count: 0 };
  #scheduled = false;
  #flight: Buffer | undefined;
  #idle: (() => void)[] = [];

  constructor(target: Target, dropped: (count: number) => string = droppedLine.text) {
    this.#target = target;
    this.#droppedLine = dropped;
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
    // Nothing is tried again before the next line: a disk stays full for a while.
    if (this.#pending.length === 0) return undefined;
    this.#notice = { bytes: 0, count: 0 };
    if (this.#dropped > 0) {
      const notice = `${this.#torn ? '\n' : ''}${this.#droppedLine(this.#dropped)}\n`;
      this.#pending.unshift(notice);
      this.#notice = { bytes: Buffer.byteLength(notice), count: this.#dropped };
      this.#dropped = 0;
    }
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
    this.#send(fd, batch, batch);
  }

  /** A full disk, for example: what could not be written is counted, and said in the file when it can be written again. */
  #lost(batch: Buffer, rest: Buffer): void {
    const { bytes, count } = this.#notice;
    const said = batch.length - rest.length >= bytes;
    if (!said) this.#dropped += count;
    for (const byte of said ? rest : batch.subarray(bytes)) if (byte === newLine) this.#dropped++;
    if (rest.length < batch.length) this.#torn = batch[batch.length - rest.length - 1] !== newLine;
  }

  #send(fd: number, batch: Buffer, rest: Buffer): void {
    write(fd, rest, 0, rest.length, null, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#send(fd, batch, rest), retryMs);
        return;
      }
      if (!error && written < rest.length) {
        this.#send(fd, batch, rest.subarray(written));
        return;
      }
      this.#flight = undefined;
      if (error) this.#lost(batch, rest);
      else this.#torn = false;
      this.#target.written?.(error ?? undefined);
      this.#start();
    });
  }
}
