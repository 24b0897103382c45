// Applies `__extend__`: what `extend:` declarations and `_in` requisites add to states declared elsewhere.
import { pyStr } from '../../../base/codec/python/index.ts';
import { asList, type Dict, dictEntries, dictGet, isDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { type Body, firstKey, firstValue, type High, isBody, isHidden } from '../data.ts';
import { requisites } from '../keywords.ts';
import { NameFinder } from './find.ts';

/** Merges the extensions into the high data; extensions without a target are returned as errors. */
export function applyExtensions(high: High, strict: boolean): string[] {
  const errors: string[] = [];
  const extensions = high.get('__extend__');
  if (extensions === undefined) return errors;
  high.delete('__extend__');
  const finder = new NameFinder(high);
  for (const extension of asList(extensions) ?? []) {
    if (!isDict(extension)) continue;
    for (const [name, body] of dictEntries(extension)) {
      if (isDict(body)) extendOne({ high, finder, strict, errors }, name, body);
    }
  }
  return errors;
}

interface Work {
  readonly high: High;
  readonly finder: NameFinder;
  readonly strict: boolean;
  readonly errors: string[];
}

function extendOne(work: Work, name: Value, body: Dict): void {
  const state = dictEntries(body).find(([key]) => !isHidden(key))?.[0];
  if (state === undefined)
    throw new HaliteError('render.failed', `The extension of ID '${pyStr(name)}' holds no state`);
  const id = targetOf(work, name, state);
  if (id === undefined) {
    work.errors.push(notFound(name, body));
    return;
  }
  if (comesFromExcluded(work.high, body)) return;
  const target = work.high.get(id) as Body;
  for (const [key, args] of dictEntries(body)) {
    if (isHidden(key)) continue;
    const there = target.get(key);
    if (!target.has(key)) target.set(key, args);
    else if (Array.isArray(there) && Array.isArray(args)) for (const arg of args) extendArgument(there, arg);
    work.finder.changed(id, key);
  }
}

/** The extended id: one of that name with that state, or the only one that has that name through an argument. */
function targetOf({ high, finder, strict }: Work, name: Value, state: Value): Value | undefined {
  const body = high.get(name);
  if (isBody(body) && body.has(state)) return name;
  const found = finder.find(name, state, strict);
  const id = found.length === 1 ? found[0]![0] : undefined;
  return id !== undefined && isBody(high.get(id)) ? id : undefined;
}

function notFound(name: Value, body: Dict): string {
  const id = pyStr(name);
  const env = pyStr(dictGet(body, '__env__') ?? 'base');
  const sls = pyStr(dictGet(body, '__sls__') ?? 'base');
  return (
    `Cannot extend ID '${id}' in '${env}:${sls}'. It is not part of the high state.\n` +
    'This is likely due to a missing include statement or an incorrectly typed ID.\n' +
    `Ensure that a state with an ID of '${id}' is available\nin environment '${env}' and to SLS '${sls}'`
  );
}

function comesFromExcluded(high: High, body: Dict): boolean {
  const excluded = high.get('__exclude__');
  const sls = dictGet(body, '__sls__');
  if (!Array.isArray(excluded) || sls === undefined) return false;
  return excluded.some((item) => item === sls || (isDict(item) && dictGet(item, 'sls') === sls));
}

/**
 * A function replaces the function, a requisite is extended, any other argument is replaced; new arguments are added.
 */
function extendArgument(args: Value[], arg: Value): void {
  let placed = false;
  for (let at = 0; at < args.length; at++) {
    const old = args[at]!;
    if (typeof arg === 'string' && typeof old === 'string') {
      args[at] = arg;
      placed = true;
    } else if (isDict(arg) && isDict(old)) {
      const key = firstKey(arg);
      const oldKey = firstKey(old);
      if (key === oldKey) {
        if (!growRequisite(key, old, arg)) args[at] = arg;
        placed = true;
      }
      // As in Salt: `name` replaces `names`, and is added once more at the end.
      if (key === 'name' && oldKey === 'names') args[at] = arg;
    }
  }
  if (!placed) args.push(arg);
}

function growRequisite(key: Value | undefined, old: Dict, arg: Dict): boolean {
  if (typeof key !== 'string' || !requisites.has(key)) return false;
  const there = firstValue(old);
  const more = firstValue(arg);
  if (Array.isArray(there) && Array.isArray(more)) there.push(...more);
  return true;
}
