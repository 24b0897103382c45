// Which minions a target expression matches, among the accepted keys and their known grains and pillar.
import { asDict, type Dict, newDict, type PlainDict } from '../../base/codec/value.ts';
import type { Logger } from '../../base/log/index.ts';
import {
  listedIds,
  parseTarget,
  resolve,
  type Subject,
  type Target,
  targetBudget,
} from '../../protocol/target/index.ts';

/** The data with which targets are resolved. */
export interface TargetSources {
  readonly opts: { readonly raw: PlainDict };
  readonly keys: { ids(state: 'accepted'): readonly string[] };
  readonly fleet: { data(id: string): { readonly grains: Dict; readonly pillar: Dict } | undefined };
  readonly log: Pick<Logger, 'limited'>;
}

export interface MatchOptions {
  readonly delimiter?: string | undefined;
  /** Overrides those of the master's configuration. */
  readonly nodegroups?: Dict | undefined;
  /** Only these ids instead of all accepted ones. */
  readonly ids?: readonly string[];
  /** Requested by a minion or a limited user: it may cost less than a request of an operator. */
  readonly foreign?: boolean;
  /** Compares pillar values exactly, without patterns. */
  readonly exactPillar?: boolean;
}
export interface FleetMatch {
  readonly target: Target;
  readonly matched: string[];
  /** Data needed for the decision is not available here. */
  readonly unknown: string[];
  /** Named in a list, without an accepted key. */
  readonly absent: readonly string[];
}

export class Targets {
  readonly #sources: TargetSources;

  constructor(sources: TargetSources) {
    this.#sources = sources;
  }

  /** Those of the master's configuration. */
  get nodegroups(): Dict {
    const given = this.#sources.opts.raw['nodegroups'];
    return asDict(given) ?? newDict();
  }

  match(expression: string | readonly string[], kind: string, options: MatchOptions = {}): FleetMatch {
    const { keys, log } = this.#sources;
    const target = parseTarget(expression as string | string[], options.exactPillar ? exactKind(kind) : kind, {
      delimiter: options.delimiter ?? ':',
      nodegroups: options.nodegroups ?? this.nodegroups,
    });
    const ids = options.ids ?? keys.ids('accepted');
    const budget = targetBudget(ids.length, options.foreign === true);
    const { matched, unknown, failed } = resolve(target, this.#subjects(ids), budget);
    for (const [id, why] of failed ?? []) {
      // Logged once per minion and period: the cause is its data.
      log.limited(`match:${id}`, 'warn', 'a minion cannot be matched by its data', { minion: id, why });
    }
    const listed = listedIds(target);
    const known = listed.length > 0 ? new Set(ids) : undefined;
    return { target, matched, unknown, absent: listed.filter((id) => !known?.has(id)) };
  }

  *#subjects(ids: readonly string[]): Iterable<Subject> {
    for (const id of ids) {
      const data = this.#sources.fleet.data(id);
      yield data ? { id, grains: data.grains, pillar: data.pillar } : { id };
    }
  }
}

function exactKind(kind: string): string {
  if (kind === 'pillar' || kind === 'pillar_pcre') return 'pillar_exact';
  return kind === 'compound' ? 'compound_pillar_exact' : kind;
}
