// Signs the master's public key for minions that verify it (`master_sign_pubkey`).
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  generateKeyPairFiles,
  loadPrivateKey,
  loadPublicKey,
  type SigAlgo,
  signKeyText,
  verifyKeyText,
} from '../../base/crypto/index.ts';
import type { Logger } from '../../base/log/index.ts';
import type { MasterKeyPair } from './master-keys.ts';

export interface KeySignature {
  /** The exact key text that is signed, sent as `pub_key`. */
  readonly pubKeyText: string;
  sign(algo: SigAlgo): Promise<string | undefined>;
}

export interface KeySignatureOptions {
  readonly pki_dir: string;
  readonly keysize: number;
  readonly master_sign_pubkey: boolean | string;
  readonly master_use_pubkey_signature: boolean;
  readonly master_sign_key_name: string;
  readonly master_pubkey_signature: string;
  readonly signing_key_pass?: string | null;
}

/** Prepares the content of `pub_sig`; undefined when the master does not sign its key. */
export async function loadKeySignature(
  opts: KeySignatureOptions,
  pair: MasterKeyPair,
  log: Logger,
): Promise<KeySignature | undefined> {
  if (!opts.master_sign_pubkey) return undefined;
  const signingFile = join(opts.pki_dir, `${opts.master_sign_key_name}.pem`);
  const stored = join(opts.pki_dir, opts.master_pubkey_signature);
  if (opts.master_use_pubkey_signature && existsSync(stored)) {
    const ready = precomputed(opts, pair, stored);
    if (ready) return ready;
    log.warn('the stored signature of the master key does not match the key', { file: stored });
  }
  if (!existsSync(signingFile)) {
    // As in Salt: the signing key pair is created when it is missing; the administrator distributes its public key.
    const passphrase = opts.signing_key_pass ?? undefined;
    await generateKeyPairFiles(opts.pki_dir, opts.master_sign_key_name, opts.keysize, { passphrase });
    log.info('signing key created', { file: signingFile });
  }
  const signingKey = loadPrivateKey(signingFile, opts.signing_key_pass ?? undefined);
  const made = new Map<SigAlgo, string>();
  return {
    pubKeyText: pair.pem,
    sign: async (algo) => {
      const known = made.get(algo) ?? signKeyText(signingKey, pair.pem, algo);
      made.set(algo, known);
      return known;
    },
  };
}

/** Salt releases differ in the text that the stored signature covers (with or without the last newline): try both. */
function precomputed(opts: KeySignatureOptions, pair: MasterKeyPair, file: string): KeySignature | undefined {
  const signature = readFileSync(file, 'utf8');
  const pubFile = join(opts.pki_dir, `${opts.master_sign_key_name}.pub`);
  if (!existsSync(pubFile)) return { pubKeyText: pair.pem, sign: async () => signature };
  const verifier = loadPublicKey(readFileSync(pubFile, 'utf8'));
  for (const text of [pair.pem, `${pair.pem}\n`]) {
    if (verifyKeyText(verifier, text, signature)) return { pubKeyText: text, sign: async () => signature };
  }
  return undefined;
}
