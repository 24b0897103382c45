// A member takes its slot when it starts.
import { HaliteError } from '../../../base/errors/index.ts';
import { allTaken, idIsTaken, isFree, type SlotRecord, slotKey, slotNumbers, slotRecord, slotValue } from '../slots.ts';
import type { Own } from './establish.ts';
import type { JetStream } from './jetstream.ts';
import type { BucketStore } from './store.ts';
import { streamName, subjectOf } from './streams.ts';

export interface SlotParts {
  readonly id: string;
  readonly own: Own;
  /** Of its identity; undefined for a member that has none. */
  readonly publicKey: Uint8Array | undefined;
  readonly reg: BucketStore;
  readonly js: JetStream;
  readonly cluster: string;
}

/** The slot of this member: its own of before, the one that was reserved for it, or a free one. */
export async function claimSlot(parts: SlotParts): Promise<number> {
  const { id, own, reg } = parts;
  const key = keyOf(parts);
  for (;;) {
    const heads = await Promise.all(slotNumbers.map((slot) => reg.head(slotKey(slot))));
    const records = heads.map(({ stored }) => slotRecord(stored?.value));
    const find = (test: (record: SlotRecord) => boolean): number => records.findIndex((some) => some && test(some));
    const reserved = find((some) => some.identity === '' && some.key === key && key !== '' && some.id === id);
    const mine = find((some) => some.identity === own.identity);
    if (reserved < 0 && mine >= 0) {
      const record = records[mine];
      if (record?.freeAt !== undefined) throw forgotten(id);
      if (record && (record.key === key || key === '')) return mine;
    }
    const sameId = find((some) => some.id === id && some.freeAt === undefined);
    if (reserved < 0 && mine < 0 && sameId >= 0 && (await isLive(parts, sameId))) throw idIsTaken(id, sameId);
    const free = records.findIndex((some) => isFree(some, Date.now()));
    const slot = [reserved, mine, sameId, free].find((some) => some >= 0);
    if (slot === undefined) throw allTaken();
    const value = slotValue({ id, key, identity: own.identity, at: Date.now() });
    if ((await reg.write(slotKey(slot), value, heads[slot]?.revision ?? 0)) !== undefined) return slot;
  }
}

/** The engine lost its data: this slot is that of this member, before another one takes it. */
export async function keepSlot(parts: Pick<SlotParts, 'id' | 'own' | 'reg' | 'publicKey'>): Promise<void> {
  const { id, own, reg } = parts;
  if (own.slot === undefined) return;
  const { stored, revision } = await reg.head(slotKey(own.slot));
  if (stored) return;
  const value = slotValue({ id, key: keyOf(parts), identity: own.identity, at: Date.now() });
  await reg.write(slotKey(own.slot), value, revision);
}

const keyOf = ({ publicKey }: Pick<SlotParts, 'publicKey'>): string =>
  publicKey ? Buffer.from(publicKey).toString('hex') : '';

const forgotten = (id: string): HaliteError =>
  new HaliteError(
    'cluster.refused',
    `The master ${id} was removed from the cluster: it was forgotten on another master`,
    {
      hint: 'To let it in again: "salt-run cluster.invite" on another master, "halite cluster join" here. To use it alone: remove `cluster:` from its configuration.',
    },
  );

/** Its entry is there: entries of members that are gone vanish by themselves. */
async function isLive({ js, cluster }: SlotParts, slot: number): Promise<boolean> {
  const subject = `${subjectOf.bucket(cluster, 'members')}m.${slot}`;
  return (await js.last(streamName.bucket(cluster, 'members'), subject)) !== undefined;
}
