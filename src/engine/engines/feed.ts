// Events for one reader in another process: sent in batches when it asks, bounded while it does not.
import { packValue } from '../../base/codec/msgpack/index.ts';
import type { Value } from '../../base/codec/value.ts';
import { globMatcher } from '../../base/util/fnmatch.ts';
import type { BusEvent } from '../../protocol/event/bus.ts';
import { roughSize } from '../../protocol/event/trim.ts';

export interface FeedOptions {
  readonly tags: readonly string[];
  /** Sends a batch; `dropped` events were lost before it. */
  readonly send: (body: Uint8Array, dropped: number) => void;
  readonly mostEvents?: number;
  readonly mostBytes?: number;
}

interface Waiting {
  readonly event: BusEvent;
  readonly size: number;
}

const mostEvents = 10_000;
const mostBytes = 32 * 1024 * 1024;
const batchEvents = 200;
const batchBytes = 2 * 1024 * 1024;

export class EventFeed {
  readonly #options: FeedOptions;
  readonly #matchers: readonly ((tag: string) => boolean)[];
  #waiting: Waiting[] = [];
  #bytes = 0;
  #dropped = 0;
  #asked = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#matchers = options.tags.map((tag) => globMatcher(tag));
  }

  wants(tag: string): boolean {
    return this.#matchers.length === 0 || this.#matchers.some((matches) => matches(tag));
  }

  push(event: BusEvent): void {
    const size = event.tag.length + roughSize(event.data);
    this.#waiting.push({ event, size });
    this.#bytes += size;
    const { mostEvents: events = mostEvents, mostBytes: bytes = mostBytes } = this.#options;
    while (this.#waiting.length > events || (this.#bytes > bytes && this.#waiting.length > 1)) this.#drop();
    if (this.#asked) this.#send();
  }

  /** The reader has nothing left. */
  more(): void {
    this.#asked = true;
    if (this.#waiting.length > 0) this.#send();
  }

  #drop(): void {
    this.#bytes -= this.#waiting.shift()?.size ?? 0;
    this.#dropped++;
  }

  #send(): void {
    const batch: Value[] = [];
    let bytes = 0;
    while (this.#waiting.length > 0 && batch.length < batchEvents && bytes < batchBytes) {
      const { event, size } = this.#waiting.shift()!;
      batch.push([event.tag, event.data]);
      bytes += size;
    }
    this.#bytes -= bytes;
    this.#asked = false;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#options.send(packValue(batch), dropped);
  }
}
