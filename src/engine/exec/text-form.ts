// The text that an operator most likely typed for a value that YAML has already converted.
import { pyStr, reprFloat } from '../../base/codec/python/index.ts';
import { dictEntries, isDict, PyFloat, type Value } from '../../base/codec/value.ts';

/**
 * `cmd.run false` arrives at a minion as a boolean: a parameter declared as text gets `false` again, not Python's
 * `False`. Lists and maps are written in flow form, the only form that the command line accepts for them.
 */
export function textForm(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value instanceof PyFloat) return reprFloat(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return `[${value.map(textForm).join(', ')}]`;
  if (isDict(value))
    return `{${dictEntries(value)
      .map(([key, item]) => `${textForm(key)}: ${textForm(item)}`)
      .join(', ')}}`;
  return pyStr(value);
}
