// The master key that this minion trusts: where it is stored, and whether a presented one is acceptable.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Value } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import {
  cleanKey,
  fingerprint,
  loadPublicKey,
  matchesFingerprint,
  type SigAlgo,
  verifyKeyText,
} from '../../base/crypto/index.ts';
import { replaceFile } from '../../base/crypto/key-files.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { NextMasterKey } from './next-master-key.ts';

/** Why a presented master key is not acceptable; `text` is the message for the operator. */
export interface Distrust {
  readonly reason: 'changed' | 'finger' | 'signature' | 'unreadable';
  readonly text: string;
}

export type TrustVerdict =
  | { readonly ok: true; readonly store: boolean }
  | { readonly ok: false; readonly why: Distrust };

export class MasterTrust {
  readonly path: string;
  readonly #opts: MinionOpts;
  readonly #next: NextMasterKey;
  #storedText: string | undefined;

  private constructor(opts: MinionOpts, name: string, text: string | undefined) {
    this.#opts = opts;
    this.path = join(opts.pki_dir, `${name}.pub`);
    this.#storedText = text;
    this.#next = new NextMasterKey(opts.pki_dir, name);
  }

  /** A syndic keeps the key of its higher master beside that of the minion on the same machine. */
  static async load(opts: MinionOpts, name: 'minion_master' | 'syndic_master' = 'minion_master'): Promise<MasterTrust> {
    const trust = new MasterTrust(opts, name, await readIfThere(join(opts.pki_dir, `${name}.pub`)));
    await trust.#next.load(trust.stored);
    return trust;
  }

  /** Reads the file again: the administrator may have removed or replaced it meanwhile. */
  async reload(): Promise<void> {
    this.#storedText = await readIfThere(this.path);
    await this.#next.load(this.stored);
  }

  /** The key that the trusted one names as the next, while its time lasts. */
  get next(): string | undefined {
    return this.#next.usable()?.pem;
  }

  /** For the master: which of its keys this minion has, as fingerprints. */
  get known(): { readonly trusts: string; readonly next: string } {
    const print = (pem: string | undefined): string => (pem === undefined ? '' : fingerprint(pem));
    return { trusts: print(this.#storedText), next: print(this.next) };
  }

  /** True when it stored what the trusted key says about the next one; anything that it did not sign, or that is over, is dropped. */
  async learn(text: Value, log: Pick<Logger, 'limited' | 'info'>): Promise<boolean> {
    if (typeof text !== 'string' || text === '' || this.#storedText === undefined) return false;
    const finger = this.#opts.master_finger.trim();
    const why = await this.#next
      .learn(text, this.#storedText, (pem) => finger === '' || matchesFingerprint(pem, finger, this.#opts.hash_type))
      .catch((error: unknown) => `it cannot be stored: ${messageOf(error)}`);
    if (why === 'stored')
      log.info('the next key of the master is stored', { file: this.#next.path, fingerprint: this.known.next });
    else if (why !== 'known')
      log.limited('next key', 'warn', 'a statement about the next key of the master is not stored', { why });
    return why === 'stored';
  }

  /** The trusted key in normalized form; undefined before the first contact. */
  get stored(): string | undefined {
    return this.#storedText;
  }

  /** True when the administrator configured the fingerprint of the master's key. */
  get hasFinger(): boolean {
    return this.#opts.master_finger.trim() !== '';
  }

  /** Decides about the key that a master presents. Nothing is stored: that happens when the whole reply is verified. */
  async judge(
    presented: string,
    pubSig: string | undefined,
    sigAlgo: SigAlgo,
    master: string,
    statement = '',
  ): Promise<TrustVerdict> {
    const clean = cleanKey(presented);
    const refuse = (reason: Distrust['reason'], text: string): TrustVerdict => ({ ok: false, why: { reason, text } });
    try {
      loadPublicKey(clean);
    } catch (error) {
      return refuse('unreadable', `The key presented by the master ${master} cannot be used: ${messageOf(error)}.`);
    }
    const finger = this.#opts.master_finger.trim();
    if (finger && !matchesFingerprint(clean, finger, this.#opts.hash_type)) {
      return refuse('finger', this.#fingerText(clean, finger, master));
    }
    const signature = await this.#judgeSignature(presented, pubSig, sigAlgo, clean === this.#storedText, master);
    if (signature !== true) return refuse('signature', signature);
    if (this.#storedText === undefined || this.#opts.open_mode) return { ok: true, store: clean !== this.#storedText };
    if (clean === this.#storedText) return { ok: true, store: false };
    // A key signed by the administrator's signing key replaces the stored one; that is the purpose of signing.
    if (this.#opts.verify_master_pubkey_sign) return { ok: true, store: true };
    // The trusted key named this one as the next, earlier or in this answer.
    if (this.#next.proves(clean, this.#storedText, statement)) return { ok: true, store: true };
    return refuse('changed', this.#changedText(clean, master));
  }

  async store(presented: string): Promise<void> {
    const clean = cleanKey(presented);
    await replaceFile(this.path, clean, 0o644);
    this.#storedText = clean;
    await this.#next.taken(clean);
  }

  async #judgeSignature(
    presented: string,
    pubSig: string | undefined,
    sigAlgo: SigAlgo,
    known: boolean,
    master: string,
  ): Promise<true | string> {
    const wanted = this.#opts.verify_master_pubkey_sign;
    if (!wanted && pubSig === undefined) return true;
    if (!wanted) {
      return `The master ${master} signs its public key, but verify_master_pubkey_sign is off here. Set verify_master_pubkey_sign: true and copy the master's ${this.#opts.master_sign_key_name}.pub to ${this.#opts.pki_dir}, or set master_sign_pubkey: false on the master.`;
    }
    if (pubSig === undefined) {
      return `verify_master_pubkey_sign is on, but the master ${master} did not sign its public key. Set master_sign_pubkey: true on the master.`;
    }
    if (known && !this.#opts.always_verify_signature) return true;
    const path = join(this.#opts.pki_dir, `${this.#opts.master_sign_key_name}.pub`);
    const signingKey = await readIfThere(path);
    if (signingKey === undefined)
      return `The verification key ${path} does not exist. Copy it from the master ${master}.`;
    const good = verifyKeyText(loadPublicKey(signingKey), presented, pubSig, sigAlgo);
    return good || `The signature of the public key of ${master} does not verify with ${path}.`;
  }

  /** For an answer that contains no key but is not signed with the trusted one. */
  otherSigner(master: string): string {
    return [
      `The master ${master} signs with another key than the one this minion trusts. Nothing is accepted from it until that is settled.`,
      `  trusted key:   ${fingerprint(this.#storedText ?? '', this.#opts.hash_type)}  (in ${this.path})`,
      `If the master was rebuilt or its key was replaced on purpose, remove ${this.path} and accept this minion's key on the master.`,
      'If nobody changed the key, an attacker may be between this minion and its master. The minion keeps trying.',
    ].join('\n');
  }

  #changedText(presented: string, master: string): string {
    const hash = this.#opts.hash_type;
    return [
      `The master ${master} presents another key than the one this minion trusts. Nothing is accepted from it until that is settled.`,
      `  trusted key:   ${fingerprint(this.#storedText!, hash)}  (in ${this.path})`,
      `  presented key: ${fingerprint(presented, hash)}`,
      `If the master was rebuilt or its key was replaced on purpose, compare the second line with "salt-key -F master" on the master`,
      `and then remove ${this.path}. Several masters of one minion must all use the same key pair.`,
      'If nobody changed the key, an attacker may be between this minion and its master. The minion keeps trying.',
    ].join('\n');
  }

  #fingerText(presented: string, finger: string, master: string): string {
    return [
      `The key presented by the master ${master} does not match master_finger. Nothing is accepted from it.`,
      `  master_finger: ${finger}`,
      `  presented key: ${fingerprint(presented, this.#opts.hash_type)}`,
      'Compare with "salt-key -F master" on the master and correct master_finger if it is out of date. The minion keeps trying.',
    ].join('\n');
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    const text = cleanKey(await readFile(path, 'utf8'));
    return text === '' ? undefined : text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
