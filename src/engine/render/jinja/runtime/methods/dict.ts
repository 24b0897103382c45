// The method tables of dict, OrderedDict and their views.
import { PyError, typeError, valueError } from '../../errors.ts';
import {
  keywords,
  type Method,
  type MethodTable,
  methodTable,
  noArguments,
  oneArgument,
  positional,
  variadic,
} from '../callable.ts';
import { contains } from '../compare.ts';
import { DictView, PyDict } from '../dict.ts';
import { each, lengthOf, toArray, truth, tryIterate } from '../iterate.ts';
import { repr } from '../print.ts';
import { PyTuple } from '../sequence.ts';
import { type Kwargs, type PyValue, typeName } from '../value.ts';

const keyError = (key: PyValue): PyError => new PyError('KeyError', repr(key));

/** Entries of a mapping or of an iterable of pairs, as `dict(x)` reads them. */
function pairsOf(source: PyValue): Iterable<readonly [PyValue, PyValue]> {
  if (source instanceof PyDict) return [...source.entries()];
  const items = tryIterate(source);
  if (items === undefined) throw typeError(`'${typeName(source)}' object is not iterable`);
  const pairs: [PyValue, PyValue][] = [];
  for (let step = items.next(); !step.done; step = items.next()) {
    const at = pairs.length;
    if (tryIterate(step.value) === undefined) {
      throw typeError(`cannot convert dictionary update sequence element #${at} to a sequence`);
    }
    const pair = toArray(step.value);
    if (pair.length !== 2) {
      throw valueError(`dictionary update sequence element #${at} has length ${pair.length}; 2 is required`);
    }
    pairs.push([pair[0]!, pair[1]!]);
  }
  return pairs;
}

/** `dict.update(self, *args, **kwargs)` and `dict(*args, **kwargs)`. */
export function updateDict(self: PyDict, name: string, args: PyValue[], kwargs: Kwargs | undefined): void {
  if (args.length > 1) throw typeError(`${name} expected at most 1 argument, got ${args.length}`);
  if (args.length === 1) for (const [key, value] of pairsOf(args[0]!)) self.set(key, value);
  if (kwargs !== undefined) for (const [key, value] of kwargs) self.set(key, value);
}

function pop(self: PyDict, args: PyValue[]): PyValue {
  const value = self.get(args[0]!);
  if (value === undefined) {
    if (args[1] === undefined) throw keyError(args[0]!);
    return args[1];
  }
  self.delete(args[0]!);
  return value;
}

function popitem(self: PyDict, last: boolean): PyTuple {
  const entries = [...self.entries()];
  const entry = last ? entries.at(-1) : entries[0];
  if (entry === undefined) throw keyError(self.ordered ? 'dictionary is empty' : 'popitem(): dictionary is empty');
  self.delete(entry[0]);
  return new PyTuple(entry);
}

function setdefault(self: PyDict, args: PyValue[]): PyValue {
  const found = self.get(args[0]!);
  if (found !== undefined) return found;
  const value = args[1] === undefined ? null : args[1];
  self.set(args[0]!, value);
  return value;
}

/** `dict.fromkeys(keys, value)`. */
export function fromkeys(args: PyValue[], ordered: boolean): PyDict {
  const dict = new PyDict({ ordered });
  const value = args[1] === undefined ? null : args[1];
  for (const key of each(args[0]!)) dict.set(key, value);
  return dict;
}

function moveToEnd(self: PyDict, args: PyValue[]): null {
  const key = args[0]!;
  const value = self.get(key);
  if (value === undefined) throw keyError(key);
  self.delete(key);
  if (args[1] === undefined || truth(args[1])) self.set(key, value);
  else {
    const rest = [...self.entries()];
    self.clear();
    self.set(key, value);
    for (const [other, item] of rest) self.set(other, item);
  }
  return null;
}

const methods: readonly Method[] = [
  positional('get', 1, 2, (self: PyDict, args) => {
    const value = self.get(args[0]!);
    return value === undefined ? (args[1] === undefined ? null : args[1]) : value;
  }),
  noArguments('items', (self: PyDict) => new DictView(self, 'items')),
  noArguments('keys', (self: PyDict) => new DictView(self, 'keys')),
  noArguments('values', (self: PyDict) => new DictView(self, 'values')),
  positional('pop', 1, 2, pop),
  noArguments('popitem', (self: PyDict) => popitem(self, true)),
  positional('setdefault', 1, 2, setdefault),
  variadic('update', (self: PyDict, args, _rt, kwargs) => {
    updateDict(self, 'update', args, kwargs);
    return null;
  }),
  noArguments('copy', (self: PyDict) => self.copy()),
  noArguments('clear', (self: PyDict) => {
    self.clear();
    return null;
  }),
  positional('fromkeys', 1, 2, (self: PyDict, args) => fromkeys(args, self.ordered)),
];

export const dictMethods: MethodTable = methodTable(methods);

export const orderedDictMethods: MethodTable = methodTable([
  ...methods,
  keywords('popitem', ['last'], 0, (self: PyDict, args) => popitem(self, args[0] === undefined || truth(args[0]))),
  keywords('move_to_end', ['key', 'last'], 1, moveToEnd),
]);

export const viewMethods: MethodTable = methodTable([
  oneArgument('isdisjoint', (self: DictView, args) => {
    const other = args[0]!;
    if (lengthOf(other) === 0) return true;
    for (const item of each(other)) if (contains(self, item)) return false;
    return true;
  }),
]);
