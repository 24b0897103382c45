// Events as an async iterator with a bounded queue: a slow reader loses the oldest and is told how many.
import type { BusEvent } from './bus.ts';

export class EventStream implements AsyncIterableIterator<BusEvent> {
  /** Events lost because nobody read them in time. */
  dropped = 0;
  readonly #limit: number;
  readonly #release: () => void;
  #queue: BusEvent[] = [];
  #head = 0;
  #waiting: ((result: IteratorResult<BusEvent>) => void)[] = [];
  #ended = false;

  constructor(limit: number, release: () => void) {
    this.#limit = Math.max(1, limit);
    this.#release = release;
  }

  push(event: BusEvent): void {
    if (this.#ended) return;
    const reader = this.#waiting.shift();
    if (reader) {
      reader({ done: false, value: event });
      return;
    }
    this.#queue.push(event);
    if (this.#queue.length - this.#head <= this.#limit) return;
    this.dropped += 1;
    this.#advance();
  }

  next(): Promise<IteratorResult<BusEvent>> {
    const event = this.#queue[this.#head];
    if (event) {
      this.#advance();
      return Promise.resolve({ done: false, value: event });
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends the stream; what is queued can still be read. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#release();
    for (const reader of this.#waiting.splice(0)) reader({ done: true, value: undefined });
  }

  return(): Promise<IteratorResult<BusEvent>> {
    this.close();
    this.#queue = [];
    this.#head = 0;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #advance(): void {
    this.#head += 1;
    if (this.#head === this.#queue.length || this.#head > 1024) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }
}
