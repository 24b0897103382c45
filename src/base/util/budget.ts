// Bounds the work that a request may cause: every matcher for untrusted patterns or texts uses such a budget.
import { HaliteError } from '../errors/index.ts';

/** One step is about the cost of one character in a compiled expression: some nanoseconds. */
const forOneText = 2_000_000;

/** For one pattern on one text outside of any request. */
export const textBudget = (): Budget => new Budget(forOneText);

export class Budget {
  #left: number;
  #floor = 0;

  constructor(steps: number) {
    this.#left = steps;
  }

  /** Starts one part of the request, such as one minion of many, which may use no more than this. */
  startPart(most: number): void {
    this.#floor = Math.max(0, this.#left - most);
  }

  /** Throws when the budget of the part or of the whole request is exhausted. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < this.#floor) throw new CostError(this.#left < 0);
  }

  get isEmpty(): boolean {
    return this.#left < 0;
  }
}

/** A pattern, a path or a target needed more steps than allowed. */
export class CostError extends HaliteError {
  /** The budget of the whole request is exhausted, not only that of one part. */
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
