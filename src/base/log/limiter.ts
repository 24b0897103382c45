// Limits log lines: one line per key and period, and a maximum per message; suppressed lines are counted.

const maxKeys = 10_000;
const maxKeyLength = 200;
/** Lines with one message text in a period, for all keys: peers can invent as many names as they like. */
const maxLines = 30;

interface Entry {
  until: number;
  suppressed: number;
}

interface Crowd {
  until: number;
  lines: number;
  /** Keys whose line was suppressed, each once in a period. */
  others: number;
}

export class Limiter {
  readonly #period: number;
  readonly #entries = new Map<string, Entry>();
  readonly #crowds = new Map<string, Crowd>();

  constructor(periodMs = 60_000) {
    this.#period = periodMs;
  }

  get size(): number {
    return this.#entries.size;
  }
  get period(): number {
    return this.#period;
  }

  /** The number of lines suppressed since the last one, or undefined when this one is suppressed too. */
  admit(given: string, now: number): number | undefined {
    const key = given.length > maxKeyLength ? shortened(given) : given;
    const entry = this.#entries.get(key);
    if (entry && this.#isOpen(entry.until, now)) {
      entry.suppressed++;
      return undefined;
    }
    // The oldest key is removed first: a key that is used again moves to the end.
    this.#entries.delete(key);
    if (this.#entries.size >= maxKeys) this.#entries.delete(this.#entries.keys().next().value ?? '');
    this.#entries.set(key, { until: now + this.#period, suppressed: 0 });
    return entry?.suppressed ?? 0;
  }

  /** Whether one more line of this kind may be written; `begins` is true for the first suppressed one. */
  crowded(kind: string, now: number): { readonly held: boolean; readonly begins: boolean } {
    let crowd = this.#crowds.get(kind);
    if (!crowd || !this.#isOpen(crowd.until, now)) {
      crowd = { until: now + this.#period, lines: 0, others: crowd?.others ?? 0 };
      this.#crowds.set(kind, crowd);
    }
    if (crowd.lines < maxLines) {
      crowd.lines++;
      return { held: false, begins: false };
    }
    crowd.others++;
    return { held: true, begins: crowd.others === 1 };
  }

  /** The number of keys of this kind that were suppressed; resets the count. */
  others(kind: string): number {
    const crowd = this.#crowds.get(kind);
    const { others = 0 } = crowd ?? {};
    if (crowd) crowd.others = 0;
    return others;
  }

  #isOpen(until: number, now: number): boolean {
    return now < until && until - now <= this.#period;
  }
}

/** A substring keeps the whole string in memory unless it is copied. */
const shortened = (key: string): string => Buffer.from(key.slice(0, maxKeyLength)).toString();
