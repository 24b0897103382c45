// The ids that the lists of a target name: whoever names a minion wants to hear about it, also when it has no key.
import type { Expression, Target } from './types.ts';

/** A list behind a `not` names nobody who is wanted. */
export function listedIds(target: Target): readonly string[] {
  return target.type === 'compound' ? [...new Set(idsOf(target.expression))] : idsOf(target);
}

function idsOf(expression: Expression): readonly string[] {
  if (expression.type === 'list') return expression.ids;
  return expression.type === 'and' || expression.type === 'or' ? expression.parts.flatMap(idsOf) : [];
}
