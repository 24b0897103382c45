// One call as an async iterator; tells the daemon when it can send more items.
import type { Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { AsyncQueue } from '../../../base/util/async-queue.ts';
import { windowItems } from './frames.ts';

type Tell = (kind: 'more' | 'cancel', count?: number) => void;

export class Call implements AsyncIterableIterator<Value> {
  readonly #tell: Tell;
  readonly #queue: AsyncQueue<Value>;
  #taken = 0;

  constructor(tell: Tell, signal: AbortSignal | undefined) {
    this.#tell = tell;
    const cancelled = (): void => {
      this.#cancel();
      this.fail(new HaliteError('wire.closed', 'The call was cancelled'));
    };
    this.#queue = new AsyncQueue({
      onTake: () => this.#count(),
      onClose: () => signal?.removeEventListener('abort', cancelled),
    });
    signal?.addEventListener('abort', cancelled, { once: true });
    if (signal?.aborted) this.fail(new HaliteError('wire.closed', 'The call was cancelled'));
  }

  get finished(): boolean {
    return this.#queue.closed;
  }

  push(item: Value): void {
    this.#queue.push(item);
  }

  end(): void {
    this.#queue.close();
  }

  fail(error: HaliteError): void {
    this.#queue.fail(error);
  }

  next(): Promise<IteratorResult<Value>> {
    return this.#queue.next();
  }

  return(): Promise<IteratorResult<Value>> {
    this.#cancel();
    return this.#queue.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #cancel(): void {
    if (!this.finished) this.#tell('cancel');
  }

  /** The daemon continues when half of its window is read. */
  #count(): void {
    this.#taken += 1;
    if (this.#taken < windowItems / 2 || this.finished) return;
    this.#tell('more', this.#taken);
    this.#taken = 0;
  }
}
