// What a caller may look at: the rules that decide what it may run decide this too.
import type { Targets } from '../publish/targets.ts';
import {
  isUnlimited,
  type MasterKind,
  opensAll,
  permitsMaster,
  permitsPublish,
  type RequestedCall,
  type Rule,
} from './rules.ts';

export interface ViewRightsParts {
  readonly rules: readonly Rule[];
  readonly targets: Pick<Targets, 'match'>;
  /** The master's own users, to whom no rules apply. */
  readonly operator?: boolean;
  readonly now?: () => number;
}

/** How long the minions of a rule are remembered. */
const rememberMs = 5_000;

export class ViewRights {
  /** Sees and may do everything. */
  readonly everything: boolean;
  /** A rule permits every function on every minion. */
  readonly unlimited: boolean;
  readonly #parts: ViewRightsParts;
  readonly #minions = new Map<string, { readonly ids: ReadonlySet<string>; readonly until: number }>();

  constructor(parts: ViewRightsParts) {
    this.#parts = parts;
    const { rules, operator = false } = parts;
    this.unlimited = operator || isUnlimited(rules);
    this.everything = operator || (this.unlimited && opensAll(rules, '@runner') && opensAll(rules, '@wheel'));
  }

  get rules(): readonly Rule[] {
    return this.#parts.rules;
  }

  /** Whether some rule is about every minion. */
  get coversAll(): boolean {
    return this.everything || this.#parts.rules.some(({ scope }) => scope === undefined || scope === '*');
  }

  /** Whether any rule is about this minion. */
  covers(id: string): boolean {
    return (
      this.coversAll ||
      this.#parts.rules.some(({ scope }) => scope !== undefined && !scope.startsWith('@') && this.idsOf(scope).has(id))
    );
  }

  /** Whether all these calls are permitted on all these minions; there must be at least one of them. */
  mayRun(calls: readonly RequestedCall[], ids: readonly string[]): boolean {
    if (this.everything) return true;
    if (ids.length === 0) return false;
    return permitsPublish(this.#parts.rules, calls, (scope) => {
      const known = this.idsOf(scope);
      return ids.every((id) => known.has(id));
    });
  }

  /** Whether a rule permits the function, with some arguments: on all minions, or on some. */
  reach(fun: string): 'all' | 'some' | 'none' {
    if (this.unlimited) return 'all';
    const call = { fun, args: [], kwargs: new Map() };
    const rules = this.#parts.rules.map((rule) => withoutLimits(rule));
    if (permitsPublish(rules, [call], () => false)) return 'all';
    return permitsPublish(rules, [call], () => true) ? 'some' : 'none';
  }

  mayCall(kind: MasterKind, fun: string, args: RequestedCall['args'] = []): boolean {
    return this.everything || permitsMaster(this.#parts.rules, kind, { fun, args, kwargs: new Map() });
  }

  get seesKeys(): boolean {
    return this.mayCall('wheel', 'key.list_all') && this.mayCall('wheel', 'key.finger');
  }

  /** Everything that shows the master itself. */
  get operates(): boolean {
    return this.everything || opensAll(this.#parts.rules, '@wheel');
  }

  /** The minions that the expression of a rule matches now. */
  idsOf(scope: string): ReadonlySet<string> {
    const { now = Date.now, targets } = this.#parts;
    const known = this.#minions.get(scope);
    if (known && known.until > now()) return known.ids;
    const ids = new Set(targets.match(scope, 'compound').matched);
    this.#minions.set(scope, { ids, until: now() + rememberMs });
    return ids;
  }
}

function withoutLimits({ scope, conditions }: Rule): Rule {
  return { scope, conditions: conditions === 'all' ? conditions : conditions.map(({ fun }) => ({ fun })) };
}
