// The records of shared secrets, read from what other members or an earlier run wrote: only known fields, of the right
// form.
import { bytesField, dictField, intField, textField } from '../../base/codec/fields.ts';
import { asText, type Dict, dictGet, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { AesGeneration } from '../sign-in/aes-keys.ts';

export const secretBytes = 32;
const keyBytes = 56;

/** The AES key of the fleet, and the one that follows while members get ready for it. */
export interface AesRecord extends AesGeneration {
  readonly next?: AesGeneration;
}

/** What session keys are computed from, and names of minions that nobody else should read. */
export interface BaseRecord {
  readonly session: Uint8Array;
  readonly index: Uint8Array;
}

export function readAesRecord(value: Value | undefined): AesRecord | undefined {
  if (!isDict(value)) return undefined;
  const current = readGeneration(value);
  const follows = dictField(value, 'next');
  const next = follows && readGeneration(follows);
  if (!current || (follows && next?.generation !== current.generation + 1)) return undefined;
  return next ? { ...current, next } : current;
}

function readGeneration(dict: Dict): AesGeneration | undefined {
  const generation = intField(dict, 'generation');
  const since = intField(dict, 'since');
  const key = asText(dictGet(dict, 'key'));
  if (generation === undefined || generation < 1 || since === undefined || key === undefined) return undefined;
  return Buffer.from(key, 'base64').length === keyBytes ? { generation, key, since } : undefined;
}

export function aesValue({ next, ...current }: AesRecord): PlainDict {
  const dict = newDict(Object.entries(current));
  if (next) dict['next'] = newDict(Object.entries(next));
  return dict;
}

export function readBaseRecord(value: Value | undefined): BaseRecord | undefined {
  if (!isDict(value)) return undefined;
  const session = bytesField(value, 'session');
  const index = bytesField(value, 'index');
  return session?.length === secretBytes && index?.length === secretBytes ? { session, index } : undefined;
}

export const baseValue = ({ session, index }: BaseRecord): PlainDict =>
  newDict([
    ['session', session],
    ['index', index],
  ]);

/** What a member says when it knows a key: it, and the run of the process that has it in memory. */
export interface Confirmation {
  readonly generation: number;
  readonly boot: string;
}

export function readConfirmation(value: Value | undefined): Confirmation | undefined {
  if (!isDict(value)) return undefined;
  const generation = intField(value, 'generation');
  const boot = textField(value, 'boot');
  return generation === undefined || boot === undefined ? undefined : { generation, boot };
}

export const confirmationValue = ({ generation, boot }: Confirmation): PlainDict =>
  newDict([
    ['generation', generation],
    ['boot', boot],
  ]);
