// Registers the method tables of the built-in types.
import { registerMethods } from '../access.ts';
import { bytesMethods } from './bytes.ts';
import { dictMethods, orderedDictMethods, viewMethods } from './dict.ts';
import { listMethods, tupleMethods } from './list.ts';
import { floatMethods, intMethods } from './number.ts';
import { setMethods } from './set.ts';
import { markupMethods, strMethods } from './str.ts';

/** Makes attribute access know the methods of every built-in type. */
export function installMethods(): void {
  registerMethods('str', strMethods);
  registerMethods('Markup', markupMethods);
  registerMethods('list', listMethods);
  registerMethods('tuple', tupleMethods);
  registerMethods('dict', dictMethods);
  registerMethods('OrderedDict', orderedDictMethods);
  for (const name of ['dict_keys', 'dict_items', 'odict_keys', 'odict_items']) registerMethods(name, viewMethods);
  registerMethods('set', setMethods);
  registerMethods('frozenset', setMethods);
  registerMethods('int', intMethods);
  registerMethods('bool', intMethods);
  registerMethods('float', floatMethods);
  registerMethods('bytes', bytesMethods);
}
