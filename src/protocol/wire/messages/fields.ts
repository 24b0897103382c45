// Reads fields of untrusted maps: a field of the wrong type counts as absent, nothing throws.
import {
  asNumber,
  type Dict,
  dictGet,
  isDict,
  isTexts,
  newDict,
  type PlainDict,
  type Value,
} from '../../../base/codec/value.ts';

/** Why a message is refused. `reply` is the plain text with which Salt answers. */
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

/** A binary field: bytes that are valid UTF-8 are decoded as text and are converted back here. */
export function bytesField(dict: Dict, key: string): Uint8Array | undefined {
  return toBytes(dictGet(dict, key));
}

function toBytes(value: Value | undefined): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  return typeof value === 'string' ? Buffer.from(value, 'utf8') : undefined;
}

export function intField(dict: Dict, key: string): number | undefined {
  const value = dictGet(dict, key);
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

/** Integer or fraction; times may have a fraction. */
export function numberField(dict: Dict, key: string): number | undefined {
  return asNumber(dictGet(dict, key));
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

/** A map whose keys are text; undefined for anything else. */
export function plainDict(value: Value | undefined): PlainDict | undefined {
  return isDict(value) && !(value instanceof Map) ? value : undefined;
}

/** Text, or a list of texts; anything else is absent. */
export function textsField(dict: Dict, key: string): string | readonly string[] | undefined {
  const value = dictGet(dict, key);
  if (typeof value === 'string') return value;
  return isTexts(value) ? value : undefined;
}

/** Only the fields of the type, without undefined ones: absent and undefined are the same on the wire. */
export function dense(fields: Readonly<Record<string, Value | undefined>>): Dict {
  const dict = newDict();
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) dict[key] = value;
  return dict;
}

/** The fields that have a value: an absent field of a message is absent in the result too. */
export function given<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const found: { [Key in keyof T]?: Exclude<T[Key], undefined> } = {};
  for (const key in fields) {
    const value = fields[key] as Exclude<T[typeof key], undefined>;
    if (value !== undefined) found[key] = value;
  }
  return found;
}
