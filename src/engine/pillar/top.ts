// Pillar top files: collected, merged and matched against the minion.
import {
  asDict,
  asList,
  type Dict,
  dictEntries,
  dictGet,
  dictHas,
  fieldOf,
  isDict,
  PyFloat,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { isTargetKind, matches, parseTarget, type Subject } from '../../protocol/target/index.ts';
import { renderFile } from '../render/index.ts';
import type { Compilation } from './compilation.ts';
import { without } from './merge.ts';
import type { TopData } from './types.ts';

interface TopFile {
  readonly data: Value;
  /** The source of its entries, for `pillar.explain`. */
  readonly path: string;
}

export interface Top {
  readonly data: TopData;
  readonly files: readonly string[];
  /** SLS that may be missing, by environment. */
  readonly ignored: ReadonlyMap<Value, ReadonlySet<string>>;
}

/** The merged top file of all relevant environments. */
export async function getTop(compilation: Compilation): Promise<Top> {
  const tops = await gather(compilation);
  const files = [...tops.values()].flatMap((list) => list.map((top) => top.path));
  try {
    return { ...mergeTops(tops), files };
  } catch (error) {
    if (!(error instanceof WrongShape)) throw error;
    compilation.errors.thrown(
      'Error encountered while rendering pillar top file.',
      'The pillar top file is malformed',
      error,
    );
    return { data: new Map(), files, ignored: new Map() };
  }
}

async function gather(compilation: Compilation): Promise<Map<string, TopFile[]>> {
  const { roots, opts, errors, host } = compilation;
  const tops = new Map<string, TopFile[]>();
  const add = (saltenv: string, top: TopFile): void => {
    tops.set(saltenv, [...(tops.get(saltenv) ?? []), top]);
  };
  const render = (path: string, saltenv: string): Promise<Value> => renderFile(host, path, { saltenv });
  try {
    for (const saltenv of topEnvironments(compilation)) {
      const found = await roots.cacheFile(String(opts['state_top']), saltenv);
      if (found) add(saltenv, { data: await render(found.path, saltenv), path: found.path });
    }
  } catch (error) {
    // As in Salt: the first top file that fails ends the search.
    const what = 'Rendering Primary Top file failed, render error';
    errors.thrown(`${what}:\n${messageOf(error)}`, what, error);
  }
  for (const [saltenv, list] of [...tops]) {
    const included = list.flatMap(({ data }) => includesOf(data));
    tops.set(
      saltenv,
      list.map(({ data, path }) => ({ data: isDict(data) ? without(data, 'include') : data, path })),
    );
    for (const sls of new Set(included)) {
      try {
        const found = await roots.state(sls, saltenv);
        if (found) add(saltenv, { data: await render(found.path, saltenv), path: found.path });
      } catch (error) {
        const what = `Rendering Top file ${sls} failed, render error`;
        errors.thrown(`${what}:\n${messageOf(error)}`, what, error);
      }
    }
  }
  return tops;
}

/**
 * As in Salt: only the pillar environment when one is chosen, else all; with the strategy `none` only the state
 * environment.
 */
function topEnvironments({ roots, opts, saltenv, pillarenv }: Compilation): string[] {
  if (pillarenv) return roots.folders(pillarenv) === undefined ? [] : [pillarenv];
  const all = roots.environments();
  if (opts['pillar_source_merging_strategy'] !== 'none') return all;
  return all.filter((name) => name === (saltenv || 'base'));
}

function includesOf(top: Value): string[] {
  const include = fieldOf(top, 'include');
  return (asList(include) ?? []).map(String);
}

class WrongShape extends HaliteError {
  constructor(what: string) {
    super('render.failed', what);
  }
}

function mergeTops(tops: ReadonlyMap<string, readonly TopFile[]>): Pick<Top, 'data' | 'ignored'> {
  const data: TopData = new Map();
  const orders = new Map<Value, Map<Value, number>>();
  const ignored = new Map<Value, Set<string>>();
  for (const { data: top } of [...tops.values()].flat()) {
    if (!isDict(top)) throw new WrongShape('the top file is not a map of environments');
    for (const [saltenv, targets] of dictEntries(top)) {
      if (saltenv === 'include') continue;
      if (!isDict(targets)) throw new WrongShape(`${String(saltenv)} is not a map of targets`);
      for (const [target, body] of dictEntries(targets)) {
        const entry = readEntry(target, body);
        within(data, saltenv, () => new Map()).set(target, [...entry.matches, ...entry.states]);
        within(orders, saltenv, () => new Map()).set(target, entry.order);
        if (entry.ignoreMissing)
          for (const name of entry.states) within(ignored, saltenv, () => new Set<string>()).add(name);
      }
    }
  }
  for (const [saltenv, targets] of data) {
    const order = within(orders, saltenv, () => new Map<Value, number>());
    data.set(saltenv, new Map([...targets].sort(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0))));
  }
  return { data, ignored };
}

function within<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const inner = map.get(key) ?? make();
  map.set(key, inner);
  return inner;
}

interface TopEntry {
  readonly matches: Dict[];
  readonly states: string[];
  readonly order: number;
  readonly ignoreMissing: boolean;
}

function readEntry(target: Value, body: Value): TopEntry {
  const matchers: Dict[] = [];
  const states = new Set<string>();
  let order = 0;
  let ignoreMissing = false;
  for (const item of itemsOf(target, body)) {
    if (typeof item === 'string') states.add(item);
    if (!isDict(item)) continue;
    if (dictHas(item, 'match')) matchers.push(item);
    if (dictHas(item, 'order')) order = orderOf(dictGet(item, 'order') ?? null);
    if (dictGet(item, 'ignore_missing')) ignoreMissing = true;
  }
  return { matches: matchers, states: [...states], order, ignoreMissing };
}

/** Salt iterates over any value there: over the characters of a text, over the keys of a map. */
function itemsOf(target: Value, body: Value): readonly Value[] {
  if (Array.isArray(body)) return body;
  if (typeof body === 'string') return [...body];
  if (isDict(body)) return dictEntries(body).map(([key]) => key);
  throw new WrongShape(`what follows ${String(target)} is not a list`);
}

function orderOf(order: Value): number {
  if (typeof order === 'number') return Math.trunc(order);
  if (typeof order === 'boolean') return Number(order);
  if (order instanceof PyFloat) return Math.trunc(order.value);
  if (typeof order === 'string') return /^\s*[-+]?\d+\s*$/.test(order) ? Number(order) : 0;
  throw new WrongShape('an order is a number');
}

/** SLS names by environment that the minion gets, each once, in order. */
export function topMatches(compilation: Compilation, top: TopData, pillar: Dict): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const subject: Subject = { id: compilation.minionId, grains: compilation.grains, pillar };
  for (const [saltenv, targets] of top) {
    if (compilation.pillarenv && saltenv !== compilation.pillarenv) continue;
    const env = String(saltenv);
    for (const [target, items] of targets) {
      if (!isFor(compilation, target, items, subject)) continue;
      const names = found.get(env) ?? [];
      found.set(env, names);
      for (const item of items) if (typeof item === 'string' && !names.includes(item)) names.push(item);
    }
  }
  return found;
}

function isFor({ opts, errors }: Compilation, target: Value, items: readonly Value[], subject: Subject): boolean {
  let kind = 'compound';
  for (const item of items) if (isDict(item) && dictHas(item, 'match')) kind = String(dictGet(item, 'match'));
  // Salt searches a data store of the master itself, which is empty.
  if (kind === 'data') return false;
  if (!isTargetKind(kind)) {
    // Salt's whole compilation fails here, with the name of a Python function.
    errors.add(`There is no matcher '${kind}' for '${String(target)}' in the pillar top file.`);
    return false;
  }
  if (typeof target !== 'string') return false;
  const { nodegroups } = opts;
  const groups = asDict(nodegroups);
  return matches(parseTarget(target, kind, { lenient: true, nodegroups: groups }), subject) === 'match';
}
