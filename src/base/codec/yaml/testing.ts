// Test helper: the value encoding of the case files (`$int`, `$float`, `$map` …) to and from values.
import { readFileSync } from 'node:fs';
import { dictEntries, dictOf, isDict, PyFloat, type Value } from '../value.ts';
import { PySet, PyTuple, setOf, tupleOf } from './collections.ts';
import { pyFloatRepr } from './py-text.ts';

export type Encoded = null | boolean | string | Encoded[] | { readonly [mark: string]: Encoded };

export interface LoadOutcome {
  readonly value?: Encoded;
  readonly error?: string;
  readonly problem?: string;
  readonly line?: number;
  readonly column?: number;
  readonly context?: string | null;
}

export function readFixture<T>(name: string): T {
  const file = new URL(`../../../../test/fixtures/yaml/${name}`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

export function encodeValue(value: Value): Encoded {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return { $int: String(value) };
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { $int: String(value) } : { $float: pyFloatRepr(value) };
  }
  if (value instanceof PyFloat) return { $float: pyFloatRepr(value.value) };
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString('base64') };
  if (value instanceof PyTuple) return { $tuple: [...value].map(encodeValue) };
  if (value instanceof PySet) return { $set: [...value].map(encodeValue) };
  if (Array.isArray(value)) return value.map(encodeValue);
  if (isDict(value)) return { $map: dictEntries(value).map(([k, v]) => [encodeValue(k), encodeValue(v)]) };
  throw new Error('no encoding');
}

export function decodeValue(data: Encoded): Value {
  if (data === null || typeof data !== 'object') return data;
  if (Array.isArray(data)) return data.map(decodeValue);
  const [mark, content] = Object.entries(data)[0] as [string, Encoded];
  const items = Array.isArray(content) ? content : [];
  switch (mark) {
    case '$int': {
      const small = Number(content);
      return Number.isSafeInteger(small) ? small : BigInt(content as string);
    }
    case '$float':
      return decodeFloat(content as string);
    case '$bytes':
      return new Uint8Array(Buffer.from(content as string, 'base64'));
    case '$tuple':
      return tupleOf(items.map(decodeValue));
    case '$set':
      return setOf(items.map(decodeValue));
    default:
      return dictOf(items.map((pair) => (pair as Encoded[]).map(decodeValue) as [Value, Value]));
  }
}

function decodeFloat(text: string): number | PyFloat {
  if (text === 'nan') return Number.NaN;
  if (text.endsWith('inf')) return text.startsWith('-') ? -Infinity : Infinity;
  const number = Number(text);
  return Number.isInteger(number) ? new PyFloat(number) : number;
}
