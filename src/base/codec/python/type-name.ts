// The names of Python's types, for messages.
import { PyFloat, type Value } from '../value.ts';

/** type(value).__name__ */
export function pyTypeName(value: Value | undefined): string {
  if (value === null || value === undefined) return 'NoneType';
  if (typeof value === 'string') return 'str';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  if (value instanceof PyFloat) return 'float';
  if (Array.isArray(value)) return 'list';
  if (value instanceof Uint8Array) return 'bytes';
  return value instanceof Date ? 'datetime' : 'dict';
}
