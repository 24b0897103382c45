// Converts `require_in`, `watch_in`, `use`, `prereq` and similar to extensions of the states they name.
import { pyStr } from '../../../base/codec/python/index.ts';
import { type Dict, dictEntries, dictGet, dictSize, isDict, newDict, type Value } from '../../../base/codec/value.ts';
import { type Body, entryOf, firstKey, firstValue, type High, isBody, isHidden, listAt } from '../data.ts';
import { applyExtensions } from './extend.ts';
import { argumentNames, type Found, NameFinder } from './find.ts';

const handled: ReadonlySet<Value> = new Set([
  'require_in',
  'watch_in',
  'onfail_in',
  'onchanges_in',
  'use',
  'use_in',
  'prereq',
  'prereq_in',
]);
/** Never copied by `use`: arguments that order a state stay with the state. */
const neverUsed: ReadonlySet<Value> = new Set([
  ...handled,
  ...['require', 'watch', 'onfail', 'onfail_stop', 'onchanges', 'name', 'names'],
]);

/** Applies every `_in` requisite; returns the errors. `disabled` requisites are skipped. */
export function applyRequisitesIn(high: High, disabled: ReadonlySet<string> = new Set()): string[] {
  const work: Work = { high, finder: new NameFinder(high), added: new Map(), errors: [] };
  for (const [id, body] of high) {
    if (!isBody(body)) continue;
    for (const [state, args] of body) {
      if (isHidden(state) || !Array.isArray(args)) continue;
      for (const arg of args) if (isDict(arg)) takeArgument(work, { id, state, body }, arg, disabled);
    }
  }
  high.set('__extend__', [...work.added].map(([id, body]) => new Map([[id, body]])) as Value);
  return [...work.errors, ...applyExtensions(high, true)];
}

interface Work {
  readonly high: High;
  readonly finder: NameFinder;
  readonly added: Map<Value, Body>;
  readonly errors: string[];
}

/** The state that has the `_in` requisite. */
interface Origin {
  readonly id: Value;
  readonly state: Value;
  readonly body: Body;
}

function takeArgument(work: Work, origin: Origin, arg: Dict, disabled: ReadonlySet<string>): void {
  const key = firstKey(arg);
  if (typeof key !== 'string' || !handled.has(key) || disabled.has(key)) return;
  const items = firstValue(arg);
  if (Array.isArray(items)) takeList(work, origin, key, items);
  else if (isDict(items)) takeDict(work, origin, key, items);
}

const plainOf = (requisite: string): string => requisite.split('_', 1)[0]!;

/** `require_in: {file: /x}` */
function takeDict(work: Work, origin: Origin, requisite: string, items: Dict): void {
  for (const [state, name] of dictEntries(items)) {
    addRequisite(work, origin, plainOf(requisite), name, withoutFunction(work, origin, requisite, state, name));
  }
}

/** `require_in: [{file: /x}, some-id, {sls: web}]` */
function takeList(work: Work, origin: Origin, requisite: string, items: readonly Value[]): void {
  // As in Salt: targets of earlier items are processed again with each later one, so requisites are repeated.
  let targets: Found[] = [];
  for (const item of items) {
    const target = targetOf(work, item);
    if (!target) continue;
    const [name, state] = target;
    if (state === 'sls') targets = work.finder.slsIds(name);
    else targets.push([name, state]);
    withoutFunction(work, origin, requisite, state, name);
    for (const found of targets) place(work, origin, requisite, found);
  }
}

/** What an item names; a bare text is an id, or else the `name` of a state. */
function targetOf({ high, finder }: Work, item: Value): Found | undefined {
  if (isDict(item)) {
    const state = firstKey(item);
    return state === undefined ? undefined : [firstValue(item)!, state];
  }
  const body = high.get(item);
  if (!isBody(body)) return high.has(item) ? undefined : finder.named(item);
  const state = [...body.keys()].find((key) => !isHidden(key));
  return state === undefined ? undefined : [item, state];
}

/** `pkg.installed` is not accepted in place of `pkg`; processing continues with the part before the dot. */
function withoutFunction(work: Work, { body }: Origin, requisite: string, state: Value, name: Value): Value {
  if (typeof state !== 'string' || !state.includes('.')) return state;
  const module = state.slice(0, state.indexOf('.'));
  work.errors.push(
    `Invalid requisite in ${plainOf(requisite)}: ${state} for ${pyStr(name)}, in SLS '${pyStr(body.get('__sls__'))}'. ` +
      `Requisites must not contain dots, did you mean '${module}'?`,
  );
  return module;
}

function place(work: Work, origin: Origin, requisite: string, [name, state]: Found): void {
  switch (requisite) {
    case 'prereq':
      for (const [id, found] of work.finder.find(name, state, true)) {
        argumentsOf(work, id, found).push(requisiteList('prerequired', origin.state, origin.id));
      }
      return;
    case 'use_in':
      for (const [id, found] of work.finder.find(name, state, true)) {
        copyArguments(work, [origin.id, origin.state], [id, found], argumentNames(work.high, id, state));
      }
      return;
    case 'use':
      for (const found of work.finder.find(name, state, true)) {
        const own = argumentNames(work.high, origin.id, origin.state);
        copyArguments(work, found, [origin.id, origin.state], own);
      }
      return;
    case 'prereq_in':
      argumentsOf(work, origin.id, origin.state).push(requisiteList('prerequired', state, name));
      addRequisite(work, origin, 'prereq', name, state);
      return;
    default:
      addRequisite(work, origin, plainOf(requisite), name, state);
  }
}

const requisiteList = (requisite: string, state: Value, id: Value): Dict =>
  newDict([[requisite, [newDict([[pyStr(state), id]])]]]);

function argumentsOf({ added }: Work, id: Value, state: Value): Value[] {
  return listAt(
    entryOf(added, id, (): Body => new Map()),
    state,
  );
}

function addRequisite(work: Work, origin: Origin, requisite: string, name: Value, state: Value): void {
  const args = argumentsOf(work, name, state);
  const body = work.added.get(name)!;
  body.set('__env__', origin.body.get('__env__') ?? null);
  body.set('__sls__', origin.body.get('__sls__') ?? null);
  const lists = args.filter((arg) => isDict(arg) && firstKey(arg) === requisite);
  for (const list of lists) {
    const items = dictGet(list as Dict, requisite);
    if (Array.isArray(items)) items.push(newDict([[pyStr(origin.state), origin.id]]));
  }
  if (lists.length === 0) args.push(requisiteList(requisite, origin.state, origin.id));
}

function copyArguments(work: Work, [from, fromState]: Found, [to, toState]: Found, own: ReadonlySet<Value>): void {
  const target = argumentsOf(work, to, toState);
  const body = work.high.get(from);
  const args = isBody(body) ? body.get(fromState) : undefined;
  if (!Array.isArray(args)) return;
  for (const arg of args) {
    if (!isDict(arg) || dictSize(arg) !== 1) continue;
    const key = firstKey(arg)!;
    if (!neverUsed.has(key) && !own.has(key)) target.push(arg);
  }
}
