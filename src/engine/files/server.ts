// The file server: asks its backends in order, hashes once per version of a file, reads chunks without reopening.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { HaliteError } from '../../base/errors/index.ts';
import type { FileBackend, FileLists, FoundFile } from './backend.ts';

export interface ServedChunk {
  readonly data: Uint8Array;
  readonly dest: string;
  readonly gzip?: number;
}

interface CachedHash {
  readonly stamp: string;
  readonly hash: Promise<string>;
}
interface OpenFile {
  readonly stamp: string;
  readonly handle: Promise<FileHandle>;
  lastUse: number;
}

const compress = promisify(gzip);
const openLimit = 64;
const openIdleMs = 10_000;

const stampOf = (file: FoundFile): string => `${file.stat[1]}:${file.stat[6]}:${file.stat[8]}:${file.stat[9]}`;

export class FileServer {
  readonly #backends: readonly FileBackend[];
  readonly #hashType: string;
  readonly #chunkBytes: number;
  readonly #hashes = new Map<string, CachedHash>();
  readonly #open = new Map<string, OpenFile>();

  constructor(backends: readonly FileBackend[], options: { hashType: string; chunkBytes: number }) {
    this.#backends = backends;
    this.#hashType = options.hashType;
    this.#chunkBytes = options.chunkBytes;
  }

  get hashType(): string {
    return this.#hashType;
  }

  envs(): string[] {
    return [...new Set(this.#backends.flatMap((backend) => backend.envs()))].sort();
  }

  find(path: unknown, saltenv: unknown): (FoundFile & { readonly back: string }) | undefined {
    if (typeof path !== 'string' || typeof saltenv !== 'string') return undefined;
    for (const backend of this.#backends) {
      const found = backend.find(path, saltenv);
      if (found) return { ...found, back: backend.name };
    }
    return undefined;
  }

  /** The digest of a file, computed once until it changes. */
  hash(file: FoundFile): Promise<string> {
    const stamp = stampOf(file);
    const known = this.#hashes.get(file.path);
    if (known?.stamp === stamp) return known.hash;
    const hash = digest(file.path, this.#hashType);
    this.#hashes.set(file.path, { stamp, hash });
    hash.catch(() => this.#hashes.delete(file.path));
    return hash;
  }

  /** One chunk from `loc`; empty data behind the end. A missing file has an empty `dest`. */
  async serve(path: unknown, saltenv: unknown, loc: unknown, level: unknown): Promise<ServedChunk> {
    const file = this.find(path, saltenv);
    const empty = new Uint8Array(0);
    if (!file) return { data: empty, dest: '' };
    const position = typeof loc === 'number' && Number.isSafeInteger(loc) && loc >= 0 ? loc : 0;
    if (position >= (file.stat[6] ?? 0)) return { data: empty, dest: file.rel };
    const handle = await this.#handle(file);
    const buffer = Buffer.allocUnsafe(Math.min(this.#chunkBytes, (file.stat[6] ?? 0) - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    const data = buffer.subarray(0, bytesRead);
    if (typeof level !== 'number' || level <= 0 || data.length === 0) return { data, dest: file.rel };
    return { data: await compress(data, { level: Math.min(9, level) }), dest: file.rel, gzip: level };
  }

  async lists(saltenv: unknown): Promise<FileLists> {
    const files = new Set<string>();
    const dirs = new Set<string>();
    const emptyDirs = new Set<string>();
    const links: Record<string, string> = Object.create(null);
    if (typeof saltenv === 'string') {
      for (const backend of this.#backends) {
        const lists = await backend.lists(saltenv);
        for (const file of lists.files) files.add(file);
        for (const dir of lists.dirs) dirs.add(dir);
        for (const dir of lists.emptyDirs) emptyDirs.add(dir);
        for (const [link, target] of Object.entries(lists.links)) links[link] ??= target;
      }
    }
    return { files: [...files].sort(), dirs: [...dirs].sort(), emptyDirs: [...emptyDirs].sort(), links };
  }

  async update(names?: readonly string[]): Promise<void> {
    for (const name of names ?? []) {
      if (!this.#backends.some((backend) => backend.name === name)) {
        throw new HaliteError('call.arguments', `no file server backend named ${name} is configured`);
      }
    }
    for (const backend of this.#backends) if (!names || names.includes(backend.name)) await backend.update();
  }

  async close(): Promise<void> {
    const handles = [...this.#open.values()];
    this.#open.clear();
    for (const { handle } of handles) await handle.then((file) => file.close()).catch(() => {});
  }

  #handle(file: FoundFile): Promise<FileHandle> {
    const stamp = stampOf(file);
    const known = this.#open.get(file.path);
    if (known?.stamp === stamp) {
      known.lastUse = Date.now();
      return known.handle;
    }
    if (known) this.#drop(file.path, known);
    this.#dropIdle();
    const handle = open(file.path, 'r');
    this.#open.set(file.path, { stamp, handle, lastUse: Date.now() });
    handle.catch(() => this.#open.delete(file.path));
    return handle;
  }

  #dropIdle(): void {
    for (const [path, file] of this.#open) {
      if (this.#open.size >= openLimit || Date.now() - file.lastUse > openIdleMs) this.#drop(path, file);
    }
  }

  /** Closed a little later: another request may be reading from it. */
  #drop(path: string, file: OpenFile): void {
    this.#open.delete(path);
    setTimeout(() => void file.handle.then((handle) => handle.close()).catch(() => {}), 5_000).unref();
  }
}

function digest(path: string, type: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const hash = createHash(type);
    createReadStream(path, { highWaterMark: 1 << 20 })
      .on('data', (chunk) => hash.update(chunk))
      .on('error', reject)
      .on('end', () => resolve(hash.digest('hex')));
  });
}
