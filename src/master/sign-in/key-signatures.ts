// For whom the master signs its public key. Salt signs for everyone or for no one; a minion that does not expect the
// signature refuses it, and one that demands it refuses its absence.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTexts } from '../../base/codec/value.ts';
import { generateKeyPairFiles } from '../../base/crypto/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { replaceFileNow } from '../../base/util/replace-file.ts';
import { type KeySignature, type KeySignatureOptions, loadKeySignature } from './key-signature.ts';
import type { MasterKeyPair } from './master-keys.ts';

export class KeySignatures {
  readonly #opts: KeySignatureOptions;
  readonly #log: Logger;
  readonly #file: string;
  readonly #made = new WeakMap<MasterKeyPair, Promise<KeySignature | undefined>>();
  #demanding: ReadonlySet<string>;

  constructor(opts: KeySignatureOptions, log: Logger) {
    this.#opts = opts;
    this.#log = log;
    this.#file = join(opts.pki_dir, 'master_sign.minions');
    this.#demanding = readIds(this.#file);
  }

  /** At start, so that a wrong key or passphrase is known at once. */
  async prepare(pair: MasterKeyPair): Promise<void> {
    if (this.#opts.master_sign_pubkey === true) await this.of(pair);
  }

  /** Whether a minion wants the signature; a Halite minion says it in its request. */
  wanted(id: string, says: boolean): boolean {
    const { master_sign_pubkey: mode } = this.#opts;
    return mode === true || this.#demanding.has(id) || (mode === 'auto' && says);
  }

  demands(id: string): boolean {
    return this.#opts.master_sign_pubkey === true || this.#demanding.has(id);
  }

  /** From now on it demands the signature, or no longer. */
  demand(id: string, wanted: boolean): void {
    const ids = new Set(this.#demanding);
    if (wanted) ids.add(id);
    else ids.delete(id);
    this.useIds([...ids]);
  }

  /** All that demand it. */
  ids(): readonly string[] {
    return [...this.#demanding].sort();
  }

  useIds(ids: readonly string[]): void {
    const text = JSON.stringify([...ids].sort());
    if (text === JSON.stringify(this.ids())) return;
    replaceFileNow(this.#file, `${text}\n`);
    this.#demanding = new Set(ids);
  }

  of(pair: MasterKeyPair): Promise<KeySignature | undefined> {
    let made = this.#made.get(pair);
    if (!made) {
      made = loadKeySignature({ ...this.#opts, master_sign_pubkey: true }, pair, this.#log);
      this.#made.set(pair, made);
    }
    return made;
  }

  /** The public key with which minions verify the signature; made when there is none. */
  async publicKey(): Promise<string> {
    const { pki_dir, master_sign_key_name: name, keysize, signing_key_pass } = this.#opts;
    await generateKeyPairFiles(pki_dir, name, keysize, { passphrase: signing_key_pass ?? undefined });
    return readFileSync(join(pki_dir, `${name}.pub`), 'utf8');
  }
}

function readIds(file: string): ReadonlySet<string> {
  try {
    const ids: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return new Set(isTexts(ids as string[]) ? (ids as string[]) : []);
  } catch {
    return new Set();
  }
}
