// The writing end of a spool: appends in order, many records with one fsync, and waits while the disk is full.
import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { encodeRecord, listSegments, readPosition, scanSegment, segmentFile, spoolBytes } from './segments.ts';

export interface SpoolOptions {
  /** Maximum size on disk; further records are refused. */
  readonly maxBytes: number;
  readonly segmentBytes?: number;
  /** Called after each batch with the number after the last durable record. */
  readonly appended?: (next: number) => void;
  /** Called when damage was found in the middle: the data after it is now in this file. */
  readonly damaged?: (file: string) => void;
  /** A text while nothing can be written, undefined when writing works again. */
  readonly trouble?: (text: string | undefined) => void;
}

interface Waiting {
  readonly record: Buffer;
  resolve(seq: number): void;
  reject(error: unknown): void;
}

const defaultSegmentBytes = 8 * 1024 * 1024;
const batchBytes = 4 * 1024 * 1024;
/** Maximum size in memory while the disk accepts nothing. */
const mostWaitingBytes = 64 * 1024 * 1024;
const retryMs = 500;

export class SpoolWriter {
  readonly folder: string;
  readonly #options: SpoolOptions;
  #handle: FileHandle;
  #next: number;
  #offset: number;
  #bytes: number;
  #queue: Waiting[] = [];
  #waitingBytes = 0;
  #busy: Promise<void> | undefined;
  #trouble: string | undefined;
  #retry: { timer: NodeJS.Timeout; now(): void } | undefined;
  #closing = false;

  private constructor(folder: string, options: SpoolOptions, handle: FileHandle, next: number, offset: number) {
    this.folder = folder;
    this.#options = options;
    this.#handle = handle;
    this.#next = next;
    this.#offset = offset;
    this.#bytes = spoolBytes(folder);
  }

  /**
   * Opens or creates. A last record that a crash truncated was never acknowledged and is removed; damaged data is moved
   * to another file.
   */
  static async open(folder: string, options: SpoolOptions): Promise<SpoolWriter> {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const last = listSegments(folder).at(-1);
    const delivered = readPosition(folder);
    if (last) {
      const { records, end, rest, damaged } = scanSegment(last.file);
      const next = last.first + records;
      if (next >= delivered) {
        const handle = await open(last.file, 'r+');
        if (damaged) putAside(`${last.file}.damaged`, rest, options);
        if (rest.byteLength > 0) await handle.truncate(end);
        return new SpoolWriter(folder, options, handle, next, end);
      }
    }
    const handle = await open(segmentFile(folder, delivered), 'w', 0o600);
    return new SpoolWriter(folder, options, handle, delivered, 0);
  }

  /** The number of the next record. */
  get next(): number {
    return this.#next;
  }
  get bytes(): number {
    return this.#bytes;
  }
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Segments up to here are delivered and removed. */
  delivered(): void {
    this.#bytes = spoolBytes(this.folder);
  }

  /** Resolves with its number when it is durable. */
  append(body: Uint8Array): Promise<number> {
    const size = body.byteLength;
    if (this.#closing) return Promise.reject(new HaliteError('store.unavailable', 'the spool is closed'));
    if (this.#bytes + this.#waitingBytes + size > this.#options.maxBytes) {
      return Promise.reject(
        new HaliteError(
          'store.unavailable',
          `the spool ${this.folder} has reached its limit of ${mb(this.#options.maxBytes)}`,
        ),
      );
    }
    if (this.#waitingBytes + size > mostWaitingBytes) {
      return Promise.reject(
        new HaliteError('store.unavailable', `the spool cannot be written: ${this.#trouble ?? 'slow disk'}`),
      );
    }
    this.#waitingBytes += size;
    return new Promise((resolve, reject) => {
      this.#queue.push({ record: encodeRecord(body), resolve, reject });
      this.#start();
    });
  }

  #start(): void {
    this.#busy ??= this.#flush().finally(() => {
      this.#busy = undefined;
      // A record may have been added between the last check of the queue and now.
      if (this.#queue.length > 0) this.#start();
    });
  }

  /** Writes what is queued, unless the disk accepts nothing: then it is refused. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#retry?.now();
    while (this.#busy) await this.#busy;
    await this.#handle.close();
  }

  async #flush(): Promise<void> {
    // Records added in the same turn of the event loop go into the same batch.
    await new Promise(setImmediate);
    while (this.#queue.length > 0) {
      const batch = this.#take();
      try {
        await this.#write(batch);
        this.#say(undefined);
      } catch (error) {
        this.#queue = [...batch, ...this.#queue];
        this.#say(`${this.folder}: ${messageOf(error)}`);
        if (this.#closing) return this.#refuse(error);
        await this.#pause();
      }
    }
  }

  #take(): Waiting[] {
    let [count, bytes] = [0, 0];
    while (count < this.#queue.length && bytes < batchBytes) bytes += this.#queue[count++]!.record.byteLength;
    return this.#queue.splice(0, count);
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    if (this.#offset >= (this.#options.segmentBytes ?? defaultSegmentBytes)) await this.#roll();
    const bytes = Buffer.concat(batch.map(({ record }) => record));
    try {
      await writeAll(this.#handle, bytes, this.#offset);
      await this.#handle.datasync();
    } catch (error) {
      await this.#handle.truncate(this.#offset).catch(() => {});
      throw error;
    }
    this.#offset += bytes.byteLength;
    this.#bytes += bytes.byteLength;
    for (const { record, resolve } of batch) {
      this.#waitingBytes -= record.byteLength - 8;
      resolve(this.#next++);
    }
    this.#options.appended?.(this.#next);
  }

  async #roll(): Promise<void> {
    const fresh = await open(segmentFile(this.folder, this.#next), 'w', 0o600);
    await this.#handle.close();
    this.#handle = fresh;
    this.#offset = 0;
    syncFolder(this.folder);
  }

  #say(text: string | undefined): void {
    if (text === this.#trouble) return;
    this.#trouble = text;
    this.#options.trouble?.(text);
  }

  #refuse(error: unknown): void {
    for (const { reject } of this.#queue.splice(0)) reject(error);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const now = (): void => {
        clearTimeout(this.#retry?.timer);
        this.#retry = undefined;
        resolve();
      };
      this.#retry = { timer: setTimeout(now, retryMs), now };
    });
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, offset: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done, offset + done);
    done += bytesWritten;
  }
}

/** It may contain acknowledged records, but their offsets cannot be determined. */
function putAside(file: string, rest: Uint8Array, { damaged }: SpoolOptions): void {
  try {
    writeFileSync(file, rest, { mode: 0o600 });
  } catch {
    // No space for it: it is still reported.
  }
  damaged?.(file);
}

/** The name of a new file is durable only when its folder is synced. */
function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

const mb = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;
