// Equality as Python's ==: by content, and True equals 1 equals 1.0.
import { type Dict, dictEntries, dictSize, isDict, PyFloat, type Value } from '../codec/value.ts';

export function pyEquals(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  const left = numeric(a);
  if (left !== undefined) {
    const right = numeric(b);
    // biome-ignore lint/suspicious/noDoubleEquals: number and bigint compare by value only this way
    return right !== undefined && left == right;
  }
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => pyEquals(item, b[index]));
  }
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  return isDict(a) && isDict(b) && sameDict(a, b);
}

function numeric(value: Value | undefined): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value instanceof PyFloat ? value.value : undefined;
}

function sameDict(a: Dict, b: Dict): boolean {
  if (dictSize(a) !== dictSize(b)) return false;
  return dictEntries(a).every(([key, item]) => {
    const other = pyDictGet(b, key);
    return other !== undefined && pyEquals(item, other);
  });
}

/** dict[key] with Python's equality of keys (`1`, `1.0` and `True` are one key); undefined when absent. */
export function pyDictGet(dict: Dict, key: Value): Value | undefined {
  if (typeof key === 'string') {
    if (dict instanceof Map) return dict.get(key);
    return Object.hasOwn(dict, key) ? dict[key] : undefined;
  }
  if (!(dict instanceof Map)) return undefined;
  const direct = dict.get(key);
  if (direct !== undefined) return direct;
  for (const [other, value] of dict) if (typeof other !== 'string' && pyEquals(key, other)) return value;
  return undefined;
}
