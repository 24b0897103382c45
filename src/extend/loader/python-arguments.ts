// Bound arguments of a function, as a call of Python.
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Params } from '../sdk/index.ts';

/** Bound arguments as Python is called: by position as far as there is no gap, then by name. */
export function callArguments(
  params: Params,
  bound: Readonly<Record<string, unknown>>,
): { args: Value[]; kwargs: PlainDict } {
  const args: Value[] = [];
  const kwargs = newDict();
  let gap = false;
  for (const [key, param] of Object.entries(params)) {
    const value = bound[key] as Value | undefined;
    if (param.kind === 'kwargs') {
      if (isDict(value)) for (const [name, item] of dictEntries(value)) kwargs[String(name)] = item;
    } else if (param.kind === 'rest') {
      if (Array.isArray(value) && !gap) args.push(...value);
      // What follows can only be given by name.
      gap = true;
    } else if (value === undefined) gap = true;
    else if (gap) kwargs[key] = value;
    else args.push(value);
  }
  return { args, kwargs };
}
