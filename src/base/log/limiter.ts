// Lets one line per key and period through, and of one kind only so many; the rest is counted.

const maxKeys = 10_000;
const maxKeyLength = 200;
/** Lines of one kind (one message text) in a period, whatever their keys: peers can invent as many names as they like. */
const maxLines = 30;

interface Entry {
  until: number;
  suppressed: number;
}

interface Crowd {
  until: number;
  lines: number;
  /** Keys whose line was held back, each once in a period. */
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

  /** How many lines were held back since the last one, or undefined when this one has to wait too. */
  admit(given: string, now: number): number | undefined {
    const key = given.length > maxKeyLength ? shortened(given) : given;
    const entry = this.#entries.get(key);
    if (entry && this.#isOpen(entry.until, now)) {
      entry.suppressed++;
      return undefined;
    }
    // The oldest goes first: a key that is used again moves to the end.
    this.#entries.delete(key);
    if (this.#entries.size >= maxKeys) this.#entries.delete(this.#entries.keys().next().value ?? '');
    this.#entries.set(key, { until: now + this.#period, suppressed: 0 });
    return entry?.suppressed ?? 0;
  }

  /** Whether one more line of this kind may be written; `begins` is true for the first that is held back. */
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

  /** How many keys of this kind were held back; from now on they are counted anew. */
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

/** A part of a text keeps the whole of it in memory, unless it is made anew. */
const shortened = (key: string): string => Buffer.from(key.slice(0, maxKeyLength)).toString();
