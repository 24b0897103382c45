// The counters of all instrumented files, and what of them was never seen before.

/** More than all of Halite has; memory that is never touched costs nothing. */
const most = 1 << 18;

export class Coverage {
  readonly #counters = new Uint32Array(most);
  /** Which orders of magnitude were seen of each counter. */
  readonly #seen = new Uint8Array(most);
  #used = 0;
  /** Places reached by any run. */
  reached = 0;

  /** Called by every instrumented file when it is loaded. */
  file(count: number): Uint32Array {
    const from = this.#used;
    this.#used += count;
    if (this.#used > most) throw new Error('more places than the fuzzer has counters for');
    return this.#counters.subarray(from, this.#used);
  }

  get places(): number {
    return this.#used;
  }

  /** Reads and clears the counters; true when something was reached for the first time, or ten times as often. */
  take(): boolean {
    let fresh = false;
    for (let at = 0; at < this.#used; at++) {
      const count = this.#counters[at] as number;
      if (count === 0) continue;
      this.#counters[at] = 0;
      const before = this.#seen[at] as number;
      const after = before | magnitude(count);
      if (after === before) continue;
      fresh = true;
      if (before === 0) this.reached++;
      this.#seen[at] = after;
    }
    return fresh;
  }

  /** How many places were passed since the counters were cleared. */
  count(): number {
    let steps = 0;
    for (let at = 0; at < this.#used; at++) steps += this.#counters[at] as number;
    return steps;
  }

  /** Reads and clears the counters; the places reached by the last run. */
  takePlaces(): number[] {
    const places: number[] = [];
    for (let at = 0; at < this.#used; at++) {
      if (this.#counters[at] !== 0) places.push(at);
      this.#counters[at] = 0;
    }
    return places;
  }
}

function magnitude(count: number): number {
  if (count < 4) return 1 << (count - 1);
  if (count < 8) return 8;
  if (count < 16) return 16;
  if (count < 128) return 32;
  return count < 4096 ? 64 : 128;
}
