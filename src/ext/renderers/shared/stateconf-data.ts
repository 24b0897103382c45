// The parts of high data that the stateconf renderer visits: ids, their functions, arguments and requisites.
import { type Dict, dictEntries, dictOf, isDict, pyStr, RenderError, type Value } from 'halite/sdk';

/** High data during the conversion: ids in order. */
export type High = Map<string, Value>;

/** A requisite of a state, with the item of the list that holds it so that it can be changed. */
export interface Requisite {
  readonly holder: Value[];
  readonly at: number;
  readonly state: string;
  readonly id: string;
}

/** An error for data that is not high data; the message is the expected form. */
export class Misshapen extends Error {}

/** Salt's message for an id without functions. */
export const noStates = (id: string, states: Value): RenderError =>
  new RenderError(`The type ${id} in ${pyStr(states)} is not formatted as a dictionary`);

export const requisites: ReadonlySet<string> = new Set(
  ['require', 'watch', 'use', 'listen', 'onchanges', 'onfail'].flatMap((name) => [name, `${name}_in`]),
);
export const before: ReadonlySet<string> = new Set(['require', 'watch', 'listen', 'onchanges', 'onfail']);
export const after: ReadonlySet<string> = new Set([...before].map((name) => `${name}_in`));

export function openHigh(value: Value, what: string): High {
  if (!isDict(value)) throw new Misshapen(`${what} is no map`);
  const high: High = new Map();
  for (const [id, states] of dictEntries(value)) {
    if (typeof id !== 'string') throw new Misshapen(`an id of ${what} is no text`);
    high.set(id, states);
  }
  return high;
}

/** `file` of both `file` and `file.managed`. */
export const stateName = (name: string): string => name.split('.', 1)[0] as string;

/** Every function of every id with its arguments. */
export function* statesOf(high: High, without: ReadonlySet<string>): Generator<[string, Dict, string, Value]> {
  for (const [id, states] of high) {
    if (id.startsWith('__') || without.has(id)) continue;
    if (!isDict(states)) throw noStates(id, states);
    for (const [name, args] of dictEntries(states)) {
      if (typeof name !== 'string') throw new Misshapen(`a function of the id ${id} is no text`);
      if (!name.startsWith('__')) yield [id, states, name, args];
    }
  }
}

/** The first pair of every map in a list of arguments. */
export function* pairsOf(args: Value): Generator<[string, Value]> {
  if (args === null || typeof args === 'number' || typeof args === 'boolean')
    throw new Misshapen('arguments are no list');
  if (!Array.isArray(args)) return;
  for (const item of args) {
    const first = isDict(item) ? dictEntries(item)[0] : undefined;
    if (first) yield [String(first[0]), first[1]];
  }
}

export function* requisitesOf(args: Value, names: ReadonlySet<string>): Generator<Requisite> {
  for (const [name, list] of pairsOf(args)) {
    if (!names.has(name) || !Array.isArray(list)) continue;
    for (const [at, item] of list.entries()) {
      const first = isDict(item) ? dictEntries(item)[0] : undefined;
      if (!first) continue;
      if (typeof first[1] !== 'string') throw new Misshapen(`a ${name} names no id`);
      yield { holder: list, at, state: String(first[0]), id: first[1] };
    }
  }
}

/** `..web.conf` seen from `a.b.c` is `a.web.conf`. */
export function absoluteSls(relative: string, sls: string): string {
  const [, dots = '', rest = ''] = /^(\.+)(.*)$/s.exec(relative) ?? [];
  const folders = sls.split('.');
  if (dots.length > folders.length) throw new RenderError('Attempted relative include goes beyond top level package');
  return [...folders.slice(0, -dots.length), rest].join('.');
}

/** `.id` in `a.b` is `a.b::id`, `.c::id` is `a.c::id`. */
export function absoluteId(id: string, sls: string): string {
  if (id.includes('::')) return absoluteSls(id, sls);
  const whole = absoluteSls(id, `${sls}.`);
  const dot = whole.lastIndexOf('.');
  return dot < 0 ? whole : `${whole.slice(0, dot)}::${whole.slice(dot + 1)}`;
}

export const closeHigh = (high: High): Dict => dictOf([...high]);
