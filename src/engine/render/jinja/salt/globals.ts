// Globals Salt adds: raise, ifelse, odict and show_full_context.
import { HaliteError } from '../../../../base/errors/index.ts';
import { PyError } from '../errors.ts';
import { orderedDictType } from '../globals/index.ts';
import { getItem } from '../runtime/access.ts';
import { call } from '../runtime/callable.ts';
import { define, defineBound } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import { textOf } from '../runtime/markup.ts';
import { asDouble } from '../runtime/number.ts';
import { repr, str } from '../runtime/print.ts';
import type { Runtime, Vars } from '../runtime/runtime.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { Undefined } from '../runtime/undefined.ts';
import { chain, type MaybePromise, type PyValue } from '../runtime/value.ts';

const raise = define('jinja_raise', 'msg', (_rt, message) => {
  throw new PyError('TemplateError', str(message!));
});

const isSimple = (value: PyValue): boolean =>
  textOf(value) !== undefined ||
  typeof value === 'boolean' ||
  typeof value === 'bigint' ||
  asDouble(value) !== undefined;

/** Data as text, numbers, lists and dicts; everything else as its repr. */
function simpleTypes(value: PyValue): PyValue {
  if (Array.isArray(value) || value instanceof PyTuple) {
    const items = Array.isArray(value) ? value : [...value.items];
    return items.map((item) => {
      if (item instanceof PyDict || Array.isArray(item)) return simpleTypes(item);
      return item === null || isSimple(item) || item instanceof PyTuple ? item : repr(item);
    });
  }
  if (!(value instanceof PyDict)) return value;
  const out = new PyDict();
  for (const [key, item] of value.entries()) {
    const name = key === null || isSimple(key) ? key : repr(key);
    const nested = item instanceof PyDict || Array.isArray(item) || item instanceof PyTuple;
    out.set(name, nested ? simpleTypes(item) : item === null || isSimple(item) ? item : repr(item));
  }
  return out;
}

/** All variables at the place of the call, loop and block variables included. */
function visible(rt: Runtime): Vars {
  const frame = rt.frame;
  if (frame === undefined) return new Map();
  const all: Vars = new Map(frame.context.all());
  for (const extra of [frame.loopVars, frame.blockVars]) for (const [name, value] of extra ?? []) all.set(name, value);
  return all;
}

const showFullContext = define('show_full_context', '', (rt) => simpleTypes(PyDict.from(visible(rt))), { implicit: 1 });

/** Asks the minion's match function about one target. */
function matches(rt: Runtime, target: PyValue, kind: string, minionId: PyValue): MaybePromise<boolean> {
  if (target === true) return true;
  if (target === false) return false;
  const salt = rt.frame?.context.resolve('salt') ?? rt.globals.get('salt');
  if (salt === undefined) throw new HaliteError('call.unknown', `match.${kind} is not available`);
  const fn = getItem(rt, salt, `match.${kind}`);
  if (fn instanceof Undefined) fn.fail();
  const args = minionId === null ? [target] : [target, minionId];
  return chain(call(rt, fn, args), (answer) => answer === true);
}

async function firstMatch(
  rt: Runtime,
  args: readonly PyValue[],
  kind: string,
  id: PyValue,
  from: number,
  first: Promise<boolean>,
): Promise<PyValue> {
  if (await first) return args[from + 1]!;
  for (let at = from + 2; at < args.length - 1; at += 2) {
    if (await matches(rt, args[at]!, kind, id)) return args[at + 1]!;
  }
  return args.at(-1)!;
}

/** `ifelse(target, value, target, value, …, default)`. */
function choose(rt: Runtime, args: readonly PyValue[], kind: string, id: PyValue): MaybePromise<PyValue> {
  if (args.length % 2 === 0)
    throw new HaliteError('render.failed', 'The ifelse function must have an odd number of arguments!');
  for (let at = 0; at < args.length - 1; at += 2) {
    const hit = matches(rt, args[at]!, kind, id);
    if (hit instanceof Promise) return firstMatch(rt, args, kind, id, at, hit);
    if (hit) return args[at + 1]!;
  }
  return args.at(-1)!;
}

/** The chosen dict with another merged over it, as the `merge` option asks. */
function withMerge(value: PyValue, merge: PyValue): PyValue {
  if (merge === null || merge === undefined) return value;
  if (!(merge instanceof PyDict))
    throw new HaliteError('render.failed', 'filter_by merge argument must be a dictionary.');
  if (value === null) return merge;
  if (!(value instanceof PyDict)) return value;
  const out = value.copy();
  for (const [key, item] of merge.entries()) {
    const own = out.get(key);
    out.set(key, own instanceof PyDict && item instanceof PyDict ? withMerge(own, item) : item);
  }
  return out;
}

const ifelse = defineBound(
  'ifelse',
  '*args, **kwargs',
  (rt, { rest, named }) => {
    for (const name of named.keys()) {
      if (!['tgt_type', 'minion_id', 'merge', 'merge_lists'].includes(name)) {
        throw new PyError('TypeError', `ifelse() got an unexpected keyword argument '${name}'`);
      }
    }
    const kind = str(named.get('tgt_type') ?? 'compound');
    return chain(choose(rt, rest, kind, named.get('minion_id') ?? null), (value) =>
      withMerge(value, named.get('merge') ?? null),
    );
  },
  { waits: true },
);

export const saltGlobals: ReadonlyMap<string, PyValue> = new Map<string, PyValue>([
  ['raise', raise],
  ['ifelse', ifelse],
  ['odict', orderedDictType],
  ['show_full_context', showFullContext],
]);
