// A simulated clock: timers and the time of day, for code that uses the global ones.

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class SimulatedClock {
  #wall: number;
  /** Timers know nothing of a time of day that is set anew. */
  #ticks = 0;
  #order = 0;
  /** It was set forward: what was to last until a moment may have lasted no time at all. */
  leapt = false;
  readonly #timers = new Map<object, Timer>();
  /** Those made with the global functions: they end with the process that made them. */
  readonly #global = new Set<object>();
  readonly #settle: () => Promise<void>;
  readonly #real = { setTimeout, clearTimeout, now: Date.now };

  constructor(wall: number, settle: () => Promise<void>) {
    this.#wall = wall;
    this.#settle = settle;
  }

  install(): void {
    const set = (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): object => {
      const timer = this.after(ms, () => run(...given));
      this.#global.add(timer);
      return timer;
    };
    Object.assign(globalThis, { setTimeout: set, clearTimeout: (timer: object) => this.clear(timer) });
    Date.now = () => this.#wall;
  }

  uninstall(): void {
    const { setTimeout, clearTimeout, now } = this.#real;
    Object.assign(globalThis, { setTimeout, clearTimeout });
    Date.now = now;
  }

  after(ms: number, run: () => void): object {
    const timer = { unref: () => timer, ref: () => timer, hasRef: () => false };
    this.#timers.set(timer, { at: this.#ticks + Math.max(1, ms), order: this.#order++, run });
    return timer;
  }

  clear(timer: object): void {
    this.#timers.delete(timer);
    this.#global.delete(timer);
  }

  forgetGlobal(): void {
    for (const timer of this.#global) this.#timers.delete(timer);
    this.#global.clear();
  }

  /** Somebody sets the time of day. */
  step(ms: number): void {
    this.leapt ||= ms > 0;
    this.#wall += ms;
  }

  /** Lets time pass: each timer at its moment, and everything it causes before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#ticks + ms;
    await this.#settle();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      const [key, timer] = next;
      this.clear(key);
      this.#go(Math.max(timer.at, this.#ticks));
      timer.run();
      await this.#settle();
    }
    this.#go(end);
  }

  #go(to: number): void {
    this.#wall += to - this.#ticks;
    this.#ticks = to;
  }

  #next(end: number): [object, Timer] | undefined {
    let found: [object, Timer] | undefined;
    for (const entry of this.#timers) {
      const [, timer] = entry;
      if (
        timer.at > end ||
        (found && (found[1].at < timer.at || (found[1].at === timer.at && found[1].order < timer.order)))
      )
        continue;
      found = entry;
    }
    return found;
  }
}
