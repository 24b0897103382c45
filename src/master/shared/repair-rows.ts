// Rows that members compare and give each other, as values and back. What a member tells is read field by field: a row of
// the wrong types, or one that names another minion or job than its content, is not taken.
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import { asList, asText, type Value } from '../../base/codec/value.ts';
import { isJid } from '../../base/util/jid.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import { mostMembers } from '../../engine/cluster/api.ts';
import { itemValue, readItem } from '../../engine/cluster/codec.ts';
import type { LedgerItem } from '../../engine/cluster/messages.ts';
import { type ComparedRow, type RowKey, type Tallied, type TallyKind, tallyKinds } from '../../store/jobs.ts';
import { acceptable } from './frame-items.ts';

export const readKind = (value: Value | undefined): TallyKind | undefined => tallyKinds.find((kind) => kind === value);

/** An hour or a minute as in a jid. */
export const isSpan = (value: unknown): value is string => typeof value === 'string' && /^\d{10}(\d\d)?$/.test(value);

const whole = (value: Value | undefined): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;

export const talliedValue = ({ kind, span, count, hash }: Tallied): Value => [kind, span, count, hash];

export function readTallied(value: Value): Tallied | undefined {
  const [kindName, span, count, hash] = asList(value) ?? [];
  const [kind, rows] = [readKind(kindName), whole(count)];
  if (!kind || !isSpan(span) || rows === undefined || rows < 1) return undefined;
  return typeof hash === 'string' && /^[0-9a-f]{16}$/.test(hash) ? { kind, span, count: rows, hash } : undefined;
}

export const keyValue = ({ jid, id, attempt, digest, place }: RowKey): Value => [jid, id, attempt, digest, place];

export function readKey(value: Value): RowKey | undefined {
  const [jid, id, attempt, digest, place] = asList(value) ?? [];
  const [run, at] = [whole(attempt), whole(place)];
  if (!isRowName(jid, id) || run === undefined || at === undefined) return undefined;
  if (typeof digest !== 'string' || digest.length > 64) return undefined;
  return { jid: String(jid), id: String(id), attempt: run, digest, place: at };
}

export const nameValue = ({ jid, id }: Pick<RowKey, 'jid' | 'id'>): Value => [jid, id];

export function readName(value: Value): Pick<RowKey, 'jid' | 'id'> | undefined {
  const [jid, id] = asList(value) ?? [];
  return isRowName(jid, id) ? { jid: String(jid), id: String(id) } : undefined;
}

/** Jobs have no id. */
function isRowName(jid: Value | undefined, id: Value | undefined): boolean {
  const [job, minion] = [asText(jid), asText(id)];
  return job !== undefined && isJid(job) && minion !== undefined && (minion === '' || isValidMinionId(minion));
}

/** `self`: the slot of this member, for what is from before the cluster. */
export function packRow(row: ComparedRow, self: number): Uint8Array {
  if (row.kind === 'job') return packed({ kind: 'job', job: { ...row.job, owner: row.job.owner ?? self } }, 0, self);
  if (row.kind === 'verdict') return packed(row, 0, self);
  const { place, via, ...ret } = row;
  return packed(ret, place, via ?? self);
}

const packed = (item: LedgerItem, place: number, via: number): Uint8Array => packValue([itemValue(item), place, via]);

/** The row, or why it is not taken. */
export function unpackRow(packedRow: Value): ComparedRow | string {
  // Bytes that are also text arrive as text.
  const bytes = typeof packedRow === 'string' ? Buffer.from(packedRow, 'utf8') : packedRow;
  if (!(bytes instanceof Uint8Array)) return 'it is no record';
  let value: Value;
  try {
    value = unpackValue(bytes);
  } catch {
    return 'it cannot be read';
  }
  const [itemOf, placeOf, viaOf] = asList(value) ?? [];
  const item = itemOf === undefined ? undefined : readItem(itemOf);
  const [place, via] = [whole(placeOf), whole(viaOf)];
  if (!item || item.kind === 'own' || place === undefined || via === undefined) return 'it lacks a field';
  if (place < 0 || via < 0 || via >= mostMembers) return 'it comes from no member';
  const why = acceptable(item, item.kind === 'job' ? item.job.owner : via);
  if (why !== undefined) return why;
  if ('job' in item) return { kind: 'job', job: item.job };
  return item.kind === 'ret' ? { ...item, place, via } : item;
}
