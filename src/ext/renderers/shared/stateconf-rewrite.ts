// The changes of the stateconf renderer to high data: absolute names, implicit order, start and goal states.
import { asList, dictEntries, dictHas, dictOf, isDict, newDict, RenderError, type Value } from 'halite/sdk';
import {
  absoluteId,
  absoluteSls,
  after,
  before,
  closeHigh,
  type High,
  Misshapen,
  noStates,
  openHigh,
  pairsOf,
  type Requisite,
  requisites,
  requisitesOf,
  stateName,
  statesOf,
} from './stateconf-data.ts';

/** Requisites that `extend` added to states of later files; kept for a whole run. */
export interface Extended {
  readonly before: Map<string, [state: string, id: string][]>;
  readonly after: Map<string, [state: string, id: string][]>;
}

/** Names that the configuration can change. */
export interface Names {
  /** The function whose arguments become variables of the template. */
  readonly carrier: string;
  readonly start: string;
  readonly goal: string;
}

const notIds: ReadonlySet<string> = new Set(['include', 'exclude']);
const noOwnStates: ReadonlySet<string> = new Set(['include', 'exclude', 'extend']);

/** `id: state.function` is short for a function without arguments. */
export function spellOutShorthand(high: High): void {
  for (const [id, states] of high) if (typeof states === 'string') high.set(id, newDict([[states, []]]));
}

/** Included and excluded names that begin with a dot are relative to the file. */
export function absoluteIncludes(high: High, sls: string, saltenv: string): void {
  const included = listOf(high, 'include');
  for (const [at, item] of included.entries()) {
    const [env, name] = isDict(item) ? (dictEntries(item).at(-1) ?? [saltenv, '']) : [saltenv, item];
    if (typeof name !== 'string') throw new Misshapen('include names no file');
    if (name.startsWith('.')) included[at] = dictOf([[env, absoluteSls(name, sls)]]);
  }
  const excluded = listOf(high, 'exclude');
  for (const [at, item] of excluded.entries()) {
    if (!isDict(item)) continue;
    const rename = ([key, name]: [Value, Value]): [Value, Value] =>
      key === 'sls' && typeof name === 'string' && name.startsWith('.') ? [key, absoluteSls(name, sls)] : [key, name];
    excluded[at] = dictOf(dictEntries(item).map(rename));
  }
}

function listOf(high: High, id: string): Value[] {
  const list = high.get(id);
  return asList(list) ?? [];
}

export function absoluteIds(high: High, sls: string, names: Names, isExtend = false): void {
  const extend = high.get('extend');
  if (extend !== undefined && !isExtend) {
    const inner = openHigh(extend, 'extend');
    absoluteIds(inner, sls, names, true);
    high.set('extend', closeHigh(inner));
  }
  for (const [, , , args] of statesOf(high, notIds)) {
    if (isDict(args)) continue;
    for (const { holder, at, state, id } of requisitesOf(args, requisites)) {
      if (id.startsWith('.')) holder[at] = withFirst(holder[at] as Value, state, absoluteId(id, sls));
    }
  }
  // As in Salt, renamed ids go to the end, after those that keep their name.
  for (const [id, states] of [...high]) {
    if (!id.startsWith('.')) continue;
    const name = absoluteId(id, sls);
    if (high.has(name)) {
      throw new RenderError(`Can't rename state id(${id}) into ${name} because the later already exists!`);
    }
    giveNames(id, states, stateName(names.carrier));
    high.delete(id);
    high.set(name, states);
  }
}

const withFirst = (item: Value, key: string, value: string): Value =>
  isDict(item) ? dictOf([[key, value], ...dictEntries(item).slice(1)]) : item;

/** A state that was named by its id keeps that name without the dot. */
function giveNames(id: string, states: Value, carrier: string): void {
  if (!isDict(states)) throw noStates(id, states);
  for (const [name, args] of dictEntries(states)) {
    if (stateName(String(name)) === carrier) continue;
    if (!Array.isArray(args)) throw new Misshapen(`the arguments of ${String(name)} in ${id} are no list`);
    if (![...pairsOf(args)].some(([key]) => key === 'name')) args.unshift(newDict([['name', id.slice(1)]]));
  }
}

/** Each state requires the one before it. */
export function requireInOrder(high: High, extended: Extended): void {
  const tagOf = (id: string, state: string): string => `${id}:${stateName(state)}`;
  const order = new Order();
  for (const [id, , name, args] of statesOf(high, noOwnStates)) {
    refuseNames(id, args);
    order.later.add(tagOf(id, name));
  }
  let previous: [state: string, id: string] | undefined;
  for (const [id, states, name, args] of statesOf(high, notIds)) {
    if (id === 'extend') {
      noteExtended(openHigh(states, 'extend'), extended, tagOf);
      continue;
    }
    const tag = tagOf(id, name);
    order.later.delete(tag);
    const reaches = (names: ReadonlySet<string>, more: Extended['before']): string[] =>
      [
        ...[...requisitesOf(args, names)].map((one): [string, string] => [one.state, one.id]),
        ...(more.get(tag) ?? []),
      ].map(([state, to]) => tagOf(to, state));
    order.check(tag, reaches(before, extended.before), reaches(after, extended.after));
    if (previous) putFirst(args, previous, id);
    order.earlier.add(tag);
    previous = [stateName(name), id];
  }
}

class Order {
  readonly earlier = new Set<string>();
  readonly later = new Set<string>();

  check(tag: string, needs: readonly string[], neededBy: readonly string[]): void {
    const late = needs.find((other) => this.later.has(other));
    if (late !== undefined) {
      throw new RenderError(
        `State(${tag}) can't require/watch/listen/onchanges/onfail a state(${late}) defined after it!`,
      );
    }
    const early = neededBy.find((other) => this.earlier.has(other));
    if (early !== undefined) {
      throw new RenderError(
        `State(${tag}) can't require_in/watch_in/listen_in/onchanges_in/onfail_in a state(${early}) defined before it!`,
      );
    }
  }
}

function refuseNames(id: string, args: Value): void {
  for (const [key] of pairsOf(args)) {
    if (key !== 'names') continue;
    throw new RenderError(
      `'names' declaration(found in state id: ${id}) is not supported with implicitly ordered states! You should generate the states in a template for-loop instead.`,
    );
  }
}

function noteExtended(high: High, extended: Extended, tagOf: (id: string, state: string) => string): void {
  for (const [id, , , args] of statesOf(high, notIds)) {
    const note = (into: Extended['before'], one: Requisite): void => {
      const tag = tagOf(id, one.state);
      into.set(tag, [...(into.get(tag) ?? []), [one.state, one.id]]);
    };
    for (const one of requisitesOf(args, before)) note(extended.before, one);
    for (const one of requisitesOf(args, after)) note(extended.after, one);
  }
}

function putFirst(args: Value, [state, to]: [string, string], id: string): void {
  if (!Array.isArray(args)) throw new Misshapen(`the arguments of ${id} are no list`);
  const item = newDict([[state, to]]);
  for (const [key, list] of pairsOf(args)) {
    if (key !== 'require') continue;
    if (!Array.isArray(list)) throw new Misshapen(`require of ${id} is no list`);
    list.unshift(item);
    return;
  }
  args.push(newDict([['require', [item]]]));
}

/** A state that runs before all others of the file, for use in requisites. */
export function addStart(high: High, sls: string, { start, carrier }: Names): void {
  refuseTaken(high, 'start', start);
  if (high.size === 0) return;
  for (const [id, states] of high) {
    if (noOwnStates.has(id) || id.startsWith('__')) continue;
    if (!isDict(states)) throw noStates(id, states);
    if (dictHas(states, '__sls__') && !dictEntries(states).some(([key, at]) => key === '__sls__' && at === sls))
      continue;
    const first = dictEntries(states)[0]?.[0];
    const item = newDict([[stateName(String(first)), id]]);
    high.set(start, newDict([[carrier, [newDict([['require_in', [item]]])]]]));
    return;
  }
  throw new RenderError("Can't determine the first state in the sls file!");
}

/** A state that requires all others of the file: requiring it means requiring the file. */
export function addGoal(high: High, { goal, carrier }: Names): void {
  refuseTaken(high, 'goal', goal);
  const all: Value[] = [];
  for (const [id, states, name] of statesOf(high, noOwnStates)) {
    if (!dictHas(states, '__sls__')) all.push(newDict([[stateName(name), id]]));
  }
  high.set(goal, newDict([[carrier, [newDict([['require', all]])]]]));
}

function refuseTaken(high: High, which: string, id: string): void {
  if (high.has(id)) throw new RenderError(`Can't generate ${which} state(${id})! The same state id already exists!`);
}
