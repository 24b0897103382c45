// What the busy parts of a daemon count: plain numbers, that are only read when somebody asks for them.
import type { Sample } from './text.ts';

/** More label values than any of ours has: what comes after them is one value. */
const mostValues = 200;
const otherValue = 'other';

/** One number for each of a few words. */
export class Tally<T extends string = string> {
  readonly #counts = new Map<T | typeof otherValue, number>();

  /** Words that are listed here are shown from the start, so that a rate can be computed from the first event on. */
  constructor(words: readonly T[] = []) {
    for (const word of words) this.#counts.set(word, 0);
  }

  add(word: T): void {
    const before = this.#counts.get(word);
    if (before !== undefined || this.#counts.size < mostValues) this.#counts.set(word, (before ?? 0) + 1);
    else this.#counts.set(otherValue, (this.#counts.get(otherValue) ?? 0) + 1);
  }

  of(word: T): number {
    return this.#counts.get(word) ?? 0;
  }

  samples(label: string): Sample[] {
    return [...this.#counts].map(([word, value]) => ({ labels: { [label]: word }, value }));
  }
}

/** How often a measured value was at most each of the bounds. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  /** In growing order. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = [...bounds, 0].map(() => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at++;
    (this.#counts[at] as number)++;
    this.#sum += value;
  }

  samples(): Sample[] {
    let below = 0;
    const buckets = this.#counts.map((count, at): Sample => {
      below += count;
      const bound = this.#bounds[at];
      return { suffix: '_bucket', labels: { le: bound === undefined ? '+Inf' : String(bound) }, value: below };
    });
    return [...buckets, { suffix: '_sum', value: this.#sum }, { suffix: '_count', value: below }];
  }
}
