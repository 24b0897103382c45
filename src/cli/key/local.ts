// salt-key on the key folders themselves, which needs no running master.
import type { PlainDict } from '../../base/codec/value.ts';
import type { ClientOpts } from '../../base/config/opts.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import { type KeyAct, KeyStore } from '../../store/keys.ts';
import type { Terminal } from '../io.ts';
import { changeKeys, dropMinionCache, type KeyChange, tellMaster } from './change.ts';
import { type KeySelection, matchKeys } from './folders.ts';
import { fingerprints, listKeys, publicKeys } from './show.ts';

export interface ChangeOptions {
  readonly preserveCache: boolean;
  readonly rotate: boolean;
}

/** What the actions of salt-key need. */
export interface Keys {
  list(states: readonly KeyState[]): PlainDict | Promise<PlainDict>;
  match(match: string, among: readonly KeyState[]): KeySelection | Promise<KeySelection>;
  print(match: string): PlainDict | Promise<PlainDict>;
  finger(match: string): PlainDict | Promise<PlainDict>;
  /** The keys that were changed. `told` is called with them before the master is told. */
  change(
    act: KeyAct,
    selection: KeySelection,
    options: ChangeOptions,
    told: (changes: readonly KeyChange[]) => void,
  ): Promise<void>;
}

export class FolderKeys implements Keys {
  readonly #opts: ClientOpts;
  readonly #io: Terminal;
  readonly #store: KeyStore;

  constructor(opts: ClientOpts, io: Terminal) {
    this.#opts = opts;
    this.#io = io;
    this.#store = new KeyStore(opts.pki_dir, { permissive: opts.permissive_pki_access });
  }

  list(states: readonly KeyState[]): PlainDict {
    return listKeys(this.#store, states);
  }

  match(match: string, among: readonly KeyState[]): KeySelection {
    return matchKeys(this.#store, match, among);
  }

  print(match: string): PlainDict {
    return publicKeys(this.#store, match);
  }

  finger(match: string): PlainDict {
    return fingerprints(this.#store, this.#opts.pki_dir, match, this.#opts.hash_type);
  }

  async change(
    act: KeyAct,
    selection: KeySelection,
    { preserveCache, rotate }: ChangeOptions,
    told: (changes: readonly KeyChange[]) => void,
  ): Promise<void> {
    this.#store.prepare();
    const changes = await changeKeys(this.#store, act, selection, this.#io);
    told(changes);
    const ids = changes.map(({ id }) => id);
    if (act !== 'accept' && !preserveCache) dropMinionCache(this.#opts.cachedir, this.#store, ids);
    await tellMaster(this.#opts, changes, act !== 'accept' && rotate);
  }
}
