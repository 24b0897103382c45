// Which minions a target covers, and which data is missing to decide it.
import { messageOf } from '../../base/errors/index.ts';
import { type Budget, CostError } from '../../base/util/budget.ts';
import { forOneMinion, targetBudget } from './limits.ts';
import { testOf } from './match.ts';
import type { Subject, Target, Verdict } from './types.ts';

export interface Resolution {
  readonly matched: string[];
  /** Cannot be decided: their grains or pillar are not known, or matching them failed. */
  readonly unknown: string[];
  /** Why matching failed, for some of the minions for which it did; absent when there are none. */
  readonly failed?: ReadonlyMap<string, string>;
}

const mostReasons = 100;

/**
 * Iterates over the minions once; the test is compiled before, so lists and globs cost a lookup per id. Data of one
 * minion on which the test fails affects only this minion: it is then unknown, and the others are still decided.
 * Throws 'target.cost' when the total exceeds the budget.
 */
export function resolve(target: Target, fleet: Iterable<Subject>, budget: Budget = targetBudget(0, false)): Resolution {
  const test = testOf(target);
  const matched: string[] = [];
  const unknown: string[] = [];
  const failed = new Map<string, string>();
  for (const subject of fleet) {
    budget.startPart(forOneMinion);
    let found: Verdict;
    try {
      found = test(subject, budget);
    } catch (error) {
      if (error instanceof CostError && error.whole) throw error;
      found = 'unknown';
      if (failed.size < mostReasons) failed.set(subject.id, messageOf(error));
    }
    if (found === 'match') matched.push(subject.id);
    else if (found === 'unknown') unknown.push(subject.id);
  }
  return { matched, unknown, ...(failed.size > 0 ? { failed } : {}) };
}
