// How much work a request may cause: every matcher that meets foreign patterns or texts spends from one of these.
import { HaliteError } from '../errors/index.ts';

/** One step is about what a compiled expression needs for one character: some nanoseconds. */
const forOneText = 2_000_000;

/** For one pattern on one text outside of any request. */
export const textBudget = (): Budget => new Budget(forOneText);

export class Budget {
  #left: number;
  #floor = 0;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** From here on one part of the request, such as one minion of a fleet, may take no more than this. */
  startPart(most: number): void {
    this.#floor = Math.max(0, this.#left - most);
  }

  /** Throws when there is nothing left, of the part or of the whole. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < this.#floor) throw new CostError(this.#left < 0);
  }

  get isEmpty(): boolean {
    return this.#left < 0;
  }
}

/** A pattern, a path or a target took more steps than it may. */
export class CostError extends HaliteError {
  /** Nothing is left of the whole request, not only of one part. */
  readonly whole: boolean;

  constructor(whole: boolean, pattern?: string) {
    const named = pattern === undefined ? 'An expression' : `The expression ${JSON.stringify(shortened(pattern))}`;
    super('target.cost', `${named} needs too many steps`, {
      hint: 'Write it without repeats inside repeats and without references to groups, or name fewer minions.',
    });
    this.whole = whole;
  }
}

const shown = 200;
export const shortened = (text: string): string => (text.length > shown ? `${text.slice(0, shown)}…` : text);
