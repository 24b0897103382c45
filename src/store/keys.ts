// The master's key folders in Salt's layout; a stat per look-up keeps the cache valid without watchers.
import type { KeyObject } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, type Stats, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cleanKey, fingerprint, loadPublicKey } from '../base/crypto/index.ts';
import { HaliteError } from '../base/errors/index.ts';
import { replaceFileNow } from '../base/util/replace-file.ts';
import { isValidMinionId } from '../base/util/valid-id.ts';
import { escapedCharacter } from '../base/util/visible.ts';
import type { KeyServices, KeyState } from '../extend/sdk/context.ts';

export type KeyAct = 'accept' | 'reject' | 'delete';

const keyFolders: Record<KeyState, string> = {
  accepted: 'minions',
  denied: 'minions_denied',
  pending: 'minions_pre',
  rejected: 'minions_rejected',
};
const states = Object.keys(keyFolders) as KeyState[];

interface Listing {
  readonly names: readonly string[];
  /** Files whose names are not ids: the printed form, and the raw name. */
  readonly odd: ReadonlyMap<string, Buffer>;
  readonly mtimeMs: number;
  /** A folder that has just changed may change again within the same clock tick: it is read again next time. */
  readonly settled: boolean;
}
/** Tells whether a file is still the one that was read. */
type FileMark = Pick<Stats, 'ino' | 'mtimeMs' | 'size'>;

interface CachedKey extends FileMark {
  readonly pem: string;
  readonly fingerprint: string;
  readonly key: KeyObject | undefined;
}

const settleMs = 50;

export class KeyStore {
  readonly #dir: string;
  readonly #permissive: boolean;
  readonly #folders = { ...keyFolders };
  readonly #listings = new Map<KeyState, Listing>();
  readonly #accepted = new Map<string, CachedKey>();

  constructor(pkiDir: string, options: { permissive?: boolean } = {}) {
    this.#dir = pkiDir;
    for (const state of states) this.#folders[state] = join(pkiDir, keyFolders[state]);
    this.#permissive = options.permissive ?? false;
  }

  /** Creates the folders with Salt's modes; existing folders are not changed. */
  prepare(): void {
    mkdirSync(this.#dir, { recursive: true, mode: this.#permissive ? 0o750 : 0o700 });
    for (const folder of [...Object.values(keyFolders), 'minions_autosign']) {
      mkdirSync(join(this.#dir, folder), { recursive: true, mode: this.#permissive ? 0o750 : 0o700 });
    }
  }

  folder(state: KeyState): string {
    return this.#folders[state];
  }

  path(state: KeyState, id: string): string {
    return `${this.#folders[state]}/${id}`;
  }

  /** Ids in one state, sorted. */
  ids(state: KeyState): readonly string[] {
    return this.#listing(state).names;
  }

  /**
   * Files among the keys whose names are not ids, in printed form: `\u001b[2J`. They can be shown and deleted by that
   * name.
   */
  oddNames(state: KeyState): readonly string[] {
    return [...this.#listing(state).odd.keys()];
  }

  count(state: KeyState): number {
    const { names, odd } = this.#listing(state);
    return names.length + odd.size;
  }

  /** Asks the file system: up to date after every change, and independent of the number of keys. */
  has(state: KeyState, id: string): boolean {
    return isValidMinionId(id) && (statSync(this.path(state, id), { throwIfNoEntry: false })?.isFile() ?? false);
  }

  /** Text of a stored key, or undefined. */
  readText(state: KeyState, id: string): string | undefined {
    const path = this.#existing(state, id);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  }

  /** The accepted key of a minion as text and as a parsed RSA key; undefined when there is none. */
  accepted(id: string): CachedKey | undefined {
    if (!isValidMinionId(id)) return undefined;
    const path = this.path('accepted', id);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile()) {
      this.#accepted.delete(id);
      return undefined;
    }
    const known = this.#accepted.get(id);
    if (known && isSameFile(known, stat)) return known;
    const pem = readFileSync(path, 'utf8');
    const { ino, mtimeMs, size } = stat;
    const fresh = { ino, mtimeMs, size, pem, fingerprint: fingerprint(cleanKey(pem)), key: readRsaKey(pem) };
    this.#accepted.set(id, fresh);
    return fresh;
  }

  /** The folders that contain a key of this id, or a file with this printed name. */
  statesOf(id: string): KeyState[] {
    return states.filter((state) => this.has(state, id) || this.#listing(state).odd.has(id));
  }

  /** The path of the key of an id, or of the file with this printed name; undefined for other names. */
  #existing(state: KeyState, id: string): string | Buffer | undefined {
    if (isValidMinionId(id)) return this.path(state, id);
    const name = this.#listing(state).odd.get(id);
    return name && Buffer.concat([Buffer.from(`${this.folder(state)}/`), name]);
  }

  /** Who decided on the key of this id; known where several masters share their keys. */
  decidedBy(_id: string): string | undefined {
    return undefined;
  }

  /**
   * Stores key text in a state; written to a temporary file and renamed, so a reader never sees a partial key. `_by` is
   * for masters that share their keys.
   */
  async write(state: KeyState, id: string, pem: string, _by?: string): Promise<void> {
    // In the event loop, as every look-up: five visits of the thread pool would cost more than the file.
    replaceFileNow(this.path(state, id), pem, 0o644);
    this.#forget(state, id);
  }

  async move(id: string, from: KeyState, to: KeyState, _by?: string): Promise<void> {
    renameSync(this.path(from, id), this.path(to, id));
    this.#forget(from, id);
    this.#forget(to, id);
  }

  async delete(state: KeyState, id: string, _by?: string): Promise<boolean> {
    const path = this.#existing(state, id);
    if (path === undefined) return false;
    try {
      unlinkSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return false;
    } finally {
      this.#forget(state, id);
    }
    return true;
  }

  /** Consumes the autosign marker of this id (`minions_autosign/<id>`), if it exists and is not expired. */
  consumeAutosign(id: string, timeoutMinutes: number): boolean {
    const marker = join(this.#dir, 'minions_autosign', id);
    const stat = statSync(marker, { throwIfNoEntry: false });
    if (!stat) return false;
    rmSync(marker, { force: true });
    return Date.now() - stat.mtimeMs <= timeoutMinutes * 60_000;
  }

  #forget(state: KeyState, id: string): void {
    this.#listings.delete(state);
    if (state === 'accepted') this.#accepted.delete(id);
  }

  #listing(state: KeyState): Listing {
    const folder = this.folder(state);
    const stat = statSync(folder, { throwIfNoEntry: false });
    if (!stat) return { names: [], odd: new Map(), mtimeMs: 0, settled: false };
    const known = this.#listings.get(state);
    if (known?.settled && known.mtimeMs === stat.mtimeMs) return known;
    const { names, odd } = readNames(folder);
    const settled = Date.now() - stat.mtimeMs > settleMs;
    if (known && known.mtimeMs === stat.mtimeMs && known.names.length === names.length && known.odd.size === odd.size) {
      const same = { ...known, settled };
      this.#listings.set(state, same);
      return same;
    }
    const listing = { names, odd, mtimeMs: stat.mtimeMs, settled };
    this.#listings.set(state, listing);
    return listing;
  }
}

const isSameFile = (a: FileMark, b: FileMark): boolean =>
  a.mtimeMs === b.mtimeMs && a.ino === b.ino && a.size === b.size;

/** Names as bytes, because file names need not be valid text; hidden files are not keys. */
function readNames(folder: string): Pick<Listing, 'names' | 'odd'> {
  const names: string[] = [];
  const odd = new Map<string, Buffer>();
  for (const bytes of readdirSync(folder, 'buffer')) {
    const name = bytes.toString();
    if (name.startsWith('.')) continue;
    if (isValidMinionId(name)) names.push(name);
    else odd.set(oddName(name, bytes), bytes);
  }
  return { names: names.sort(), odd };
}

/** Visible, and different for different files. */
function oddName(name: string, bytes: Buffer): string {
  if (!Buffer.from(name).equals(bytes)) return bytes.toString('latin1').replace(/[^ -~]/g, hexByte);
  return name.replace(/[\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800\ufffd\\]/gu, (character) =>
    character === ' ' ? '\\u0020' : escapedCharacter(character),
  );
}

const hexByte = (byte: string): string => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`;

function readRsaKey(pem: string): KeyObject | undefined {
  try {
    return loadPublicKey(pem);
  } catch {
    return undefined;
  }
}

/**
 * The key operations behind `salt-key` and `wheel key.*`; `changed` is called for every change (events, AES rotation).
 */
export function keyServices(
  store: KeyStore,
  pkiDir: string,
  changed: (act: 'accept' | 'reject' | 'delete', id: string) => void = () => {},
): KeyServices {
  const transfer = async (ids: readonly string[], from: readonly KeyState[], to: 'accepted' | 'rejected') => {
    const done: string[] = [];
    for (const id of ids) {
      const source = from.find((state) => state !== to && store.has(state, id));
      if (!source) continue;
      await store.move(id, source, to);
      changed(to === 'accepted' ? 'accept' : 'reject', id);
      done.push(id);
    }
    return done;
  };
  return {
    list: async () =>
      Object.fromEntries(states.map((state) => [state, [...store.ids(state), ...store.oddNames(state)]])) as Record<
        KeyState,
        string[]
      >,
    read: async (state, id) => store.readText(state, id),
    accept: (ids, from = ['pending']) => transfer(ids, from, 'accepted'),
    reject: (ids, from = ['pending']) => transfer(ids, from, 'rejected'),
    remove: async (ids) => {
      const done: string[] = [];
      for (const id of ids) {
        let any = false;
        for (const state of store.statesOf(id)) any = (await store.delete(state, id)) || any;
        if (!any) continue;
        changed('delete', id);
        done.push(id);
      }
      return done;
    },
    write: async (state, id, pem) => {
      if (!isValidMinionId(id)) throw new HaliteError('path.refused', `'${id}' is not a minion id`);
      await store.write(state, id, pem);
      if (state === 'accepted') changed('accept', id);
    },
    local: async () => localKeys(pkiDir),
    fingerprint: (pem) => fingerprint(pem),
  };
}

/** The master's own key files by name, as `salt-key -L`/`-F` lists them. */
function localKeys(pkiDir: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(pkiDir).sort()) {
    if (!/\.(pem|pub)$/.test(name)) continue;
    const path = join(pkiDir, name);
    if (statSync(path, { throwIfNoEntry: false })?.isFile()) found[name] = readFileSync(path, 'utf8');
  }
  return found;
}
