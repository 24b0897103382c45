// Converts one rendered SLS to high data: `file.managed:` becomes `file: […, managed]`, and so on.
import { pyStr } from '../../../base/codec/python/index.ts';
import { type Dict, dictEntries, isDict, type Value } from '../../../base/codec/value.ts';
import { type Body, firstKey, type High, isBody, listAt, shown } from '../data.ts';

/** The location of the declarations. */
export interface SlsPlace {
  readonly sls: string;
  readonly saltenv: string;
  readonly errors: string[];
}

const isUnderscored = (key: Value): boolean => typeof key === 'string' && key.startsWith('_');

/** Moves `extend:` to `__extend__`. */
export function takeExtend(state: High, { sls, saltenv, errors }: SlsPlace): void {
  if (!state.has('extend')) return;
  const extend = state.get('extend')!;
  state.delete('extend');
  if (!isDict(extend)) {
    errors.push(`Extension value in SLS '${sls}' is not a dictionary`);
    return;
  }
  const taken: High = new Map();
  for (const [name, value] of dictEntries(extend)) {
    if (!isDict(value)) {
      errors.push(`Extension name '${pyStr(name)}' in SLS '${sls}' is not a dictionary`);
      taken.set(name, value);
      continue;
    }
    const body: Body = new Map(dictEntries(value));
    if (!body.has('__sls__')) body.set('__sls__', sls);
    if (!body.has('__env__')) body.set('__env__', saltenv);
    for (const key of [...body.keys()]) {
      const parts = dotted(key, body.get(key)!);
      if (parts) moveFunction(body, key, parts);
    }
    taken.set(name, body);
  }
  listAt(state, '__extend__').push(taken);
}

/** Moves `exclude:` to `__exclude__`. */
export function takeExclude(state: High, { sls, errors }: SlsPlace): void {
  if (!state.has('exclude')) return;
  const exclude = state.get('exclude')!;
  state.delete('exclude');
  if (Array.isArray(exclude)) listAt(state, '__exclude__').push(...exclude);
  else errors.push(`Exclude Declaration in SLS ${sls} is not formed as a list`);
}

/** Short declarations (`id: pkg.installed`) become bodies, functions move into the argument list. */
export function padDeclarations(state: High, place: SlsPlace): void {
  for (const [id, body] of state) {
    if (isBody(body)) {
      padBody(id, body, place);
      continue;
    }
    if (id === '__extend__' || id === '__exclude__') continue;
    if (typeof body === 'string' && body.includes('.')) {
      const [module = '', fun = ''] = body.split('.');
      state.set(
        id,
        new Map<Value, Value>([
          ['__sls__', place.sls],
          ['__env__', place.saltenv],
          [module, [fun]],
        ]),
      );
    } else place.errors.push(`ID ${shown(id)} in SLS ${place.sls} is not a dictionary`);
  }
}

function padBody(id: Value, body: Body, { sls, saltenv, errors }: SlsPlace): void {
  const seen = new Set<Value>();
  for (const key of [...body.keys()]) {
    if (isUnderscored(key) || !Array.isArray(body.get(key))) continue;
    const parts = dotted(key, body.get(key)!);
    if (!parts) {
      seen.add(key);
      continue;
    }
    if (seen.has(parts[0])) {
      errors.push(`ID '${shown(id)}' in SLS '${sls}' contains multiple state declarations of the same type`);
      continue;
    }
    moveFunction(body, key, parts);
    seen.add(parts[0]);
  }
  if (!body.has('__sls__')) body.set('__sls__', sls);
  if (!body.has('__env__')) body.set('__env__', saltenv);
}

function dotted(key: Value, args: Value): [string, string] | undefined {
  if (typeof key !== 'string' || key.startsWith('_') || !key.includes('.') || !Array.isArray(args)) return undefined;
  const [module = '', fun = ''] = key.split('.');
  return [module, fun];
}

function moveFunction(body: Body, key: Value, [module, fun]: readonly [string, string]): void {
  const args = body.get(key) as Value[];
  body.delete(key);
  body.set(module, args);
  args.push(fun);
}

/** Numbers states in the order of the files (`state_auto_order`); returns the next free number. */
export function numberStates(state: High, from: number): number {
  let next = from;
  for (const [, body] of state) {
    // As in Salt: a value that is neither a map nor a list ends the numbering of this SLS; the run fails anyway.
    if (body === null || typeof body === 'number' || typeof body === 'boolean') return next;
    if (!isBody(body)) continue;
    for (const [key, args] of body) {
      if (typeof key !== 'string' || isUnderscored(key) || !Array.isArray(args)) continue;
      if (args.some((arg) => isDict(arg) && firstKey(arg) === 'order')) continue;
      args.push(orderArgument(next));
      next++;
    }
  }
  return next;
}

function orderArgument(order: number): Dict {
  const dict = Object.create(null) as Dict & Record<string, Value>;
  dict['order'] = order;
  return dict;
}
