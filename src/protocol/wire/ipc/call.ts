// One call as an async iterator; tells the daemon when there is room for more items.
import type { Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { windowItems } from './frames.ts';

interface Reader {
  resolve(result: IteratorResult<Value>): void;
  reject(error: HaliteError): void;
}

const over: IteratorResult<Value> = { done: true, value: undefined };

export class Call implements AsyncIterableIterator<Value> {
  finished = false;
  readonly #tell: (kind: 'more' | 'cancel', count?: number) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;
  #items: Value[] = [];
  #readers: Reader[] = [];
  #error: HaliteError | undefined;
  #taken = 0;

  constructor(tell: (kind: 'more' | 'cancel', count?: number) => void, signal: AbortSignal | undefined) {
    this.#tell = tell;
    this.#signal = signal;
    this.#onAbort = () => {
      this.#cancel();
      this.fail(new HaliteError('wire.closed', 'The call was cancelled'));
    };
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) this.fail(new HaliteError('wire.closed', 'The call was cancelled'));
  }

  push(item: Value): void {
    if (this.finished) return;
    const reader = this.#readers.shift();
    if (!reader) {
      this.#items.push(item);
      return;
    }
    this.#count();
    reader.resolve({ done: false, value: item });
  }

  end(): void {
    this.#finish();
    for (const reader of this.#readers.splice(0)) reader.resolve(over);
  }

  fail(error: HaliteError): void {
    if (this.finished) return;
    this.#error = error;
    this.#finish();
    for (const reader of this.#readers.splice(0)) {
      this.#error = undefined;
      reader.reject(error);
    }
  }

  async next(): Promise<IteratorResult<Value>> {
    if (this.#items.length > 0) {
      const value = this.#items.shift() as Value;
      this.#count();
      return { done: false, value };
    }
    if (this.#error) {
      const error = this.#error;
      this.#error = undefined;
      throw error;
    }
    if (this.finished) return over;
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<Value>> {
    this.#cancel();
    this.#items = [];
    this.#error = undefined;
    this.end();
    return over;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #cancel(): void {
    if (!this.finished) this.#tell('cancel');
  }

  #finish(): void {
    this.finished = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  #count(): void {
    this.#taken += 1;
    if (this.#taken < windowItems / 2 || this.finished) return;
    this.#tell('more', this.#taken);
    this.#taken = 0;
  }
}
