// Whether a target expression matches this minion.
import { asDict, type Dict, type Value } from '../../base/codec/value.ts';
import { matches, parseTarget } from '../../protocol/target/index.ts';

export interface MatchSubject {
  readonly id: string;
  readonly opts: Readonly<Record<string, Value>>;
  readonly grains: Value;
  readonly pillar: Value;
}

/** True on a match. An invalid expression matches nothing, as on real minions. */
export async function matchesMinion(
  subject: MatchSubject,
  expression: string | readonly string[],
  kind: string,
  delimiter = ':',
): Promise<boolean> {
  const { nodegroups } = subject.opts;
  const target = parseTarget(expression, kind, {
    delimiter,
    lenient: true,
    nodegroups: asDict(nodegroups),
  });
  const found = matches(target, { id: subject.id, grains: subject.grains as Dict, pillar: subject.pillar as Dict });
  return found === 'match';
}
