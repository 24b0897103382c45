// Limits how many tasks run at the same time; the others wait in order.

export class ConcurrencyLimit {
  readonly #width: number;
  readonly #patienceMs: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  /** A task that takes longer than `patienceMs` continues, but no longer blocks the waiting ones. */
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
      // The slot passes to the next waiting task.
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
