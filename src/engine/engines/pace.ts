// Delays what comes too often: so many per second, with some at once.

export class Pace {
  readonly #intervalMs: number;
  readonly #allowanceMs: number;
  readonly #now: () => number;
  /** When the next one is due; up to the allowance in the past. */
  #due = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, atOnce: number, now = (): number => performance.now()) {
    this.#intervalMs = 1000 / perSecond;
    this.#allowanceMs = this.#intervalMs * atOnce;
    this.#now = now;
  }

  /** Takes a place and returns how many milliseconds it is away. */
  place(): number {
    const now = this.#now();
    this.#due = Math.max(this.#due, now - this.#allowanceMs) + this.#intervalMs;
    return Math.max(0, this.#due - now);
  }

  /** Whether there is a place now; takes it. */
  take(): boolean {
    const now = this.#now();
    const due = Math.max(this.#due, now - this.#allowanceMs) + this.#intervalMs;
    if (due > now) return false;
    this.#due = due;
    return true;
  }
}
