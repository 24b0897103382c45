// Recorded vectors for tests: reading them, and the three key pairs in them.
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Dict, dictGet, type Value } from '../codec/value.ts';
import { loadPublicKey, parsePrivateKey } from './index.ts';

const vectors = new URL('../../../test/fixtures/vectors/', import.meta.url);
/** A vector file by name. */
export function load<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`${name}.json`, vectors), 'utf8')) as T;
}
export const b64 = (text: string): Buffer => Buffer.from(text, 'base64');
export const get = (value: Value | undefined, ...path: string[]): Value => {
  let now = value;
  for (const key of path) now = dictGet(now as Dict, key);
  return now as Value;
};
export const bytes = (value: Value): Buffer =>
  typeof value === 'string' ? Buffer.from(value) : Buffer.from(value as Uint8Array);

export const keys = load<Record<'master' | 'minion' | 'master_sign', { pem: string; pub: string }>>('keys');
export type KeyName = keyof typeof keys;
export const privateKey = (name: KeyName): KeyObject => parsePrivateKey(keys[name].pem);
export const publicKey = (name: KeyName): KeyObject => loadPublicKey(keys[name].pub);
