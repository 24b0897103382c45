// Copies of nested values.
import { isDict, newDict, type Value } from '../codec/value.ts';

/** A deep copy; objects shared inside the value stay shared in the copy. */
export function deepCopy<V extends Value>(value: V): V {
  return copyValue(value, new Map()) as V;
}

function copyValue(value: Value, memo: Map<object, Value>): Value {
  if (value === null || typeof value !== 'object' || !(Array.isArray(value) || isDict(value))) return value;
  const known = memo.get(value);
  if (known !== undefined) return known;
  if (Array.isArray(value)) {
    const list: Value[] = [];
    memo.set(value, list);
    for (const item of value) list.push(copyValue(item, memo));
    return list;
  }
  if (value instanceof Map) {
    const map = new Map<Value, Value>();
    memo.set(value, map);
    for (const [key, item] of value) map.set(key, copyValue(item, memo));
    return map;
  }
  const dict = newDict();
  memo.set(value, dict);
  for (const key in value) dict[key] = copyValue(value[key]!, memo);
  return dict;
}
