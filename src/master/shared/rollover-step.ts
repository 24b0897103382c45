// A step of a change of the master's key, as it stands in the registry of a cluster: how far it is, and the private keys,
// sealed for the identity of each member, so that neither the engine nor a former member has them.
import { dictField, intField, textField } from '../../base/codec/fields.ts';
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import { type Dict, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { Entry } from '../../engine/cluster/api.ts';
import { type Identity, sealFor } from '../../engine/cluster/identity.ts';
import { slotKey, slotNumbers, slotRecord } from '../../engine/cluster/slots.ts';
import { type RolloverRecord, readRecord } from '../rollover/record.ts';
import type { RegBucket } from './secrets.ts';

export const stepKey = 'rollover';

/** Private keys as they are in their files. */
export interface StepKeys {
  /** The one that minions see after this step. */
  readonly presented: string;
  /** The next one when it is announced, the one before when it was switched. */
  readonly other?: string;
}

export interface SharedStep {
  /** Grows with each step. */
  readonly number: number;
  /** Undefined: no change is under way. */
  readonly record: RolloverRecord | undefined;
  /** The fingerprint of the key that minions see after this step. */
  readonly presented: string;
  /** By slot. */
  readonly sealed: ReadonlyMap<number, Uint8Array>;
}

const longestKey = 20_000;
const longestSealed = 2 * longestKey + 1_000;

/** Undefined for anything that is not exactly such a step. */
export function readStep(value: Value | undefined): SharedStep | undefined {
  if (!isDict(value)) return undefined;
  const number = intField(value, 'number');
  const presented = textField(value, 'presented');
  const field = dictField(value, 'record');
  const record = field && readRecord(field);
  if (number === undefined || number < 1 || presented === undefined || (field && !record)) return undefined;
  return { number, record, presented, sealed: readSealed(dictField(value, 'sealed') ?? newDict()) };
}

export function readSealed(dict: Dict): Map<number, Uint8Array> {
  const sealed = new Map<number, Uint8Array>();
  for (const [slot, bytes] of dictEntries(dict))
    if (bytes instanceof Uint8Array && bytes.length <= longestSealed) sealed.set(Number(slot), bytes);
  return sealed;
}

export const sealedValue = (sealed: SharedStep['sealed']): PlainDict =>
  newDict([...sealed].map(([slot, bytes]) => [String(slot), bytes]));

export function stepValue({ number, record, presented, sealed }: SharedStep): PlainDict {
  return newDict([
    ['number', number],
    ['presented', presented],
    ...(record ? ([['record', newDict(Object.entries(record))]] as const) : []),
    ['sealed', sealedValue(sealed)],
  ]);
}

export const purposeOf = (cluster: string | undefined): string => `rollover ${cluster ?? ''}`;

/** The keys for all members that have an identity, live or not; forgotten ones get nothing. */
export async function sealKeys(purpose: string, reg: RegBucket, keys: StepKeys): Promise<Map<number, Uint8Array>> {
  const bytes = packValue(newDict(Object.entries(keys)));
  const entries = await Promise.all(slotNumbers.map((slot) => reg.get(slotKey(slot))));
  const sealed = new Map<number, Uint8Array>();
  for (const [slot, key] of entries.flatMap(identityKey)) sealed.set(slot, sealFor(key, purpose, bytes));
  return sealed;
}

function identityKey(entry: Entry<Value> | undefined, slot: number): [number, Uint8Array][] {
  const record = slotRecord(entry?.value);
  return record && record.key !== '' && record.freeAt === undefined ? [[slot, Buffer.from(record.key, 'hex')]] : [];
}

/** What this member can open: undefined when nothing was sealed for it. */
export function openKeys(
  purpose: string,
  sealed: Uint8Array | undefined,
  identity: Identity | undefined,
): StepKeys | undefined {
  const bytes = sealed && identity?.open(purpose, sealed);
  if (!bytes) return undefined;
  const value = unpackValue(bytes);
  if (!isDict(value)) return undefined;
  const [presented, other] = [textField(value, 'presented'), textField(value, 'other')];
  if (presented === undefined || presented.length > longestKey || (other?.length ?? 0) > longestKey) return undefined;
  return { presented, ...(other === undefined ? {} : { other }) };
}
