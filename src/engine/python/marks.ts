// Values on the pipe to Python: JSON, with marked maps for what JSON lacks. The counterpart is python/halite_worker/values.py.
import { asPythonObject, pythonObjectOf } from '../../base/codec/python-object.ts';
import {
  type Dict,
  dictEntries,
  dictOf,
  isDict,
  isReorderedKey,
  newDict,
  PyFloat,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';

const mark = '\u0001';
const deepest = 400;

/** A value as JSON.stringify writes it. */
export function toWire(value: unknown, depth = 0): unknown {
  if (value === null || value === undefined) return null;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return numberToWire(value);
    case 'bigint':
      return { [`${mark}i`]: value.toString() };
    case 'object':
      break;
    default:
      return String(value);
  }
  if (depth > deepest) throw new HaliteError('codec.limit', 'the value nests too deeply for Python');
  if (Array.isArray(value)) return value.map((item) => toWire(item, depth + 1));
  if (value instanceof PyFloat) return floatToWire(value.value);
  if (value instanceof Uint8Array) return { [`${mark}b`]: Buffer.from(value).toString('base64') };
  if (value instanceof Date) return { [`${mark}d`]: value.toISOString() };
  const object = pythonObjectOf(value);
  return object ? { [`${mark}o`]: [object.handle, object.text] } : dictToWire(value as Dict, depth);
}

function numberToWire(value: number): unknown {
  if (!Number.isFinite(value)) return floatToWire(value);
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return { [`${mark}i`]: BigInt(value).toString() };
  return value;
}

function floatToWire(value: number): unknown {
  const text = Number.isNaN(value) ? 'nan' : value === Infinity ? 'inf' : value === -Infinity ? '-inf' : String(value);
  return { [`${mark}f`]: Object.is(value, -0) ? '-0.0' : text };
}

function dictToWire(value: Dict, depth: number): unknown {
  const entries = dictEntries(value);
  if (entries.every(([key]) => typeof key === 'string' && !key.startsWith(mark) && !isReorderedKey(key))) {
    const made = newDict() as Record<string, unknown>;
    for (const [key, item] of entries) made[key as string] = toWire(item, depth + 1);
    return made;
  }
  return { [`${mark}m`]: entries.map(([key, item]) => [toWire(key, depth + 1), toWire(item, depth + 1)]) };
}

/** What JSON.parse read, as a value. Throws for marks that it does not know. */
export function fromWire(read: unknown, depth = 0): Value {
  if (read === null || typeof read === 'string' || typeof read === 'boolean' || typeof read === 'number') return read;
  if (depth > deepest) throw new HaliteError('codec.limit', 'the value of Python nests too deeply');
  if (Array.isArray(read)) return read.map((item) => fromWire(item, depth + 1));
  const keys = Object.keys(read as object);
  const object = read as Record<string, unknown>;
  if (keys.length === 1 && keys[0]!.startsWith(mark)) return marked(keys[0]!.slice(1), object[keys[0]!], depth);
  return newDict(keys.map((key) => [key, fromWire(object[key], depth + 1)]));
}

function marked(kind: string, content: unknown, depth: number): Value {
  if (kind === 'm' && Array.isArray(content)) {
    return dictOf(
      content.map((pair: unknown): [Value, Value] => {
        const [key, value] = Array.isArray(pair) ? pair : [];
        return [fromWire(key ?? null, depth + 1), fromWire(value ?? null, depth + 1)];
      }),
    );
  }
  if (kind === 'o' && Array.isArray(content)) return objectOf(content, depth);
  if (typeof content === 'string') {
    if (kind === 'i' && /^-?\d+$/.test(content)) return BigInt(content);
    if (kind === 'f') return floatOf(content);
    if (kind === 'b') return new Uint8Array(Buffer.from(content, 'base64'));
    if (kind === 'd') return dateOf(content);
  }
  throw new HaliteError('codec.malformed', `Python sent a value of the unknown kind ${JSON.stringify(kind)}`);
}

function objectOf([handle, text, type, read]: unknown[], depth: number): Value {
  const attributes = fromWire(read ?? {}, depth + 1);
  if (!isDict(attributes) || attributes instanceof Map) return String(text);
  return asPythonObject(attributes, { text: String(text), type: String(type), handle: String(handle) });
}

function floatOf(text: string): Value {
  if (text === 'nan') return Number.NaN;
  if (text === 'inf') return Infinity;
  if (text === '-inf') return -Infinity;
  const number = Number(text);
  return Number.isInteger(number) ? new PyFloat(number) : number;
}

/** A time without a zone is taken as it is written. */
function dateOf(text: string): Value {
  const zoned = /(?:Z|[+-]\d\d:\d\d)$/.test(text) || !text.includes('T');
  const date = new Date(zoned ? text : `${text}Z`);
  return Number.isNaN(date.getTime()) ? text : date;
}
