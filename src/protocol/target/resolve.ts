// Which of a fleet a target covers, and what data is needed to say so.
import { testOf } from './match.ts';
import type { Expression, Subject, Target } from './types.ts';

export interface Resolution {
  readonly matched: string[];
  /** Cannot be decided here: their grains or pillar are not known. */
  readonly unknown: string[];
}

/** Runs over the fleet once; the test is compiled before, so lists and globs cost a lookup per id. */
export function resolve(target: Target, fleet: Iterable<Subject>): Resolution {
  const test = testOf(target);
  const matched: string[] = [];
  const unknown: string[] = [];
  for (const subject of fleet) {
    const found = test(subject);
    if (found === 'match') matched.push(subject.id);
    else if (found === 'unknown') unknown.push(subject.id);
  }
  return { matched, unknown };
}

export interface DataNeeds {
  readonly grains: boolean;
  readonly pillar: boolean;
}

/** What a subject must carry so that nothing stays unknown; neither means: ids are enough. */
export function dataNeeded(target: Target): DataNeeds {
  return needsOf(target.type === 'compound' ? target.expression : target);
}

function needsOf(expression: Expression): DataNeeds {
  switch (expression.type) {
    case 'and':
    case 'or': {
      const left = needsOf(expression.left);
      const right = needsOf(expression.right);
      return { grains: left.grains || right.grains, pillar: left.pillar || right.pillar };
    }
    case 'not':
      return needsOf(expression.inner);
    default: {
      const { type } = expression;
      return { grains: type.startsWith('grain') || type === 'ipcidr', pillar: type.startsWith('pillar') };
    }
  }
}
