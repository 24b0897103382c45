// Map keys under which values that are equal in Python are the same.
import { typeError } from '../errors.ts';
import { type HashKey, PyFloat, PyObject, type PyValue } from './value.ts';

/** Normal form of a dict key: 1, 1.0 and True are one key, '1' is another, tuples go by content. */
export function hashKey(value: PyValue): HashKey {
  switch (typeof value) {
    case 'string':
      // A leading NUL marks internal keys (tuples), so real text with a leading NUL gets a second one.
      return value.charCodeAt(0) === 0 ? `\0${value}` : value;
    case 'number':
      return value;
    case 'boolean':
      return value ? 1 : 0;
    case 'bigint':
      return value;
    default:
  }
  if (value === null) return null;
  if (value instanceof PyObject) return value.hashKey();
  if (value instanceof PyFloat) return floatKey(value.value);
  if (Array.isArray(value)) throw typeError("unhashable type: 'list'");
  return `\0b${Buffer.from(value).toString('latin1')}`;
}

function floatKey(value: number): HashKey {
  return Number.isSafeInteger(value) ? value + 0 : Number.isInteger(value) ? BigInt(value) : value;
}

const identities = new WeakMap<object, number>();
let nextIdentity = 1;

/** One key for a tuple: length-prefixed keys of the members, so that no two contents collide. */
export function tupleKey(members: readonly PyValue[]): string {
  let key = `\0t${members.length}`;
  for (const member of members) {
    const part = hashKey(member);
    if (typeof part === 'object' && part !== null) {
      let identity = identities.get(part);
      if (identity === undefined) {
        identity = nextIdentity;
        nextIdentity += 1;
        identities.set(part, identity);
      }
      key += `o${identity};`;
    } else if (typeof part === 'string') {
      key += `s${part.length}:${part}`;
    } else {
      key += `n${String(part)};`;
    }
  }
  return key;
}
