// The event bus inside a daemon: fire, subscribe, read recent events. Does nothing while there is no listener.
import { PackedValue, unpacked } from '../../base/codec/msgpack/index.ts';
import { type Dict, newDict } from '../../base/codec/value.ts';
import type { BusEvent } from './event.ts';
import { type EventFilter, tagTest } from './filter.ts';
import { History } from './history.ts';
import { eventStamp } from './stamp.ts';
import { EventStream } from './stream.ts';
import { roughSize, trimToSize } from './trim.ts';

export type { BusEvent } from './event.ts';
export type EventListener = (event: BusEvent) => void;

export interface EventBusOptions {
  /** Salt's `max_event_size` (1 MiB): in larger data the largest values are replaced. 0 for no limit. */
  readonly maxEventSize?: number;
  /** How many events are kept for `recent()`; 0 (the default) keeps none. */
  readonly history?: number;
  readonly historyBytes?: number;
  /** Called when a listener throws. The others are not affected. */
  readonly onError?: (error: unknown, event: BusEvent) => void;
}

export interface StreamOptions {
  /** Events queued for a slow reader; beyond that the oldest are dropped and counted. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

interface Subscription {
  readonly wanted: ((tag: string) => boolean) | undefined;
  readonly listener: EventListener;
}

export class EventBus {
  readonly #options: EventBusOptions;
  readonly #maxEventSize: number;
  readonly #history: History | undefined;
  /** Replaced, never mutated, so that listeners may be added and removed while an event is delivered. */
  #subscriptions: readonly Subscription[] = [];

  constructor(options: EventBusOptions = {}) {
    this.#options = options;
    this.#maxEventSize = options.maxEventSize ?? 1_048_576;
    if (options.history) this.#history = new History(options.history, options.historyBytes ?? 64 * 1024 * 1024);
  }

  /** The number of current listeners. */
  get listeners(): number {
    return this.#subscriptions.length;
  }

  /** Delivers the event to all matching listeners before it returns. `_stamp` is added to a copy of the data. */
  fire(tag: string, data: Dict = newDict()): void {
    const subscriptions = this.#subscriptions;
    const history = this.#history;
    if (subscriptions.length === 0 && !history) return;
    let event: BusEvent | undefined;
    for (const { wanted, listener } of subscriptions) {
      if (wanted && !wanted(tag)) continue;
      event ??= this.#make(tag, data);
      try {
        listener(event);
      } catch (thrown) {
        this.#options.onError?.(thrown, event);
      }
    }
    if (history) {
      event ??= this.#make(tag, data);
      history.add(event, roughSize(event.data) + tag.length);
    }
  }

  /** Calls the listener for each matching event; the returned function unsubscribes. */
  subscribe(filter: EventFilter | string, listener: EventListener): () => void {
    const subscription: Subscription = { wanted: tagTest(asFilter(filter)), listener };
    this.#subscriptions = [...this.#subscriptions, subscription];
    return () => {
      this.#subscriptions = this.#subscriptions.filter((each) => each !== subscription);
    };
  }

  /** The same as an async iterator; it is subscribed immediately, not at the first read. */
  stream(filter: EventFilter | string = {}, options: StreamOptions = {}): EventStream {
    const { signal } = options;
    const onAbort = () => stream.close();
    const stream: EventStream = new EventStream(options.limit ?? 10_000, () => {
      stop();
      signal?.removeEventListener('abort', onAbort);
    });
    const stop = this.subscribe(filter, (event) => stream.push(event));
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) stream.close();
    return stream;
  }

  /** The events in the history, oldest first. */
  recent(filter: EventFilter | string = {}): BusEvent[] {
    return this.#history?.list(tagTest(asFilter(filter))) ?? [];
  }

  #make(tag: string, data: Dict): BusEvent {
    const small = this.#maxEventSize > 0 ? trimToSize(data, this.#maxEventSize) : data;
    if (small instanceof Map) return { tag, data: new Map(small).set('_stamp', eventStamp()) };
    const stamped = Object.assign(newDict(), small);
    // A long result that still fits: listeners expect the value.
    if (stamped['return'] instanceof PackedValue) stamped['return'] = unpacked(stamped['return']);
    stamped['_stamp'] = eventStamp();
    return { tag, data: stamped };
  }
}

/** A plain text matches as a prefix, as in most of Salt's calls. */
function asFilter(filter: EventFilter | string): EventFilter {
  return typeof filter === 'string' ? { tag: filter } : filter;
}
