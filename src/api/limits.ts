// How many calls run at the same time: for all users, for each user, and how many may wait.
import { ApiError, tooMany } from './http/errors.ts';

/** One user cannot take all places. */
const mostByUser = 32;

export class CallLimits {
  readonly #width: number;
  readonly #queue: number;
  readonly #waiting: (() => void)[] = [];
  readonly #users = new Map<string, number>();
  #busy = 0;

  constructor(width: number, queue: number) {
    this.#width = width;
    this.#queue = queue;
  }

  get busy(): number {
    return this.#busy;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async run<T>(user: string, work: () => Promise<T>): Promise<T> {
    const own = this.#users.get(user) ?? 0;
    if (own >= mostByUser) throw tooMany(`This user has ${own} calls under way`);
    this.#users.set(user, own + 1);
    try {
      await this.#enter();
      try {
        return await work();
      } finally {
        this.#leave();
      }
    } finally {
      const left = (this.#users.get(user) ?? 1) - 1;
      if (left > 0) this.#users.set(user, left);
      else this.#users.delete(user);
    }
  }

  async #enter(): Promise<void> {
    if (this.#busy < this.#width) {
      this.#busy++;
      return;
    }
    if (this.#waiting.length >= this.#queue)
      throw new ApiError(503, 'The API has too many calls under way', { headers: { 'Retry-After': '5' } });
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place passes to the call that has waited longest. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#busy--;
  }
}
