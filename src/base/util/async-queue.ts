// Items that arrive one by one, as an async iterator: pushed on one side, awaited on the other.

export interface AsyncQueueOptions {
  /**
   * Maximum number of unread items: beyond it the oldest is dropped and counted. Without it the producer must bound the
   * queue.
   */
  readonly limit?: number;
  /** Called when a reader took an item. */
  readonly onTake?: () => void;
  /** Called once, when nothing is pushed any more. */
  readonly onClose?: () => void;
}

interface Reader<T> {
  resolve(result: IteratorResult<T>): void;
  reject(error: Error): void;
}

/** Read items leave empty slots at the front; the list is cut when there are this many. */
const cutAfter = 1024;

export class AsyncQueue<T> implements AsyncIterableIterator<T> {
  /** Items dropped because they were not read in time. */
  dropped = 0;
  readonly #options: AsyncQueueOptions;
  #items: T[] = [];
  #head = 0;
  #readers: Reader<T>[] = [];
  #closed = false;
  #error: Error | undefined;

  constructor(options: AsyncQueueOptions = {}) {
    this.#options = options;
  }

  get closed(): boolean {
    return this.#closed;
  }

  push(item: T): void {
    if (this.#closed) return;
    const reader = this.#readers.shift();
    if (reader) {
      this.#options.onTake?.();
      reader.resolve({ done: false, value: item });
      return;
    }
    this.#items.push(item);
    if (this.#items.length - this.#head <= Math.max(1, this.#options.limit ?? Number.POSITIVE_INFINITY)) return;
    this.dropped += 1;
    this.#advance();
  }

  /** Ends the queue; queued items can still be read. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.onClose?.();
    for (const reader of this.#readers.splice(0)) reader.resolve({ done: true, value: undefined });
  }

  /** Ends the queue with an error, which one reader receives after the queued items. */
  fail(error: Error): void {
    if (this.#closed) return;
    const readers = this.#readers.splice(0);
    if (readers.length === 0) this.#error = error;
    this.close();
    for (const reader of readers) reader.reject(error);
  }

  async next(): Promise<IteratorResult<T>> {
    if (this.#head < this.#items.length) {
      const value = this.#items[this.#head] as T;
      this.#advance();
      this.#options.onTake?.();
      return { done: false, value };
    }
    const error = this.#error;
    this.#error = undefined;
    if (error) throw error;
    if (this.#closed) return { done: true, value: undefined };
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  /** The reader stops: queued items are dropped. */
  async return(): Promise<IteratorResult<T>> {
    this.#items = [];
    this.#head = 0;
    this.#error = undefined;
    this.close();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #advance(): void {
    // Releases the reference to the item before the list is cut.
    this.#items[this.#head] = undefined as T;
    this.#head += 1;
    if (this.#head === this.#items.length || this.#head > cutAfter) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }
}
