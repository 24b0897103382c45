// The RSA pair of the master: one for all members of a cluster.
import type { KeyObject } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cleanKey, generateKeyPairFiles, loadPrivateKey, loadPublicKey } from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';

export interface MasterKeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The clean form, as it is sent to minions. */
  readonly pem: string;
  readonly file: string;
}

/** Loads `<id>.pem` (Salt 3008's layout) or `master.pem`, or creates the latter; never overwrites an existing pair. */
export async function loadMasterKeys(opts: {
  pki_dir: string;
  id?: string;
  keysize: number;
  key_pass?: string | null;
}): Promise<MasterKeyPair> {
  const host = String(opts.id ?? '').replace(/_master$/, '');
  const own = join(opts.pki_dir, `${host}.pem`);
  const name = host && existsSync(own) && statSync(own).isFile() ? host : 'master';
  const file = join(opts.pki_dir, `${name}.pem`);
  const passphrase = opts.key_pass ?? undefined;
  if (!existsSync(file)) await generateKeyPairFiles(opts.pki_dir, 'master', opts.keysize, { passphrase });
  const privateKey = loadPrivateKey(file, passphrase);
  const pubFile = join(opts.pki_dir, `${name}.pub`);
  if (!existsSync(pubFile)) {
    throw new HaliteError('crypto.key', `${pubFile} is missing although ${file} exists`, {
      hint: `Restore it from a backup, or write it with: openssl rsa -in ${file} -pubout -out ${pubFile}`,
    });
  }
  const pem = cleanKey(readFileSync(pubFile, 'utf8'));
  return { privateKey, publicKey: loadPublicKey(pem), pem, file };
}

/** The key of the master, and during a change the one before it, for minions that still trust that. */
export class KeyRing {
  #current: MasterKeyPair;
  #former: MasterKeyPair | undefined;

  constructor(current: MasterKeyPair) {
    this.#current = current;
  }

  get current(): MasterKeyPair {
    return this.#current;
  }
  get former(): MasterKeyPair | undefined {
    return this.#former;
  }

  use(current: MasterKeyPair, former: MasterKeyPair | undefined): void {
    this.#current = current;
    this.#former = former;
  }
}
