// Undefined values inside data: several filters search for them first and return one undefined value with all messages.

import type { Native, PyFunction } from '../runtime/callable.ts';
import { type DefineOptions, define, defineBound } from '../runtime/define.ts';
import { PyDict } from '../runtime/dict.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { PyTuple } from '../runtime/sequence.ts';
import { Undefined } from '../runtime/undefined.ts';
import type { MaybePromise, PyValue } from '../runtime/value.ts';

function collect(value: PyValue, seen: Set<unknown>, found: Undefined[]): void {
  if (value === null || typeof value !== 'object' || seen.has(value)) return;
  seen.add(value);
  if (value instanceof Undefined) {
    if (value.strict) found.push(value);
  } else if (Array.isArray(value)) for (const item of value) collect(item, seen, found);
  else if (value instanceof PyTuple) for (const item of value.items) collect(item, seen, found);
  else if (value instanceof PyDict) {
    for (const [key, item] of value.entries()) {
      collect(key, seen, found);
      collect(item, seen, found);
    }
  }
}

/** One strict undefined for all those found at any depth; undefined (in JavaScript's sense) when there is none. */
function strictUndefinedIn(value: PyValue): Undefined | undefined {
  const found: Undefined[] = [];
  collect(value, new Set(), found);
  if (found.length === 0) return undefined;
  return new Undefined(true, { hint: found.map((item) => item.message()).join('\n') });
}

type Values = (rt: Runtime, ...values: PyValue[]) => MaybePromise<PyValue>;

/** A filter that returns the undefined parts of its input instead of processing it. */
export function defineCareful(name: string, params: string, run: Values, options?: DefineOptions): PyFunction {
  return define(name, params, (rt, ...values) => strictUndefinedIn(values[0]!) ?? run(rt, ...values), options);
}

export function defineCarefulBound(name: string, params: string, run: Native, options?: DefineOptions): PyFunction {
  return defineBound(
    name,
    params,
    (rt, bound) => strictUndefinedIn(bound.values[0] ?? bound.rest[0] ?? null) ?? run(rt, bound),
    options,
  );
}
