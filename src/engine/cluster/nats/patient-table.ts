// The table of a member on a disk that may be full: what cannot be written stays in memory and is written later. A reader of a
// stream must not end because of it.
import { messageOf } from '../../../base/errors/index.ts';
import type { Logger } from '../../../base/log/index.ts';
import type { LocalTable } from '../ports.ts';

interface Unsaved {
  readonly space: string;
  readonly key: string;
  /** Absent: it was removed. */
  readonly value: Uint8Array | undefined;
}

/** More are not remembered: the oldest are lost when the process ends before they are written. */
const mostUnsaved = 100_000;

export class PatientTable implements LocalTable {
  readonly #table: LocalTable;
  readonly #log: Pick<Logger, 'limited'>;
  readonly #unsaved = new Map<string, Unsaved>();

  constructor(table: LocalTable, log: Pick<Logger, 'limited'>) {
    this.#table = table;
    this.#log = log;
  }

  get(space: string, key: string): Uint8Array | undefined {
    const unsaved = this.#unsaved.get(`${space}\n${key}`);
    return unsaved ? unsaved.value : this.#table.get(space, key);
  }

  all(space: string): readonly (readonly [key: string, value: Uint8Array])[] {
    const found = new Map(this.#table.all(space));
    for (const unsaved of this.#unsaved.values()) {
      if (unsaved.space !== space) continue;
      if (unsaved.value) found.set(unsaved.key, unsaved.value);
      else found.delete(unsaved.key);
    }
    return [...found];
  }

  set(space: string, key: string, value: Uint8Array): void {
    this.#keep({ space, key, value });
  }
  remove(space: string, key: string): void {
    this.#keep({ space, key, value: undefined });
  }

  #keep(change: Unsaved): void {
    const name = `${change.space}\n${change.key}`;
    this.#unsaved.delete(name);
    this.#unsaved.set(name, change);
    try {
      for (const [each, { space, key, value }] of this.#unsaved) {
        if (value) this.#table.set(space, key, value);
        else this.#table.remove(space, key);
        this.#unsaved.delete(each);
      }
    } catch (error) {
      const [oldest] = this.#unsaved.keys();
      if (this.#unsaved.size > mostUnsaved && oldest !== undefined) this.#unsaved.delete(oldest);
      this.#log.limited('cluster:table', 'error', 'the disk takes nothing that this master remembers of the cluster', {
        ...{ why: messageOf(error), hint: 'Make space below the cachedir; it is written again then.' },
      });
    }
  }
}
