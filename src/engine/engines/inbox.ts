// Events that the daemon sends to an engine, as an iterator: the next batch is asked for when the last one is read.
import type { EngineEvent } from '../../extend/sdk/index.ts';

export interface InboxOptions {
  more(): void;
  close(): void;
  dropped(count: number): void;
}

type Result = IteratorResult<EngineEvent, undefined>;
const done: Result = { done: true, value: undefined };

export class EngineInbox implements AsyncIterableIterator<EngineEvent> {
  readonly #options: InboxOptions;
  #events: EngineEvent[] = [];
  #waiting: ((result: Result) => void)[] = [];
  #ended = false;
  #asked = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  receive(events: readonly EngineEvent[], dropped: number): void {
    this.#asked = false;
    if (dropped > 0) this.#options.dropped(dropped);
    this.#events.push(...events);
    while (this.#events.length > 0 && this.#waiting.length > 0)
      this.#waiting.shift()!({ done: false, value: this.#events.shift()! });
    if (this.#waiting.length > 0) this.#ask();
  }

  next(): Promise<Result> {
    const event = this.#events.shift();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve(done);
    this.#ask();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<Result> {
    if (!this.#ended) {
      this.#options.close();
      this.end();
    }
    return Promise.resolve(done);
  }

  end(): void {
    this.#ended = true;
    this.#events = [];
    for (const resolve of this.#waiting.splice(0)) resolve(done);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #ask(): void {
    if (this.#asked || this.#ended) return;
    this.#asked = true;
    this.#options.more();
  }
}
