// Admission of sign-ins. Any peer can ask for one, and each costs RSA operations in the four threads of Node's pool, where
// jobs are signed too: few run at a time, and the others wait. After an outage all minions come at once, and a minion that
// got no answer in time asks again, so the master must not spend its time on those that no longer wait.
import type { Value } from '../../base/codec/value.ts';

export interface AskedSignIn {
  /** It presents the accepted key of its id: what strangers ask for does not delay it for long. */
  isKnown(): boolean;
  /** Its peer has hung up: nobody would read the answer. */
  isGone(): boolean;
  sign(): Promise<Value>;
  /** The answer that makes it come back after some seconds; undefined for peers that understand none. */
  later: ((seconds: number) => Value) | undefined;
}

export interface SignInQueueOptions {
  readonly width: number;
  /** A sign-in that takes longer continues, but no longer blocks those that wait. */
  readonly stuckMs: number;
  /** Those that would wait longer are told to come back: minions wait this long for an answer. */
  readonly patienceMs: number;
  readonly counted: (what: 'busy' | 'gone') => void;
  readonly now?: () => number;
}

/** How long one takes until that is measured, and the bounds of what is believed. */
const [firstMs, leastMs, mostMs] = [2, 0.05, 1000];
/** Weight of the newest measurement. */
const weight = 0.05;
const longestReturnMs = 60_000;
/** Every fourth turn belongs to a stranger that waits, so that new minions get in beside known ones. */
const strangersTurn = 4;

interface Waiting {
  readonly asked: AskedSignIn;
  readonly start: () => void;
  readonly skip: () => void;
}

export class SignInQueue {
  readonly #options: SignInQueueOptions;
  readonly #now: () => number;
  readonly #known: Waiting[] = [];
  readonly #strangers: Waiting[] = [];
  #busy = 0;
  #turn = 0;
  /** The mean time from one that ends to the next while others wait. */
  #eachMs = firstMs;
  #endedAt = 0;
  /** When the last one that was told to come back will come. */
  #returnAt = 0;

  constructor(options: SignInQueueOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get waiting(): number {
    return this.#known.length + this.#strangers.length;
  }

  /** Resolves with the answer; undefined when there is nobody to answer. */
  run(asked: AskedSignIn): Promise<Value | undefined> {
    if (this.#busy < this.#options.width) return this.#start(asked);
    const waitMs = this.waiting * this.#eachMs;
    if (asked.later && waitMs > this.#options.patienceMs) {
      this.#options.counted('busy');
      return Promise.resolve(asked.later(this.#returnAfter(waitMs)));
    }
    const line = asked.isKnown() ? this.#known : this.#strangers;
    return new Promise((resolve) => {
      const start = () => resolve(this.#start(asked));
      line.push({ asked, start, skip: () => resolve(undefined) });
    });
  }

  async #start(asked: AskedSignIn): Promise<Value> {
    this.#busy++;
    let isInside = true;
    const leave = (): void => {
      if (!isInside) return;
      isInside = false;
      clearTimeout(stuck);
      this.#busy--;
      this.#ended();
    };
    const stuck = setTimeout(leave, this.#options.stuckMs).unref();
    try {
      return await asked.sign();
    } finally {
      leave();
    }
  }

  #ended(): void {
    const now = this.#now();
    if (this.waiting > 0 && this.#endedAt > 0) {
      const took = Math.min(mostMs, Math.max(leastMs, now - this.#endedAt));
      this.#eachMs += (took - this.#eachMs) * weight;
    }
    let next = this.#next();
    while (next?.asked.isGone()) {
      this.#options.counted('gone');
      next.skip();
      next = this.#next();
    }
    // After a pause the time between two says nothing about how long one takes.
    this.#endedAt = next ? now : 0;
    next?.start();
  }

  #next(): Waiting | undefined {
    const strangerFirst = ++this.#turn % strangersTurn === 0;
    const [first, second] = strangerFirst ? [this.#strangers, this.#known] : [this.#known, this.#strangers];
    return first.shift() ?? second.shift();
  }

  /** Seconds. Each gets a later moment than the one before, as far apart as they can be served. */
  #returnAfter(waitMs: number): number {
    const now = this.#now();
    const next = Math.max(this.#returnAt, now + waitMs) + this.#eachMs;
    this.#returnAt = Math.min(next, now + longestReturnMs);
    return Math.ceil((this.#returnAt - now) / 100) / 10;
  }
}
