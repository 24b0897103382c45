// Which events a user of external authentication may see: those about what the user started or may do.
import { asList, asText, type Dict, dictGet, isTexts, type Value } from '../../base/codec/value.ts';
import { matchesWhole } from '../../base/util/pyregex.ts';
import type { Targets } from '../publish/targets.ts';
import { argumentsOf } from './call-arguments.ts';
import { type MasterKind, permitsMaster, type Rule } from './rules.ts';
import { ViewRights } from './view-rights.ts';

export interface EventRightsParts {
  readonly rules: readonly Rule[];
  readonly targets: Pick<Targets, 'match'>;
  /** Whether this user started the job, runner or wheel function with that id. */
  started(jid: string): boolean;
  readonly now?: () => number;
}

export class EventRights {
  readonly #parts: EventRightsParts;
  readonly #view: ViewRights;

  constructor(parts: EventRightsParts) {
    this.#parts = parts;
    this.#view = new ViewRights(parts);
  }

  maySee(tag: string, data: Dict): boolean {
    if (this.#view.everything) return true;
    const [root, kind, name, what, id] = tag.split('/');
    if (root !== 'salt') return this.#named(tag);
    switch (kind) {
      case 'job':
        return this.#job(name ?? '', what, id, data) || this.#named(tag);
      case 'run':
        return this.#function('runners', name ?? '', data) || this.#named(tag);
      case 'wheel':
        return this.#function('wheel', name ?? '', data) || this.#named(tag);
      case 'key':
      case 'auth':
        return this.#view.seesKeys || this.#named(tag);
      case 'minion':
      case 'beacon':
        return this.#view.covers(name ?? '') || this.#named(tag);
      default:
        return this.#named(tag);
    }
  }

  /** Rules `@events`, whole or with expressions for tags. */
  #named(tag: string): boolean {
    return this.#parts.rules.some(
      ({ scope, conditions }) =>
        scope === '@events' && (conditions === 'all' || conditions.some(({ fun }) => matchesWhole(tag, fun))),
    );
  }

  #job(jid: string, what: string | undefined, id: string | undefined, data: Dict): boolean {
    if (this.#parts.started(jid)) return true;
    const fun = dictGet(data, 'fun');
    const functions = typeof fun === 'string' ? [fun] : isTexts(fun) ? fun : [];
    if (functions.length === 0) return false;
    const given = asList(dictGet(data, 'fun_args')) ?? asList(dictGet(data, 'arg')) ?? [];
    const ids = what === 'ret' || what === 'prog' ? [id ?? ''] : textsOf(dictGet(data, 'minions'));
    if (ids.length === 0) return false;
    const calls = functions.map((name, at) => ({
      fun: name,
      ...argumentsOf(typeof fun === 'string' ? given : (asList(given[at]) ?? [])),
    }));
    // Everybody may ask whether a job runs; its result is for those who asked.
    if (functions.includes('saltutil.find_job')) return false;
    return this.#view.mayRun(calls, ids);
  }

  #function(kind: MasterKind, jid: string, data: Dict): boolean {
    if (this.#parts.started(jid)) return true;
    const fun = asText(dictGet(data, 'fun')) ?? '';
    const at = fun.indexOf('.');
    const call = { fun: fun.slice(at + 1), ...argumentsOf(asList(dictGet(data, 'fun_args')) ?? []) };
    return at > 0 && permitsMaster(this.#parts.rules, kind, call);
  }
}

const textsOf = (value: Value | undefined): string[] => (isTexts(value) ? value : []);
