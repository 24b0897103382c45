// Waiting times between attempts: exponential, with jitter so that many minions do not retry at the same time.

export interface BackoffOptions {
  /** First waiting time, in milliseconds. */
  readonly base?: number;
  readonly max?: number;
  readonly factor?: number;
  /** Share of the time that is random, 0 to 1. */
  readonly jitter?: number;
  readonly random?: () => number;
}

export interface Backoff {
  /** Milliseconds to wait before the next attempt. */
  next(): number;
  /** Called after a success: the next wait starts at the base again. */
  reset(): void;
  readonly attempts: number;
}

export function backoff(options: BackoffOptions = {}): Backoff {
  const { base = 1000, max = 60_000, factor = 2, jitter = 0.5, random = Math.random } = options;
  let attempts = 0;
  return {
    next() {
      const full = Math.min(max, base * factor ** attempts);
      attempts++;
      return Math.round(full * (1 - jitter * random()));
    },
    reset() {
      attempts = 0;
    },
    get attempts() {
      return attempts;
    },
  };
}
