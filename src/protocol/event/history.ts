// The most recent events, bounded by number and by size, for subscribers that join later.
import type { BusEvent } from './event.ts';

export class History {
  readonly #maxCount: number;
  readonly #maxBytes: number;
  #events: { event: BusEvent; size: number }[] = [];
  #head = 0;
  #bytes = 0;

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount;
    this.#maxBytes = maxBytes;
  }

  add(event: BusEvent, size: number): void {
    this.#events.push({ event, size });
    this.#bytes += size;
    while (this.length > this.#maxCount || (this.#bytes > this.#maxBytes && this.length > 0)) {
      this.#bytes -= this.#events[this.#head]?.size ?? 0;
      this.#head += 1;
    }
    // Compacting the array once per that many removals keeps adding cheap.
    if (this.#head > 64 && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
  }

  get length(): number {
    return this.#events.length - this.#head;
  }

  /** Oldest first. */
  list(wanted: ((tag: string) => boolean) | undefined): BusEvent[] {
    const found: BusEvent[] = [];
    for (let i = this.#head; i < this.#events.length; i++) {
      const event = this.#events[i]?.event;
      if (event && (!wanted || wanted(event.tag))) found.push(event);
    }
    return found;
  }
}
