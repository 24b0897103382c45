// Whom a target expression means, among the accepted keys and what is known of their grains and pillar.
import { type Dict, newDict, type PlainDict } from '../../base/codec/value.ts';
import { parseTarget, resolve, type Subject, type Target, targetBudget } from '../../protocol/target/index.ts';
import type { Master } from '../core.ts';

export interface MatchOptions {
  readonly delimiter?: string | undefined;
  /** Instead of those of the master's configuration. */
  readonly nodegroups?: Dict | undefined;
  /** Only these ids instead of all accepted ones. */
  readonly ids?: readonly string[];
  /** Asked by a minion or a limited user: it may cost less than what an operator asks. */
  readonly foreign?: boolean;
}
export interface FleetMatch {
  readonly target: Target;
  readonly matched: string[];
  /** Data needed for the decision is not known here. */
  readonly unknown: string[];
}

/** Those of the master's configuration. */
export function nodegroupsOf({ opts }: Master): Dict {
  return (opts as unknown as { nodegroups?: PlainDict }).nodegroups ?? newDict();
}

export function matchFleet(
  master: Master,
  expression: string | readonly string[],
  kind: string,
  options: MatchOptions = {},
): FleetMatch {
  const target = parseTarget(expression as string | string[], kind, {
    delimiter: options.delimiter ?? ':',
    nodegroups: options.nodegroups ?? nodegroupsOf(master),
  });
  const ids = options.ids ?? master.keys.ids('accepted');
  const budget = targetBudget(ids.length, options.foreign === true);
  const { matched, unknown, failed } = resolve(target, subjects(master, ids), budget);
  for (const [id, why] of failed ?? []) {
    // LifecycleReport once per minion and while: the cause is its data.
    master.log.limited(`match:${id}`, 'warn', 'a minion cannot be matched by its data', { minion: id, why });
  }
  return { target, matched, unknown };
}

function* subjects(master: Master, ids: readonly string[]): Iterable<Subject> {
  for (const id of ids) {
    const data = master.fleet.data(id);
    yield data ? { id, grains: data.grains, pillar: data.pillar } : { id };
  }
}
