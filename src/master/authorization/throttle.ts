// Failed logins are counted for a limited time; whoever fails too often has to wait, longer each time.

interface Count {
  failures: number;
  /** Everything is forgotten after this time. */
  until: number;
  /** No attempt before this time, and how long the last wait was. */
  blockedUntil: number;
  waitMs: number;
}

/** What is counted, and how many failures a minute are allowed. */
export interface Counted {
  readonly key: string;
  readonly most: number;
}

const minuteMs = 60_000;
const firstWaitMs = 5_000;
const longestWaitMs = 15 * minuteMs;
/** More names than this are not remembered; the oldest is forgotten first. */
const mostKeys = 20_000;

export class Throttle {
  readonly #counts = new Map<string, Count>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** How long to wait before another attempt, in milliseconds; 0: now. */
  waitOf(counted: readonly Counted[]): number {
    const now = this.#now();
    return Math.max(0, ...counted.map(({ key }) => (this.#counts.get(key)?.blockedUntil ?? 0) - now));
  }

  failed(counted: readonly Counted[]): void {
    const now = this.#now();
    for (const { key, most } of counted) {
      const known = this.#counts.get(key);
      const count =
        known && now <= known.until ? known : { failures: 0, until: now + minuteMs, blockedUntil: 0, waitMs: 0 };
      count.failures += 1;
      if (count.failures >= most) {
        count.waitMs = Math.min(Math.max(firstWaitMs, count.waitMs * 2), longestWaitMs);
        count.blockedUntil = now + count.waitMs;
        // Whoever fails again at once after the wait waits twice as long.
        count.until = count.blockedUntil + longestWaitMs;
      }
      this.#remember(key, count);
    }
  }

  succeeded(counted: readonly Counted[]): void {
    for (const { key } of counted) this.#counts.delete(key);
  }

  get size(): number {
    return this.#counts.size;
  }

  #remember(key: string, count: Count): void {
    this.#counts.delete(key);
    this.#counts.set(key, count);
    if (this.#counts.size <= mostKeys) return;
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined) this.#counts.delete(oldest);
  }
}

/** Counts nothing (`login_throttle: false`). */
export class NoThrottle extends Throttle {
  override failed(): void {}
}
