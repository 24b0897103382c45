// The key folders as a projection of what the members decided: what a folder says about an id, and how a decision gets
// there. Everything that is replaced is copied first.
import { cpSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cleanKey } from '../../base/crypto/index.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { KeyRecord, SharedState } from './key-records.ts';

/** What the files say: in Salt's order, should there be several. */
export interface Filed {
  readonly state: Exclude<SharedState, 'gone'>;
  readonly pem: string;
  readonly denied: string;
}

const order = ['rejected', 'accepted', 'pending'] as const;

export function filed(files: KeyStore, id: string): Filed {
  const state = order.find((each) => files.has(each, id));
  const denied = files.has('denied', id) ? (files.readText('denied', id) ?? '') : '';
  return { state: state ?? 'none', pem: state ? (files.readText(state, id) ?? '') : '', denied };
}

const folderOf = (state: SharedState): KeyState | undefined => order.find((each) => each === state);
const sameKey = (one: string, other: string): boolean => cleanKey(one) === cleanKey(other);

/** Whether the files already say what was decided. */
export function agrees(found: Filed, record: KeyRecord): boolean {
  const state = record.state === 'gone' ? 'none' : record.state;
  if (found.state !== state || !sameKey(found.denied, record.denied)) return false;
  return state === 'none' || sameKey(found.pem, record.pem);
}

/** Makes the files say what was decided. */
export async function project(files: KeyStore, record: KeyRecord): Promise<void> {
  const wanted = folderOf(record.state);
  const { id } = record;
  // What appears meanwhile is another decision.
  const others = order.filter((state) => state !== wanted && files.has(state, id));
  // Written before others are removed: at no time is an accepted minion unknown.
  if (wanted && !sameKey(files.readText(wanted, id) ?? '', record.pem)) await files.write(wanted, id, record.pem);
  for (const state of others) await files.delete(state, id);
  if (record.denied === '') await files.delete('denied', id);
  else if (!sameKey(files.readText('denied', id) ?? '', record.denied)) await files.write('denied', id, record.denied);
}

/** Copies the files of these ids to `<backup>/keys/<folder of the state>/`. */
export function backUpKeys(files: KeyStore, ids: readonly string[], backup: string): void {
  for (const id of ids) {
    for (const state of [...order, 'denied'] as const) {
      const from = files.path(state, id);
      if (!existsSync(from)) continue;
      const to = join(backup, 'keys', files.folder(state).split('/').at(-1) as string);
      mkdirSync(to, { recursive: true, mode: 0o700 });
      cpSync(from, join(to, id), { preserveTimestamps: true });
    }
  }
}

/** Changes when a file of the folder may have changed; cheap as long as it has not. */
export class FolderWatch {
  readonly #files: KeyStore;
  #folders = '';
  #fullAt = 0;

  constructor(files: KeyStore) {
    this.#files = files;
  }

  /** Writing into an existing file changes no folder: from time to time everything counts as changed. */
  changed(fullEveryMs: number): boolean {
    const now = performance.now();
    const folders = [...order, 'denied' as const]
      .map((state) => statSync(this.#files.folder(state), { throwIfNoEntry: false })?.mtimeMs ?? 0)
      .join();
    const due = now - this.#fullAt >= fullEveryMs;
    if (folders === this.#folders && !due) return false;
    this.#folders = folders;
    this.#fullAt = now;
    return true;
  }
}

export function idsOf(files: KeyStore): Set<string> {
  return new Set([...order, 'denied' as const].flatMap((state) => files.ids(state)));
}

const together = 32;

/** Some ids at a time: each may wait for the engine. */
export async function inPortions(ids: readonly string[], act: (id: string) => Promise<void>): Promise<void> {
  const valid = ids.filter(isValidMinionId);
  for (let at = 0; at < valid.length; at += together) await Promise.all(valid.slice(at, at + together).map(act));
}
