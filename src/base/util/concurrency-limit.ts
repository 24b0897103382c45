// Work that must not happen all at once: so many at a time, the others wait in order.

export class ConcurrencyLimit {
  readonly #width: number;
  readonly #patienceMs: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  /** One that takes longer than `patienceMs` goes on, but no longer keeps others waiting. */
  constructor(width: number, patienceMs: number) {
    this.#width = width;
    this.#patienceMs = patienceMs;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#busy >= this.#width) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#busy++;
    let inside = true;
    const leave = (): void => {
      if (!inside) return;
      inside = false;
      clearTimeout(timer);
      const next = this.#waiting.shift();
      // The place is handed on.
      if (next) next();
      else this.#busy--;
    };
    const timer = setTimeout(leave, this.#patienceMs);
    timer.unref();
    try {
      return await work();
    } finally {
      leave();
    }
  }
}
