// What the members of a cluster know about the key of one minion. Written by any member, read with care: only known
// forms, and fields of newer versions are kept.
import { createHmac } from 'node:crypto';
import { intField, textField } from '../../base/codec/fields.ts';
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';

/** `gone`: it was deleted, which an old file must not undo. `none`: no decision, only other facts. */
const sharedStates = ['none', 'accepted', 'pending', 'rejected', 'gone'] as const;
export type SharedState = (typeof sharedStates)[number];

export interface KeyRecord {
  readonly id: string;
  readonly state: SharedState;
  /** The key as it was presented; empty when there is none. */
  readonly pem: string;
  /** The last other key that was presented under this id. */
  readonly denied: string;
  /** When it was decided, in milliseconds since the epoch, and by whom: `sign-in at m1 from 10.0.0.7`. */
  readonly at: number;
  readonly by: string;
  /** How often its session was renewed. */
  readonly session: number;
  /** Fields of other parts, and of newer versions. */
  readonly rest: PlainDict;
}

const longestPem = 20_000;
const own = new Set(['id', 'state', 'pem', 'denied', 'at', 'by', 'session']);

export function readKeyRecord(value: Value | undefined): KeyRecord | undefined {
  if (!isDict(value)) return undefined;
  const id = textField(value, 'id');
  const state = sharedStates.find((known) => known === textField(value, 'state'));
  const pem = textField(value, 'pem') ?? '';
  const denied = textField(value, 'denied') ?? '';
  const session = intField(value, 'session') ?? 0;
  if (id === undefined || !isValidMinionId(id) || !state || session < 0) return undefined;
  if (pem.length > longestPem || denied.length > longestPem) return undefined;
  if (pem === '' && (state === 'accepted' || state === 'pending' || state === 'rejected')) return undefined;
  const at = intField(value, 'at') ?? 0;
  const by = (textField(value, 'by') ?? '').slice(0, 300);
  const rest = newDict(dictEntries(value).filter((entry): entry is [string, Value] => !own.has(String(entry[0]))));
  return { id, state, pem, denied, at, by, session, rest };
}

export function keyValue({ rest, ...known }: KeyRecord): PlainDict {
  return newDict([...Object.entries(rest), ...Object.entries(known)]);
}

export const noRecord = (id: string): KeyRecord => ({
  ...{ id, state: 'none', pem: '', denied: '', at: 0, by: '', session: 0, rest: newDict() },
});

/** Whether they are one decision, however often it was written. */
export const isSame = (one: KeyRecord, other: KeyRecord): boolean =>
  one.at === other.at && one.by === other.by && one.state === other.state && one.pem === other.pem;

/** The stricter of two decisions that were made without knowledge of each other. */
export function stricter(one: SharedState, other: SharedState): SharedState {
  return strictness.indexOf(one) >= strictness.indexOf(other) ? one : other;
}

const strictness: readonly SharedState[] = ['none', 'accepted', 'pending', 'rejected', 'gone'];

/** Names an id in the engine, which need not know ids. */
export function tokenOf(index: Uint8Array, id: string): string {
  return createHmac('sha256', index).update(id).digest('base64url').slice(0, 22);
}
