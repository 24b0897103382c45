// Digests of files, computed once for each version of a file.
import { createHash, getHashes, type Hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

const chunkBytes = 1 << 20;
/** Hashing uses the disk and one core: more at the same time would only slow each other down. */
const maxRunning = 4;
const maxRemembered = 100_000;

interface Entry {
  readonly version: string;
  readonly hash: Promise<string>;
}

let known: ReadonlySet<string> | undefined;

/** Python's names of digests that differ from Node's. */
const otherNames: Readonly<Record<string, string>> = { blake2b: 'blake2b512', blake2s: 'blake2s256' };

/** A new digest, by its name in Salt (`sha256`, `sha3_512`, …). */
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
  readonly #alone: boolean;
  #running = 0;

  /** `alone`: no other work waits in this process, as in salt-call. */
  constructor(type: string, alone = false) {
    this.#type = type;
    this.#alone = alone;
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
      const hash = this.#alone ? hashSmallFile(path, this.#type) : undefined;
      return hash ?? (await hashFile(path, this.#type));
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }
}

/** Buffers for the beginnings of files, which are usually whole files; reused to avoid garbage. */
const spareBuffers: Buffer[] = [];
const firstBytes = 1 << 16;
const mostSpare = 16;

/** The digest of a file in hexadecimal. A small file uses the thread pool twice, to open and to read it. */
export async function hashFile(path: string, type: string): Promise<string> {
  const hash = newHash(type);
  const handle = await open(path, 'r');
  const first = spareBuffers.pop() ?? Buffer.allocUnsafeSlow(firstBytes);
  try {
    const { bytesRead } = await handle.read(first, 0, firstBytes, null);
    hash.update(first.subarray(0, bytesRead));
    if (bytesRead === firstBytes) await hashRest(handle, hash);
    return hash.digest('hex');
  } finally {
    if (spareBuffers.length < mostSpare) spareBuffers.push(first);
    void handle.close().catch(() => undefined);
  }
}

/** Must not block on a pipe. */
const withoutWaiting = constants.O_RDONLY | constants.O_NONBLOCK;

/**
 * The digest of a small file synchronously, for processes that do one thing at a time; undefined for larger ones, and
 * for anything that is not a file. `keep` gets a copy of its content.
 */
export function hashSmallFile(path: string, type: string, keep?: (content: Buffer) => void): string | undefined {
  const file = openSync(path, withoutWaiting);
  const buffer = spareBuffers.pop() ?? Buffer.allocUnsafeSlow(firstBytes);
  try {
    const found = fstatSync(file);
    if (!found.isFile() || found.size >= firstBytes) return undefined;
    const length = readSync(file, buffer, 0, firstBytes, null);
    if (length >= firstBytes) return undefined;
    const content = buffer.subarray(0, length);
    keep?.(Buffer.from(content));
    return newHash(type).update(content).digest('hex');
  } finally {
    closeSync(file);
    if (spareBuffers.length < mostSpare) spareBuffers.push(buffer);
  }
}

async function hashRest(handle: FileHandle, hash: Hash): Promise<void> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (;;) {
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, null);
    if (bytesRead === 0) return;
    hash.update(buffer.subarray(0, bytesRead));
  }
}
