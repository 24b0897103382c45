// Lets one line per key and period through, and counts the rest.

const MAX_KEYS = 10_000;

interface Entry {
  until: number;
  suppressed: number;
}

export class Limiter {
  readonly #period: number;
  readonly #entries = new Map<string, Entry>();

  constructor(periodMs = 60_000) {
    this.#period = periodMs;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many lines were held back since the last one, or undefined when this one has to wait too. */
  admit(key: string, now: number): number | undefined {
    const entry = this.#entries.get(key);
    if (entry && now < entry.until && entry.until - now <= this.#period) {
      entry.suppressed++;
      return undefined;
    }
    if (!entry && this.#entries.size >= MAX_KEYS) this.#forget(now);
    this.#entries.set(key, { until: now + this.#period, suppressed: 0 });
    return entry?.suppressed ?? 0;
  }

  /** Keys come from peers: without a bound they would fill the memory. */
  #forget(now: number): void {
    for (const [key, entry] of this.#entries) if (now >= entry.until) this.#entries.delete(key);
    if (this.#entries.size >= MAX_KEYS) this.#entries.clear();
  }
}
