// Reading fields of foreign maps: what has the wrong type is absent, nothing ever throws.
import { type Dict, dictGet, isDict, newDict, type Value } from '../../../base/codec/value.ts';

/** Why a message is refused. `reply` is the plain text Salt answers with. */
export interface Problem {
  readonly problem: string;
  readonly reply: string;
}

export function problem(text: string, reply = 'bad load'): Problem {
  return { problem: text, reply };
}

export function isProblem(value: object): value is Problem {
  return 'problem' in value && 'reply' in value;
}

export function textField(dict: Dict, key: string): string | undefined {
  const value = dictGet(dict, key);
  return typeof value === 'string' ? value : undefined;
}

/** A field known to be binary: on the wire bytes that happen to be valid UTF-8 arrive as text and are turned back. */
export function bytesField(dict: Dict, key: string): Uint8Array | undefined {
  return toBytes(dictGet(dict, key));
}

export function toBytes(value: Value | undefined): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  return typeof value === 'string' ? Buffer.from(value, 'utf8') : undefined;
}

export function intField(dict: Dict, key: string): number | undefined {
  const value = dictGet(dict, key);
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

export function boolField(dict: Dict, key: string): boolean {
  return dictGet(dict, key) === true;
}

export function listField(dict: Dict, key: string): readonly Value[] | undefined {
  const value = dictGet(dict, key);
  return Array.isArray(value) ? value : undefined;
}

export function dictField(dict: Dict, key: string): Dict | undefined {
  const value = dictGet(dict, key);
  return isDict(value) ? value : undefined;
}

/** Text, or a list of texts; anything else is absent. */
export function textsField(dict: Dict, key: string): string | readonly string[] | undefined {
  const value = dictGet(dict, key);
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? (value as string[]) : undefined;
}

/** The environment; 2015.5 minions call it `env`. */
export function saltenvField(dict: Dict): string {
  return textField(dict, 'saltenv') ?? textField(dict, 'env') ?? 'base';
}

/** The fields of the type only, without those that are undefined: absent and undefined are the same on the wire. */
export function dense(fields: Readonly<Record<string, Value | undefined>>): Dict {
  const dict = newDict();
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) dict[key] = value;
  return dict;
}
