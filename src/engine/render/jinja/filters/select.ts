// map, select, reject and their attribute forms.
import { filterArgumentError, runtimeError } from '../errors.ts';
import type { PyFunction } from '../runtime/callable.ts';
import { defineBound, type FunctionTable, tableOf } from '../runtime/define.ts';
import { each, toArray, truth } from '../runtime/iterate.ts';
import { textOf } from '../runtime/markup.ts';
import { repr } from '../runtime/print.ts';
import type { NamedFunction, Runtime } from '../runtime/runtime.ts';
import { generator, type PyIterator } from '../runtime/sequence.ts';
import type { Bound } from '../runtime/signature.ts';
import { Undefined } from '../runtime/undefined.ts';
import type { MaybePromise, PyValue } from '../runtime/value.ts';
import { attributeGetter } from './support.ts';

/** A filter or test by name, with the message of a late lookup. */
function named(table: ReadonlyMap<string, NamedFunction>, what: string, name: PyValue): NamedFunction {
  const text = textOf(name);
  const found = text === undefined ? undefined : table.get(text);
  if (found !== undefined) return found;
  const problem = `No ${what} named ${repr(name)}.`;
  if (!(name instanceof Undefined)) throw runtimeError(problem);
  throw runtimeError(`${problem} (${name.message()}; did you forget to quote the callable name?)`);
}

type Change = (item: PyValue) => MaybePromise<PyValue>;

function mapFunction(rt: Runtime, { rest, named: options }: Bound): { change: Change; waits: boolean } {
  if (rest.length === 0 && options.has('attribute')) {
    const others = [...options.keys()].filter((key) => key !== 'attribute' && key !== 'default');
    if (others[0] !== undefined) throw filterArgumentError(`Unexpected keyword argument ${repr(others[0])}`);
    const get = attributeGetter(rt, options.get('attribute')!, undefined, options.get('default') ?? null);
    return { change: get, waits: false };
  }
  const [name, ...args] = rest;
  if (name === undefined) throw filterArgumentError('map requires a filter argument');
  const filters = rt.settings.filters;
  const waits = filters.get(textOf(name) ?? '')?.waits === true;
  return { change: (item) => named(filters, 'filter', name).invoke(rt, [item, ...args], options), waits };
}

function* mapped(rt: Runtime, value: PyValue, bound: Bound): Generator<PyValue> {
  if (!truth(value)) return;
  const { change } = mapFunction(rt, bound);
  for (const item of each(value)) yield change(item) as PyValue;
}

/** An asynchronous filter is applied to all items at once, in order: a lazy iterator is synchronous. */
async function mappedWaiting(value: PyValue, change: Change): Promise<PyIterator> {
  const out: PyValue[] = [];
  for (const item of toArray(value)) out.push(await change(item));
  return generator('sync_do_map', out[Symbol.iterator]());
}

function map(rt: Runtime, bound: Bound): MaybePromise<PyValue> {
  const value = bound.values[0]!;
  if (bound.rest.length > 0 && rt.settings.filters.get(textOf(bound.rest[0]!) ?? '')?.waits === true && truth(value)) {
    return mappedWaiting(value, mapFunction(rt, bound).change);
  }
  return generator('sync_do_map', mapped(rt, value, bound));
}

function* selected(rt: Runtime, bound: Bound, keep: boolean, byAttribute: boolean): Generator<PyValue> {
  const value = bound.values[0]!;
  if (!truth(value)) return;
  const passes = predicate(rt, bound, byAttribute);
  for (const item of each(value)) if (passes(item) === keep) yield item;
}

function predicate(rt: Runtime, { rest, named: options }: Bound, byAttribute: boolean): (item: PyValue) => boolean {
  let args = rest;
  let view = (item: PyValue): PyValue => item;
  if (byAttribute) {
    if (args[0] === undefined) throw filterArgumentError('Missing parameter for attribute name');
    view = attributeGetter(rt, args[0]);
    args = args.slice(1);
  }
  const [name, ...extra] = args;
  if (name === undefined) return (item) => truth(view(item));
  return (item) => {
    const test = named(rt.settings.tests, 'test', name);
    return truth(test.invoke(rt, [view(item), ...extra], options) as PyValue);
  };
}

const selecting = (name: string, keep: boolean, byAttribute: boolean): PyFunction =>
  defineBound(
    name,
    'value, *args, **kwargs',
    (rt, bound) => generator('select_or_reject', selected(rt, bound, keep, byAttribute)),
    {
      implicit: 1,
    },
  );

export const selectFilters: FunctionTable = tableOf({
  map: defineBound('sync_do_map', 'value, *args, **kwargs', map, { implicit: 1, waits: true }),
  select: selecting('sync_do_select', true, false),
  reject: selecting('sync_do_reject', false, false),
  selectattr: selecting('sync_do_selectattr', true, true),
  rejectattr: selecting('sync_do_rejectattr', false, true),
});
