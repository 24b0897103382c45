// The method table of set.
import { PyError } from '../../errors.ts';
import { type Method, type MethodTable, methodTable, noArguments, oneArgument, variadic } from '../callable.ts';
import { toArray } from '../iterate.ts';
import { repr } from '../print.ts';
import { PySet } from '../set.ts';
import type { PyValue } from '../value.ts';

const asSet = (value: PyValue): PySet => (value instanceof PySet ? value : new PySet(toArray(value)));

function union(self: PySet, args: PyValue[]): PySet {
  const out = new PySet(self);
  for (const other of args) for (const item of toArray(other)) out.add(item);
  return out;
}

function intersection(self: PySet, args: PyValue[]): PySet {
  const others = args.map(asSet);
  return new PySet(self.toArray().filter((item) => others.every((other) => other.has(item))));
}

function difference(self: PySet, args: PyValue[]): PySet {
  const others = args.map(asSet);
  return new PySet(self.toArray().filter((item) => !others.some((other) => other.has(item))));
}

function symmetric(self: PySet, args: PyValue[]): PySet {
  const other = asSet(args[0]!);
  const out = new PySet(self.toArray().filter((item) => !other.has(item)));
  for (const item of other) if (!self.has(item)) out.add(item);
  return out;
}

function become(self: PySet, other: PySet): null {
  const items = other.toArray();
  self.clear();
  for (const item of items) self.add(item);
  return null;
}

const methods: readonly Method[] = [
  oneArgument('add', (self: PySet, args) => {
    self.add(args[0]!);
    return null;
  }),
  noArguments('clear', (self: PySet) => {
    self.clear();
    return null;
  }),
  noArguments('copy', (self: PySet) => new PySet(self)),
  oneArgument('discard', (self: PySet, args) => {
    self.delete(args[0]!);
    return null;
  }),
  oneArgument('remove', (self: PySet, args) => {
    if (!self.delete(args[0]!)) throw new PyError('KeyError', repr(args[0]!));
    return null;
  }),
  noArguments('pop', (self: PySet) => {
    const first = self.toArray()[0];
    if (first === undefined) throw new PyError('KeyError', "'pop from an empty set'");
    self.delete(first);
    return first;
  }),
  variadic('union', union),
  variadic('intersection', intersection),
  variadic('difference', difference),
  oneArgument('symmetric_difference', symmetric),
  variadic('update', (self: PySet, args) => become(self, union(self, args))),
  variadic('intersection_update', (self: PySet, args) => become(self, intersection(self, args))),
  variadic('difference_update', (self: PySet, args) => become(self, difference(self, args))),
  oneArgument('symmetric_difference_update', (self: PySet, args) => become(self, symmetric(self, args))),
  oneArgument('issubset', (self: PySet, args) => {
    const other = asSet(args[0]!);
    return self.toArray().every((item) => other.has(item));
  }),
  oneArgument('issuperset', (self: PySet, args) => toArray(args[0]!).every((item) => self.has(item))),
  oneArgument('isdisjoint', (self: PySet, args) => !toArray(args[0]!).some((item) => self.has(item))),
];

export const setMethods: MethodTable = methodTable(methods);
