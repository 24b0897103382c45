// The method tables of list and tuple.
import { indexError, memoryError, PyError, typeError, valueError } from '../../errors.ts';
import {
  call,
  type Method,
  type MethodTable,
  methodTable,
  noArguments,
  oneArgument,
  positional,
  variadic,
} from '../callable.ts';
import { same } from '../compare.ts';
import { toArray, truth } from '../iterate.ts';
import { repr } from '../print.ts';
import type { Runtime } from '../runtime.ts';
import type { PyTuple } from '../sequence.ts';
import { sorted } from '../sort.ts';
import type { Kwargs, PyValue } from '../value.ts';
import { intArgument } from './support.ts';

function find(items: readonly PyValue[], args: PyValue[], failure: (value: PyValue) => string): number {
  const clamp = (value: PyValue | undefined, fallback: number): number => {
    if (value === undefined) return fallback;
    const at = intArgument(value);
    return at < 0 ? Math.max(0, at + items.length) : at;
  };
  const end = Math.min(clamp(args[2], items.length), items.length);
  for (let at = clamp(args[1], 0); at < end; at += 1) if (same(items[at]!, args[0]!)) return at;
  throw valueError(failure(args[0]!));
}

function pop(self: PyValue[], args: PyValue[]): PyValue {
  const at = args[0] === undefined ? -1 : intArgument(args[0]);
  if (self.length === 0) throw indexError('pop from empty list');
  const index = at < 0 ? at + self.length : at;
  if (index < 0 || index >= self.length) throw indexError('pop index out of range');
  return self.splice(index, 1)[0]!;
}

function insert(self: PyValue[], args: PyValue[]): null {
  const at = intArgument(args[0]!);
  self.splice(at < 0 ? Math.max(0, at + self.length) : at, 0, args[1]!);
  return null;
}

/** A list doubled in a loop must end in an error, not in a crashed process. */
const maxLength = 1 << 22;

function extend(self: PyValue[], args: PyValue[]): null {
  const items = toArray(args[0]!);
  if (self.length + items.length > maxLength) throw memoryError();
  for (const item of items) self.push(item);
  return null;
}

function remove(self: PyValue[], args: PyValue[]): null {
  const at = self.findIndex((item) => same(item, args[0]!));
  if (at < 0) throw valueError('list.remove(x): x not in list');
  self.splice(at, 1);
  return null;
}

/** A key function for sorting; it must be synchronous, because a sort cannot wait. */
function keyFunction(rt: Runtime, key: PyValue | undefined): ((value: PyValue) => PyValue) | undefined {
  if (key === undefined || key === null) return undefined;
  return (value) => {
    const result = call(rt, key, [value]);
    if (result instanceof Promise) throw new PyError('TypeError', 'a sort key cannot be an asynchronous function');
    return result;
  };
}

function sort(self: PyValue[], args: PyValue[], rt: Runtime, kwargs: Kwargs | undefined): null {
  if (args.length > 0) throw typeError('sort() takes no positional arguments');
  for (const name of kwargs?.keys() ?? []) {
    if (name !== 'key' && name !== 'reverse') throw typeError(`'${name}' is an invalid keyword argument for sort()`);
  }
  const reverse = kwargs?.get('reverse');
  const done = sorted(self, keyFunction(rt, kwargs?.get('key')), reverse !== undefined && truth(reverse));
  self.splice(0, self.length, ...done);
  return null;
}

const count = (items: readonly PyValue[], wanted: PyValue): number => items.filter((item) => same(item, wanted)).length;

const methods: readonly Method[] = [
  oneArgument('append', (self: PyValue[], args) => {
    self.push(args[0]!);
    return null;
  }),
  noArguments('clear', (self: PyValue[]) => {
    self.length = 0;
    return null;
  }),
  noArguments('copy', (self: PyValue[]) => self.slice()),
  oneArgument('count', (self: PyValue[], args) => count(self, args[0]!)),
  oneArgument('extend', extend),
  positional('index', 1, 3, (self: PyValue[], args) => find(self, args, (value) => `${repr(value)} is not in list`)),
  positional('insert', 2, 2, insert),
  positional('pop', 0, 1, pop),
  oneArgument('remove', remove),
  noArguments('reverse', (self: PyValue[]) => {
    self.reverse();
    return null;
  }),
  variadic('sort', sort),
];

export const listMethods: MethodTable = methodTable(methods);

export const tupleMethods: MethodTable = methodTable([
  oneArgument('count', (self: PyTuple, args) => count(self.items, args[0]!)),
  positional('index', 1, 3, (self: PyTuple, args) => find(self.items, args, () => 'tuple.index(x): x not in tuple')),
]);
