// Latencies in buckets that grow by two percent: a fixed size for any number of values, and sums of several processes.

const growth = Math.log(1.02);
const smallestMs = 0.01;
const buckets = 1200;

/** The buckets that are not empty, as pairs of index and count, one after the other. */
export interface PackedHistogram {
  readonly pairs: readonly number[];
  readonly sum: number;
  readonly most: number;
}

export interface Percentiles {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

export class Histogram {
  readonly #counts = new Uint32Array(buckets);
  #count = 0;
  #sum = 0;
  #most = 0;

  add(ms: number): void {
    const index = ms <= smallestMs ? 0 : Math.min(buckets - 1, Math.ceil(Math.log(ms / smallestMs) / growth));
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#count += 1;
    this.#sum += ms;
    if (ms > this.#most) this.#most = ms;
  }

  merge({ pairs, sum, most }: PackedHistogram): this {
    for (let at = 0; at + 1 < pairs.length; at += 2) {
      const index = Math.min(buckets - 1, pairs[at] ?? 0);
      const count = pairs[at + 1] ?? 0;
      this.#counts[index] = (this.#counts[index] ?? 0) + count;
      this.#count += count;
    }
    this.#sum += sum;
    this.#most = Math.max(this.#most, most);
    return this;
  }

  packed(): PackedHistogram {
    const pairs: number[] = [];
    for (let at = 0; at < buckets; at++) {
      const count = this.#counts[at] ?? 0;
      if (count > 0) pairs.push(at, count);
    }
    return { pairs, sum: this.#sum, most: this.#most };
  }

  percentiles(): Percentiles {
    const mean = this.#count === 0 ? 0 : this.#sum / this.#count;
    return {
      count: this.#count,
      mean: rounded(mean),
      p50: this.#at(0.5),
      p99: this.#at(0.99),
      p999: this.#at(0.999),
      max: rounded(this.#most),
    };
  }

  /** The upper end of the bucket, but never more than the largest value. */
  #at(share: number): number {
    let left = Math.ceil(this.#count * share);
    if (left === 0) return 0;
    for (let index = 0; index < buckets; index++) {
      left -= this.#counts[index] ?? 0;
      if (left <= 0) return rounded(Math.min(this.#most, smallestMs * Math.exp(index * growth)));
    }
    return rounded(this.#most);
  }
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;
