// Digests of files, computed once for each version of a file.
import { createHash, getHashes, type Hash } from 'node:crypto';
import { open } from 'node:fs/promises';

const pieceBytes = 1 << 20;
/** Hashing is work for the disk and one core: more at a time would only slow each other down. */
const maxRunning = 4;
const maxRemembered = 100_000;

interface Entry {
  readonly version: string;
  readonly hash: Promise<string>;
}

let known: ReadonlySet<string> | undefined;

/** Python's names of digests that have another one here. */
const otherNames: Readonly<Record<string, string>> = { blake2b: 'blake2b512', blake2s: 'blake2s256' };

/** A digest to be computed, by its name in Salt (`sha256`, `sha3_512`, …). */
export function newHash(type: string): Hash {
  return createHash(ownName(type));
}

/** Whether this machine can compute a kind of digest. */
export function isHashType(type: string): boolean {
  known ??= new Set(getHashes());
  return known.has(ownName(type));
}

function ownName(type: string): string {
  return Object.hasOwn(otherNames, type) ? otherNames[type]! : type.toLowerCase().replaceAll('_', '-');
}

export class HashCache {
  readonly #type: string;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(type: string) {
    this.#type = type;
  }

  /** The digest of a file that has this version. */
  get(path: string, version: string): Promise<string> {
    const entry = this.#entries.get(path);
    if (entry?.version === version) return entry.hash;
    const made = { version, hash: this.#run(path) };
    this.#entries.delete(path);
    if (this.#entries.size >= maxRemembered) this.#entries.delete(this.#entries.keys().next().value as string);
    this.#entries.set(path, made);
    made.hash.catch(() => {
      if (this.#entries.get(path) === made) this.#entries.delete(path);
    });
    return made.hash;
  }

  async #run(path: string): Promise<string> {
    if (this.#running >= maxRunning) await new Promise<void>((go) => this.#waiting.push(go));
    this.#running++;
    try {
      return await hashFile(path, this.#type);
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}

/** The digest of a file in hexadecimal. */
export async function hashFile(path: string, type: string): Promise<string> {
  const hash = newHash(type);
  const handle = await open(path, 'r');
  try {
    // Most files are small, and a large buffer for each is memory that waits for the collector.
    const { size } = await handle.stat();
    const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(size + 1, 4096)));
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}
