// Python collections that the value model lacks: tuples, sets, and maps whose order is kept when they are dumped.
import type { Dict, Value } from '../value.ts';

/** A Python tuple. Code that does not distinguish tuples may treat it as a list. */
export class PyTuple extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

/**
 * A Python set, in the order it was written; the values are distinct. Code that does not distinguish sets may treat it
 * as a list.
 */
export class PySet extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

export function tupleOf(values: Iterable<Value>): PyTuple {
  const tuple = new PyTuple();
  for (const value of values) tuple.push(value);
  return tuple;
}

export function setOf(values: Iterable<Value>): PySet {
  const set = new PySet();
  for (const value of values) set.push(value);
  return set;
}

const ordered = new WeakSet<Dict>();

/** Marks a dict as what Python calls an OrderedDict: `dumpYaml` leaves its keys in place. */
export function markOrdered<D extends Dict>(dict: D): D {
  ordered.add(dict);
  return dict;
}

export const isOrdered = (dict: Dict): boolean => ordered.has(dict);
