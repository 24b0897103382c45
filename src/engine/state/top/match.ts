// Finds what the top file assigns to this minion.
import { pyStr } from '../../../base/codec/python/index.ts';
import {
  asList,
  type Dict,
  dictEntries,
  dictGet,
  dictKeys,
  fieldOf,
  isDict,
  type Value,
} from '../../../base/codec/value.ts';
import type { Top } from './merge.ts';

export interface TopMatchOptions {
  /** Only this environment, when one was requested. */
  readonly saltenv: string | undefined;
  /**
   * Whether the minion matches an expression of a kind (`glob`, `compound`, …); an invalid expression does not match.
   */
  matches(expression: string, kind: string): boolean | Promise<boolean>;
  hasEnvironment(saltenv: string): Promise<boolean>;
  /** What the master's `master_tops` assign. */
  readonly masterTops: ReadonlyMap<string, readonly string[]>;
  readonly masterTopsFirst: boolean;
}

/** Environment → SLS names, in the order they are written. */
export async function matchTop(top: Top, options: TopMatchOptions): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const [saltenv, targets] of top) {
    if (options.saltenv !== undefined && saltenv !== options.saltenv) continue;
    for (const [target, states] of targets) await takeTarget(found, pyStr(saltenv), target, states, options);
  }
  for (const [saltenv, states] of options.masterTops) {
    const own = found.get(saltenv) ?? [];
    const [first, second] = options.masterTopsFirst ? [states, own] : [own, states];
    found.set(saltenv, [...first, ...second.filter((sls) => !first.includes(sls))]);
  }
  return found;
}

async function takeTarget(
  found: Map<string, string[]>,
  saltenv: string,
  target: Value,
  states: Value,
  options: TopMatchOptions,
): Promise<void> {
  const items = itemsOf(states);
  if (!(await options.matches(pyStr(target), kindOf(items)))) return;
  if (!found.has(saltenv)) found.set(saltenv, []);
  for (const item of items) {
    if (typeof item === 'string') found.get(saltenv)!.push(item);
    else if (isDict(item)) await takeItem(found, saltenv, item, options);
  }
}

/** A text is a list of one; of a dict, which a highstate refuses, Salt uses the keys. */
function itemsOf(states: Value): readonly Value[] {
  if (typeof states === 'string') return [states];
  if (isDict(states)) return dictKeys(states);
  return asList(states) ?? [];
}

/** The last `match:` applies; without one the target is a compound, of which a glob is the simplest. */
function kindOf(items: readonly Value[]): string {
  let kind = 'compound';
  for (const item of items) {
    const match = fieldOf(item, 'match');
    if (match !== undefined) kind = pyStr(match);
  }
  return kind;
}

/** `{subfilter: {target: [...]}}` narrows further; `{env: sls}` uses an SLS from another environment. */
async function takeItem(
  found: Map<string, string[]>,
  saltenv: string,
  item: Dict,
  options: TopMatchOptions,
): Promise<void> {
  const rest = dictEntries(item).filter(([key]) => key !== 'subfilter');
  const filter = dictGet(item, 'subfilter');
  if (filter !== undefined && isDict(filter)) {
    for (const [target, states] of dictEntries(filter)) await takeTarget(found, saltenv, target, states, options);
  }
  const last = rest.at(-1);
  if (!last) return;
  const [env, sls] = [pyStr(last[0]), pyStr(last[1])];
  if (!(await options.hasEnvironment(env))) return;
  const list = found.get(env);
  if (list) list.push(sls);
  else found.set(env, [sls]);
}
