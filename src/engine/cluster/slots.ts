// Who has which slot: one record for each, in the registry. A slot is reserved for a machine that was invited, claimed by
// the identity of the place on its disk, and free again some time after its member was forgotten.
import { numberField, textField } from '../../base/codec/fields.ts';
import { asPlainDict, newDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { type Bucket, type Entry, mostMembers } from './api.ts';

export interface SlotRecord {
  readonly id: string;
  /** Names the place on the member's disk; empty while the slot is only reserved. */
  readonly identity: string;
  /** The public X25519 key, as hex; empty for a member that has none. */
  readonly key: string;
  readonly at: number;
  /** Of a member that was forgotten: when another one may have the slot. */
  readonly freeAt?: number;
}

export const slotKey = (slot: number): string => `slot.${slot}`;
export const slotNumbers = Array.from({ length: mostMembers }, (_, slot) => slot);

export function slotRecord(value: Value | undefined): SlotRecord | undefined {
  const fields = asPlainDict(value);
  const id = fields && textField(fields, 'id');
  if (!fields || id === undefined) return undefined;
  const [identity = '', key = ''] = [textField(fields, 'identity'), textField(fields, 'key')];
  const freeAt = numberField(fields, 'freeAt');
  return { id, identity, key, at: numberField(fields, 'at') ?? 0, ...(freeAt === undefined ? {} : { freeAt }) };
}

export const slotValue = (record: SlotRecord): Value => newDict(Object.entries(record));

/** Nobody has it, or whoever had it is forgotten for long enough. */
export const isFree = (record: SlotRecord | undefined, now: number): boolean =>
  record === undefined || (record.freeAt !== undefined && record.freeAt <= now);

export interface Reservation {
  readonly id: string;
  readonly key: string;
  readonly now: number;
  isLive(slot: number): boolean;
}

/** The slot that this machine will have. The same machine gets the same one again. */
export async function reserveSlot(reg: Bucket<Value>, wanted: Reservation): Promise<number> {
  for (;;) {
    const entries = await Promise.all(slotNumbers.map((slot) => reg.get(slotKey(slot))));
    const records = entries.map((entry) => slotRecord(entry?.value));
    const known = records.findIndex((record) => record?.key === wanted.key && record.freeAt === undefined);
    if (known >= 0 && records[known]?.id === wanted.id) return known;
    const sameId = records.findIndex((record) => record?.id === wanted.id && record.freeAt === undefined);
    if (sameId >= 0 && wanted.isLive(sameId)) throw idIsTaken(wanted.id, sameId);
    const slot = sameId >= 0 ? sameId : records.findIndex((record) => isFree(record, wanted.now));
    if (slot < 0) throw allTaken();
    const { id, key, now } = wanted;
    if (await put(reg, slot, entries[slot], { id, key, identity: '', at: now })) return slot;
  }
}

async function put(
  reg: Bucket<Value>,
  slot: number,
  before: Entry<Value> | undefined,
  record: SlotRecord,
): Promise<boolean> {
  try {
    if (before) await reg.update(slotKey(slot), slotValue(record), before.revision);
    else await reg.create(slotKey(slot), slotValue(record));
    return true;
  } catch (error) {
    if (error instanceof HaliteError && error.code === 'cluster.conflict') return false;
    throw error;
  }
}

export const idIsTaken = (id: string, slot: number): HaliteError =>
  new HaliteError('cluster.refused', `A master with the id ${id} is already in the cluster, in slot ${slot}`, {
    hint: 'Give this master another `id`, or stop the other one.',
  });

export const allTaken = (): HaliteError =>
  new HaliteError('cluster.refused', `All ${mostMembers} slots of the cluster are taken`, {
    hint: 'Free the one of a master that will not come back: salt-run cluster.forget <id>',
  });
