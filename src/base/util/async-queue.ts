// Items that arrive one by one, as an async iterator: pushed on one side, awaited on the other.

export interface AsyncQueueOptions {
  /** More than these that nobody has read: the oldest is dropped and counted. Without it the one who pushes sees to a bound. */
  readonly limit?: number;
  /** An item was taken by a reader. */
  readonly onTake?: () => void;
  /** Nothing is pushed any more; called once. */
  readonly onClose?: () => void;
}

interface Reader<T> {
  resolve(result: IteratorResult<T>): void;
  reject(error: Error): void;
}

/** Read items leave holes at the front; so many before the list is cut. */
const cutAfter = 1024;

export class AsyncQueue<T> implements AsyncIterableIterator<T> {
  /** Items dropped because nobody read them in time. */
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

  /** Ends the queue; what is in it can still be read. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#options.onClose?.();
    for (const reader of this.#readers.splice(0)) reader.resolve({ done: true, value: undefined });
  }

  /** Ends the queue with an error, which one reader gets after what is in it. */
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

  /** The reader has enough: what is in the queue is dropped. */
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
    // Frees the item before the list is cut.
    this.#items[this.#head] = undefined as T;
    this.#head += 1;
    if (this.#head === this.#items.length || this.#head > cutAfter) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
  }
}
