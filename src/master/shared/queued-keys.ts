// Decisions about keys that a member made while it was cut off, on its disk until the others know them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import { asList, type Value } from '../../base/codec/value.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import type { Revision } from '../../engine/cluster/api.ts';
import { type KeyRecord, keyValue, readKeyRecord, stricter } from './key-records.ts';

export interface Queued {
  readonly record: KeyRecord;
  /** What this member knew when it decided; undefined: nothing. */
  readonly base: Revision | undefined;
}

export class QueuedDecisions {
  readonly #file: string;
  readonly #queued = new Map<string, Queued>();

  constructor(folder: string) {
    this.#file = join(folder, 'key-decisions');
    for (const each of asList(this.#read()) ?? []) {
      const [value, base] = asList(each) ?? [];
      const record = readKeyRecord(value);
      if (record) this.#queued.set(record.id, { record, base: typeof base === 'number' ? base : undefined });
    }
  }

  get(id: string): Queued | undefined {
    return this.#queued.get(id);
  }
  all(): Queued[] {
    return [...this.#queued.values()];
  }

  add(record: KeyRecord, base: Revision | undefined): void {
    this.#queued.set(record.id, { record, base });
    this.#write();
  }

  remove(id: string): void {
    if (this.#queued.delete(id)) this.#write();
  }

  /** What counts when the others are there again, and whether they had decided otherwise. */
  merge(
    ours: KeyRecord,
    base: Revision | undefined,
    theirs: KeyRecord | undefined,
    revision: Revision | undefined,
  ): { readonly record: KeyRecord; readonly differs: boolean } {
    const merged = { ...ours, session: Math.max(ours.session, theirs?.session ?? 0) };
    if (!theirs || revision === base || theirs.state === 'none') return { record: merged, differs: false };
    const same = theirs.state === ours.state && theirs.pem === ours.pem;
    if (same) return { record: theirs, differs: false };
    // Of two keys for one id neither is better: the one that more members know stays.
    const wins = theirs.state !== ours.state && stricter(ours.state, theirs.state) === ours.state;
    return { record: wins ? merged : theirs, differs: true };
  }

  #read(): Value | undefined {
    try {
      return unpackValue(readFileSync(this.#file));
    } catch {
      return undefined;
    }
  }

  #write(): void {
    const rows = this.all().map(({ record, base }): Value => [keyValue(record), base ?? null]);
    replaceFileNow(this.#file, packValue(rows));
  }
}
