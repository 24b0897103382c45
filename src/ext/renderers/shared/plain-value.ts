// Converts the return value of code to data: objects lose their prototype, other values are refused.
import { type Dict, dictOf, PyFloat, RenderError, type Value } from 'halite/sdk';

const maxDepth = 200;

export function plainValue(value: unknown, depth = 0): Value {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'bigint':
      return value;
    case 'undefined':
      return null;
    case 'object':
      return value === null ? null : plainObject(value, depth);
    default:
      throw new RenderError(`The data of the file holds a ${typeof value}`);
  }
}

function plainObject(value: object, depth: number): Value {
  if (depth > maxDepth) throw new RenderError('The data of the file is nested too deeply, or contains itself');
  if (Array.isArray(value)) return value.map((item) => plainValue(item, depth + 1));
  if (value instanceof PyFloat || value instanceof Uint8Array || value instanceof Date) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value).filter(([, item]) => item !== undefined);
  return dictOf(entries.map(([key, item]): [Value, Value] => [plainValue(key), plainValue(item, depth + 1)])) as Dict;
}
