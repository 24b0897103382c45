// Reads fields of untrusted maps: a field of the wrong type counts as absent, nothing throws.
import { pyStr } from './python/repr.ts';
import {
  asDict,
  asList,
  asNumber,
  asText,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  isTexts,
  newDict,
  type PlainDict,
  type Value,
} from './value.ts';

export function textField(dict: Dict, key: string): string | undefined {
  return asText(dictGet(dict, key));
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
  return asList(dictGet(dict, key));
}

export function dictField(dict: Dict, key: string): Dict | undefined {
  return asDict(dictGet(dict, key));
}

/** Text, or a list of texts; anything else is absent. */
export function textsField(dict: Dict, key: string): string | readonly string[] | undefined {
  const value = dictGet(dict, key);
  if (typeof value === 'string') return value;
  return isTexts(value) ? value : undefined;
}

/** A copy of a dict with text keys, others as Python prints them; empty for anything else. */
export function textKeyed(value: unknown): PlainDict {
  return newDict(isDict(value) ? dictEntries(value).map(([key, item]) => [pyStr(key), item]) : []);
}

/** The items of a list as Python prints them; none for anything else. */
export function listTexts(value: unknown): string[] {
  return asList(value)?.map(pyStr) ?? [];
}
