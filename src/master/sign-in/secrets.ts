// The master's secrets: its RSA pair, the shared AES key with its serial, and one session key per minion.
import { createHash, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Value } from '../../base/codec/value.ts';
import {
  Crypticle,
  cleanKey,
  generateKeyPairFiles,
  loadPrivateKey,
  loadPublicKey,
  x931Sign,
} from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

// A minion that was connected before some restarts in a row still identifies itself with the key of its last sign-in.
const rememberedSharedKeys = 8;

interface SessionKey {
  readonly crypticle: Crypticle;
  readonly made: number;
}

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

export class Secrets {
  readonly pair: MasterKeyPair;
  readonly #sessionDir: string;
  readonly #sessionSeconds: number;
  readonly #failed: (error: unknown) => void;
  readonly #sessions = new Map<string, SessionKey>();
  #aes!: Crypticle;
  #aesText = '';
  #aesProof!: Buffer;
  readonly #sharedKeysFile: string;
  /** Earlier shared keys, newest last. */
  #earlier: Crypticle[];
  #storing: Promise<void> = Promise.resolve();
  #serial = 0;
  #rotated = 0;

  constructor(
    pair: MasterKeyPair,
    options: { cachedir: string; publishSession: number; failed?: (error: unknown) => void },
  ) {
    this.pair = pair;
    this.#sessionDir = join(options.cachedir, 'sessions');
    this.#sessionSeconds = options.publishSession;
    this.#failed = options.failed ?? (() => {});
    mkdirSync(this.#sessionDir, { recursive: true, mode: 0o700 });
    this.#sharedKeysFile = join(options.cachedir, '.shared_keys');
    this.#earlier = this.#readSharedKeys();
    this.rotate();
  }

  /** A new AES key; every minion notices at its next message and signs in again. */
  rotate(): void {
    if (this.#aes) this.#earlier = [...this.#earlier, this.#aes].slice(-rememberedSharedKeys);
    this.#aesText = Crypticle.generateKeyString();
    this.#aes = new Crypticle(this.#aesText);
    const digest = createHash('sha256').update(this.#aesText).digest('hex');
    this.#aesProof = x931Sign(this.pair.privateKey, Buffer.from(digest));
    this.#serial = 0;
    this.#rotated = Date.now();
    const lines = [...this.#earlier, this.#aes].map((key) => `${key.keyString}\n`).join('');
    this.#storing = this.#storing
      .then(() => replaceFile(this.#sharedKeysFile, lines))
      .catch((error: unknown) => this.#failed(error));
  }

  get aes(): Crypticle {
    return this.#aes;
  }
  get aesText(): string {
    return this.#aesText;
  }
  /** The `sig` of auth replies: the same for all minions until the next rotation. */
  get aesProof(): Buffer {
    return this.#aesProof;
  }
  /**
   * Decrypts with the current shared key or an earlier one, also from before a restart. Only for a proof that does not
   * depend on the key being current: a minion whose key was deleted still has the earlier ones.
   */
  openIdentification(sealed: Uint8Array): Value {
    try {
      return this.#aes.open(sealed);
    } catch (current) {
      for (const key of this.#earlier.toReversed()) {
        try {
          return key.open(sealed);
        } catch {
          // Encrypted with another one of them, or with none.
        }
      }
      throw current;
    }
  }
  get rotatedAt(): number {
    return this.#rotated;
  }
  nextSerial(): number {
    return ++this.#serial;
  }

  /** The session key of a minion; the id must have been validated before. Stored across restarts, renewed by age. */
  session(id: string): Crypticle {
    const known = this.#sessions.get(id);
    if (known && !this.#expired(known.made)) return known.crypticle;
    const file = join(this.#sessionDir, id);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() && !this.#expired(stat.mtimeMs)) {
      const stored = this.#read(file);
      if (stored) {
        this.#sessions.set(id, { crypticle: stored, made: stat.mtimeMs });
        return stored;
      }
    }
    const text = Crypticle.generateKeyString();
    // Stored on disk for the next start; a concurrent sign-in need not wait for that.
    replaceFile(file, text).catch((error: unknown) => this.#failed(error));
    const crypticle = new Crypticle(text);
    this.#sessions.set(id, { crypticle, made: Date.now() });
    return crypticle;
  }

  #expired(made: number): boolean {
    return this.#sessionSeconds > 0 && Date.now() - made > this.#sessionSeconds * 1000;
  }

  #readSharedKeys(): Crypticle[] {
    try {
      const lines = readFileSync(this.#sharedKeysFile, 'utf8').split('\n').filter(Boolean);
      return lines.slice(-rememberedSharedKeys).map((line) => new Crypticle(line));
    } catch {
      // No earlier run, or a damaged file: minions then sign in again first.
      return [];
    }
  }

  #read(file: string): Crypticle | undefined {
    try {
      return new Crypticle(readFileSync(file, 'utf8').trim());
    } catch {
      return undefined;
    }
  }
}
