// Templates of states: a text or file rendered with the engine the state names.
import { newDict, type PlainDict, type StateContext, type Value } from 'halite/sdk';
import { isDict } from 'halite/sdk';
import { dictEntries } from 'halite/sdk';
import { pyStr } from '../../../base/codec/python/index.ts';

/** Engines Salt knows by name; those it does not know are refused with Salt's words. */
export const templateEngines = ['jinja', 'mako', 'py', 'wempy', 'genshi', 'cheetah'];

/** `defaults` below `context`, as one dictionary. */
export function templateVariables(defaults: Value, context: Value): PlainDict {
  const all = newDict();
  for (const layer of [defaults, context]) {
    if (isDict(layer)) for (const [key, value] of dictEntries(layer)) all[pyStr(key)] = value;
  }
  return all;
}
