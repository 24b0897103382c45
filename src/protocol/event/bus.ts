// The event bus inside a daemon: fire, subscribe, read recent events. Does nothing while there is no listener.
import { PackedValue, unpacked } from '../../base/codec/msgpack/index.ts';
import { asText, type Dict, dictGet, newDict } from '../../base/codec/value.ts';
import type { BusEvent, EventOrigin } from './event.ts';
import { type EventFilter, tagTest } from './filter.ts';
import { History } from './history.ts';
import { eventStamp } from './stamp.ts';
import { EventStream } from './stream.ts';
import { roughSize, trimToSize } from './trim.ts';

export type { BusEvent } from './event.ts';
export type EventListener = (event: BusEvent) => void;
/** Called before the event exists; `event` makes it, and must be called at once if at all. */
export type EventWatcher = (tag: string, origin: EventOrigin, event: () => BusEvent) => void;

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
  readonly watcher: EventWatcher;
}

export class EventBus {
  /** How many events were fired. */
  fired = 0;
  /** By streams that ended. */
  #dropped = 0;
  readonly #streams = new Set<EventStream>();
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

  /** How many events the readers of streams did not get because they were too slow. */
  get dropped(): number {
    let sum = this.#dropped;
    for (const stream of this.#streams) sum += stream.dropped;
    return sum;
  }

  /** The number of current listeners. */
  get listeners(): number {
    return this.#subscriptions.length;
  }

  /**
   * Delivers the event to all matching listeners before it returns. `_stamp` is added to a copy of the data; a foreign
   * event keeps the time of the member where it happened.
   */
  fire(tag: string, data: Dict = newDict(), origin: EventOrigin = 'own'): void {
    this.fired++;
    const subscriptions = this.#subscriptions;
    const history = this.#history;
    if (subscriptions.length === 0 && !history) return;
    let made: BusEvent | undefined;
    const event = (): BusEvent => {
      made ??= this.#make(tag, data, origin);
      return made;
    };
    for (const { wanted, watcher } of subscriptions) {
      if (wanted && !wanted(tag)) continue;
      try {
        watcher(tag, origin, event);
      } catch (thrown) {
        this.#options.onError?.(thrown, event());
      }
    }
    if (history) history.add(event(), roughSize(event().data) + tag.length);
  }

  /** Calls the listener for each matching event; the returned function unsubscribes. */
  subscribe(filter: EventFilter | string, listener: EventListener): () => void {
    return this.#add({ wanted: tagTest(asFilter(filter)), watcher: (_tag, _origin, event) => listener(event()) });
  }

  /** For a listener to all events that needs few of them: the others are not made for it. */
  watch(watcher: EventWatcher): () => void {
    return this.#add({ wanted: undefined, watcher });
  }

  #add(subscription: Subscription): () => void {
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
      this.#dropped += stream.dropped;
      this.#streams.delete(stream);
      signal?.removeEventListener('abort', onAbort);
    });
    const stop = this.subscribe(filter, (event) => stream.push(event));
    this.#streams.add(stream);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) stream.close();
    return stream;
  }

  /** The events in the history, oldest first. */
  recent(filter: EventFilter | string = {}): BusEvent[] {
    return this.#history?.list(tagTest(asFilter(filter))) ?? [];
  }

  #make(tag: string, data: Dict, origin: EventOrigin): BusEvent {
    const small = this.#maxEventSize > 0 ? trimToSize(data, this.#maxEventSize) : data;
    const stamp = (origin === 'foreign' && asText(dictGet(small, '_stamp'))) || eventStamp();
    if (small instanceof Map) return { tag, data: new Map(small).set('_stamp', stamp), origin };
    const stamped = Object.assign(newDict(), small);
    // A long result that still fits: listeners expect the value.
    if (stamped['return'] instanceof PackedValue) stamped['return'] = unpacked(stamped['return']);
    stamped['_stamp'] = stamp;
    return { tag, data: stamped, origin };
  }
}

/** A plain text matches as a prefix, as in most of Salt's calls. */
function asFilter(filter: EventFilter | string): EventFilter {
  return typeof filter === 'string' ? { tag: filter } : filter;
}
