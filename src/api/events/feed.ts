// The new events of one token for all of its streams: they have the same rights, so the master is asked once. A reader
// that falls behind leaves, and is no burden for the others.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { roughSize } from '../../protocol/event/trim.ts';
import { isAtLeast, type StreamItem } from './items.ts';

/** What waits for one reader. */
const mostItems = 2_000;
const mostBytes = 4 * 1024 * 1024;
/** After so many events readers have a turn to write what they have. */
const turnAfter = 64;

interface Waiting {
  readonly item: StreamItem;
  readonly bytes: number;
}

/** One stream that reads the feed. */
export class FeedReader {
  readonly #leave: (reader: FeedReader) => void;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  constructor(leave: (reader: FeedReader) => void) {
    this.#leave = leave;
  }

  push(item: StreamItem, bytes: number): void {
    if (this.#ended) return;
    if (this.#waiting.length >= mostItems || this.#bytes > mostBytes) {
      this.leave();
      return;
    }
    this.#waiting.push({ item, bytes });
    this.#bytes += bytes;
    this.#wake?.();
  }

  fail(error: unknown): void {
    this.#error = error;
    this.#wake?.();
  }

  /** What waits is dropped. */
  leave(): void {
    this.#ended = true;
    this.#waiting = [];
    this.#leave(this);
    this.#wake?.();
  }

  /** Undefined when the reader has left, or was too slow. For one caller at a time. */
  async next(): Promise<StreamItem | undefined> {
    while (!this.#ended) {
      const next = this.#waiting.shift();
      if (next) {
        this.#bytes -= next.bytes;
        return next.item;
      }
      if (this.#error !== undefined) throw this.#error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    return undefined;
  }
}

export class Feed {
  readonly #readers = new Set<FeedReader>();
  readonly #stop = new AbortController();
  readonly #first: Promise<void>;
  #last = '';
  #error: unknown;
  #users = 0;

  /** `gone`: nobody uses it any more, or it has failed: whoever comes later needs another one. */
  constructor(items: (signal: AbortSignal) => AsyncIterable<StreamItem>, gone: () => void) {
    this.#first = new Promise((begun) => {
      void this.#run(items(this.#stop.signal), begun).finally(gone);
    });
  }

  /** Throws what the master refuses. */
  async begun(): Promise<void> {
    await this.#first;
    if (this.#error !== undefined) throw this.#error;
  }

  /** The id of the latest event. */
  get last(): string {
    return this.#last;
  }

  /** Whether a stream that has delivered this event misses nothing when it joins. */
  isPassed(id: string): boolean {
    return isAtLeast(id, this.#last);
  }

  /** Keeps the feed alive until the returned function is called. */
  use(): () => void {
    this.#users += 1;
    let uses = true;
    return () => {
      if (!uses) return;
      uses = false;
      this.#users -= 1;
      if (this.#users === 0) this.#stop.abort();
    };
  }

  get stopped(): boolean {
    return this.#stop.signal.aborted || this.#error !== undefined;
  }

  /** Everything after `last`. */
  join(): FeedReader {
    const reader = new FeedReader((each) => this.#readers.delete(each));
    this.#readers.add(reader);
    if (this.#error !== undefined) reader.fail(this.#error);
    return reader;
  }

  async #run(items: AsyncIterable<StreamItem>, begun: () => void): Promise<void> {
    let count = 0;
    try {
      for await (const item of items) {
        this.#last = item.id;
        begun();
        const bytes = item.type === 'event' ? roughSize(item.data) : 0;
        for (const reader of this.#readers) reader.push(item, bytes);
        count += 1;
        if (count % turnAfter === 0) await nextTurn();
      }
      this.#error ??= new Error('The stream of events has ended.');
    } catch (error) {
      this.#error = error;
    }
    begun();
    for (const reader of this.#readers) reader.fail(this.#error);
  }
}
