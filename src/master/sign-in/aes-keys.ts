// The AES key that all minions share: one generation after the other. Earlier ones are remembered to recognise who
// still uses them.
import { createHash, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Value } from '../../base/codec/value.ts';
import { Crypticle, x931Sign } from '../../base/crypto/index.ts';
import { replaceFile } from '../../base/util/replace-file.ts';

// A minion that was connected before some restarts in a row still identifies itself with the key of its last sign-in.
const rememberedKeys = 8;
/** For this long a request under an earlier key is named as such in the log. */
const lateMs = 600_000;

export interface AesGeneration {
  readonly generation: number;
  /** The key in the form in which minions get it. */
  readonly key: string;
  /** When it was made, in milliseconds since the epoch. */
  readonly since: number;
}

export class AesKeys {
  readonly #file: string;
  readonly #failed: (error: unknown) => void;
  #current!: AesGeneration;
  #crypticle!: Crypticle;
  #proofs = new Map<KeyObject, Buffer>();
  /** Earlier keys, newest last. */
  #earlier: Crypticle[];
  #changedAt = 0;
  #storing: Promise<void> = Promise.resolve();
  #serial = 0;

  /** Starts with the given generation, or with a new key: every minion then signs in again. */
  constructor(options: {
    readonly cachedir: string;
    readonly first?: AesGeneration;
    readonly failed: (error: unknown) => void;
  }) {
    this.#file = fileOf(options.cachedir);
    this.#failed = options.failed;
    this.#earlier = readKeys(this.#file);
    this.use(options.first ?? newGeneration(0));
  }

  /** From now on this one: minions that have another notice it at their next message, and sign in again. */
  use(next: AesGeneration): void {
    if (next.key === this.#current?.key) return;
    if (this.#current) this.#earlier.push(this.#crypticle);
    this.#earlier = this.#earlier.filter((key) => key.keyString !== next.key).slice(-rememberedKeys);
    this.#current = next;
    this.#crypticle = new Crypticle(next.key);
    this.#proofs = new Map();
    this.#serial = 0;
    this.#changedAt = Date.now();
    const lines = [...this.#earlier, this.#crypticle].map((key) => `${key.keyString}\n`).join('');
    this.#storing = this.#storing.then(() => replaceFile(this.#file, lines)).catch(this.#failed);
  }

  /** Settles when the keys are on the disk, or cannot be. */
  get stored(): Promise<void> {
    return this.#storing;
  }
  get current(): AesGeneration {
    return this.#current;
  }
  get crypticle(): Crypticle {
    return this.#crypticle;
  }
  /** The `sig` of replies to sign-ins under a key of the master: the same for all minions until the next generation. */
  proof(signer: KeyObject): Buffer {
    let proof = this.#proofs.get(signer);
    if (!proof) {
      const digest = createHash('sha256').update(this.#current.key).digest('hex');
      proof = x931Sign(signer, Buffer.from(digest));
      this.#proofs.set(signer, proof);
    }
    return proof;
  }

  nextSerial(): number {
    return ++this.#serial;
  }

  /** Whether this message was sealed with the key before, a short time ago: its sender need only sign in again. */
  isLate(sealed: Uint8Array): boolean {
    const before = this.#earlier.at(-1);
    if (!before || Date.now() - this.#changedAt > lateMs) return false;
    try {
      before.decrypt(sealed);
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Decrypts with the current key or an earlier one, also from before a restart. Only for a proof that does not depend
   * on the key being current: a minion whose key was deleted still has the earlier ones.
   */
  openIdentification(sealed: Uint8Array): Value {
    try {
      return this.#crypticle.open(sealed);
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
}

const fileOf = (cachedir: string): string => join(cachedir, '.shared_keys');

/** The key that was used last, when this master has run before. */
export const storedAesKey = (cachedir: string): string | undefined => readKeys(fileOf(cachedir)).at(-1)?.keyString;

function readKeys(file: string): Crypticle[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.slice(-rememberedKeys).map((line) => new Crypticle(line));
  } catch {
    // No earlier run, or a damaged file: minions then sign in again first.
    return [];
  }
}

export function newGeneration(after: number): AesGeneration {
  return { generation: after + 1, key: Crypticle.generateKeyString(), since: Date.now() };
}
