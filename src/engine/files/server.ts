// The file server: asks its backends in order, hashes once per version of a file, reads chunks without reopening.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { compareText } from '../../base/codec/json/compare-text.ts';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { chunkHeadBytes } from '../../base/crypto/index.ts';
import { messageOf } from '../../base/errors/index.ts';
import type { FileBackend, FileLists, FoundFile, Report } from './backend.ts';
import { ChunkBuffers } from './file-chunks.ts';
import { HashCache } from './hashes.ts';
import { type OpenFile, OpenFiles } from './open-files.ts';
import { cleanRelative, splitRequestPath } from './paths.ts';
import { selectBackends } from './select.ts';

export interface ServedChunk {
  readonly data: Uint8Array;
  readonly dest: string;
  readonly gzip?: number;
}

export type ServedFile = FoundFile & { readonly back: string };

export interface FileServerOptions {
  readonly hashType: string;
  readonly chunkBytes: number;
  /** Serves only the process in which it runs. */
  readonly alone?: boolean;
  /** Called for every update that changed something. */
  readonly onUpdate?: (backend: string, data: PlainDict) => void;
  readonly onProblem?: (backend: string, problem: string) => void;
}

const compress = promisify(gzip);
const nothing = Buffer.alloc(0);

export class FileServer {
  readonly #backends: readonly FileBackend[];
  readonly #options: FileServerOptions;
  readonly #hashes: HashCache;
  readonly #open = new OpenFiles();
  readonly #buffers = new ChunkBuffers();
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(backends: readonly FileBackend[], options: FileServerOptions) {
    this.#backends = backends;
    this.#options = options;
    this.#hashes = new HashCache(options.hashType, options.alone);
  }

  get hashType(): string {
    return this.#options.hashType;
  }

  /** The backends that an operator selects with `backend=`: all, some, or all but some. */
  backends(which?: Value): FileBackend[] {
    return selectBackends(this.#backends, which ?? null);
  }

  async envs(which?: Value): Promise<string[]> {
    const names = await Promise.all(this.backends(which).map((backend) => backend.envs()));
    return [...new Set(names.flat())].sort(compareText);
  }

  /** The first file of this name; undefined when it does not exist, is hidden, or has no acceptable path. */
  async find(path: unknown, saltenv: unknown): Promise<ServedFile | undefined> {
    if (typeof path !== 'string') return undefined;
    const asked = splitRequestPath(path);
    if (cleanRelative(asked.path) === undefined) return undefined;
    const environment = asked.options.get('saltenv') ?? environmentName(saltenv);
    if (environment === undefined) return undefined;
    for (const backend of this.#backends) {
      const found = await backend.find(asked.path, environment, asked.options);
      if (found) return { ...found, back: backend.name };
    }
    return undefined;
  }

  /** The digest of a file, computed once until it changes. */
  hash(file: FoundFile): Promise<string> {
    return this.#hashes.get(file.path, file.version);
  }

  /** One chunk from `loc`; empty data after the end. A missing file has an empty `dest`. */
  async serve(path: unknown, saltenv: unknown, loc: unknown, level: unknown): Promise<ServedChunk> {
    const position = positionOf(loc);
    const open = await this.#openAt(path, saltenv, position);
    if (!open) return { data: nothing, dest: '' };
    const { rel: dest, stat } = open.file;
    const left = (stat[6] ?? 0) - position;
    if (left <= 0) return { data: nothing, dest };
    const data = await open.read(position, Math.min(this.#options.chunkBytes, left)).catch(() => undefined);
    if (!data) return { data: nothing, dest: '' };
    const effort = typeof level === 'number' ? Math.trunc(level) : 0;
    if (effort <= 0 || data.length === 0) return { data, dest };
    return { data: await compress(data, { level: Math.min(9, effort) }), dest, gzip: effort };
  }

  /**
   * Passes `seal` a buffer with space for a head and the bytes from `loc`, at most `most` of them: none after the end,
   * nor for a missing file.
   */
  async chunk<T>(path: unknown, saltenv: unknown, loc: unknown, most: number, seal: (buffer: Buffer) => T): Promise<T> {
    const position = positionOf(loc);
    const open = await this.#openAt(path, saltenv, position);
    const left = open ? (open.file.stat[6] ?? 0) - position : 0;
    if (!open || left <= 0) return seal(Buffer.alloc(chunkHeadBytes));
    return this.#buffers.with(async (buffer) => {
      const into = buffer.subarray(chunkHeadBytes, chunkHeadBytes + Math.min(most, left));
      const { length } = await open.read(position, into.length, into).catch(() => nothing);
      return seal(buffer.subarray(0, chunkHeadBytes + length));
    });
  }

  /** The whole content of a file that was just found, unless it is larger than `most`. */
  async whole(path: unknown, saltenv: unknown, file: ServedFile, most: number): Promise<Buffer | undefined> {
    const size = file.stat[6] ?? 0;
    if (size > most) return undefined;
    const open = this.#open.use(fileKey(path, saltenv), file);
    const data = await open.read(0, size).catch(() => undefined);
    return data?.length === size ? data : undefined;
  }

  /** A transfer starts with a new look-up; the following chunks come from the file that was found then. */
  async #openAt(path: unknown, saltenv: unknown, position: number): Promise<OpenFile | undefined> {
    const key = fileKey(path, saltenv);
    const recent = position > 0 ? this.#open.recent(key) : undefined;
    if (recent) return recent;
    const file = await this.find(path, saltenv);
    return file && this.#open.use(key, file);
  }

  async lists(saltenv: unknown, which?: Value): Promise<FileLists> {
    const environment = environmentName(saltenv);
    const all = environment === undefined ? [] : this.backends(which).map((backend) => backend.lists(environment));
    const [only, ...others] = await Promise.all(all);
    if (only && others.length === 0) return only;
    return merged(only ? [only, ...others] : []);
  }

  /** Updates the named backends or all. A failing one is reported and does not block the others. */
  async update(which?: Value, remotes?: readonly string[]): Promise<void> {
    await Promise.all(this.backends(which).map((backend) => this.#update(backend, remotes)));
  }

  forgetLists(saltenvs?: readonly string[], which?: Value): Map<string, string[]> {
    const forgotten = this.backends(which).map((backend) => [backend.name, backend.forgetLists(saltenvs)] as const);
    return new Map(forgotten.filter(([, names]) => names.length > 0));
  }

  /** Removes what backends have fetched; a backend that fetches nothing reports nothing. */
  async clearCache(which?: Value): Promise<Report> {
    const done: string[] = [];
    const errors: string[] = [];
    for (const backend of this.backends(which)) {
      if (!backend.clearCache) continue;
      const failed = await backend.clearCache();
      if (failed.length > 0) errors.push(...failed);
      else done.push(`The ${backend.name} fileserver cache was successfully cleared`);
    }
    return { done, errors };
  }

  async lock(which?: Value, remote?: string): Promise<Report> {
    return together(await Promise.all(this.backends(which).map((backend) => backend.lock?.(remote))));
  }

  async clearLock(which?: Value, remote?: string): Promise<Report> {
    return together(await Promise.all(this.backends(which).map((backend) => backend.clearLock?.(remote))));
  }

  /** Starts periodic updates of the backends, each with its own interval, beginning now. */
  start(): void {
    for (const backend of this.#backends) {
      for (const { seconds, remotes } of backend.schedule ?? []) {
        const everyMs = Math.min(Math.max(1, seconds) * 1000, 2 ** 31 - 1);
        void this.#update(backend, remotes);
        this.#timers.push(setInterval(() => void this.#update(backend, remotes), everyMs).unref());
      }
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    this.#open.close();
    for (const backend of this.#backends) await backend.close?.();
  }

  async #update(backend: FileBackend, remotes?: readonly string[]): Promise<void> {
    try {
      const changed = await backend.update(remotes);
      if (changed) this.#options.onUpdate?.(backend.name, changed);
    } catch (error) {
      this.#options.onProblem?.(backend.name, messageOf(error));
    }
  }
}

function fileKey(path: unknown, saltenv: unknown): string {
  return `${String(saltenv)}\0${String(path)}`;
}

/** The start of a chunk; an invalid position means the beginning. */
export function positionOf(loc: unknown): number {
  return typeof loc === 'number' && Number.isSafeInteger(loc) && loc >= 0 ? loc : 0;
}

/** Salt converts every environment name to text. */
function environmentName(saltenv: unknown): string | undefined {
  if (typeof saltenv === 'string') return saltenv;
  return typeof saltenv === 'number' || typeof saltenv === 'bigint' ? String(saltenv) : undefined;
}

function merged(all: readonly FileLists[]): FileLists {
  const union = (pick: 'files' | 'dirs' | 'emptyDirs'): string[] =>
    [...new Set(all.flatMap((lists) => lists[pick]))].sort(compareText);
  const links: Record<string, string> = Object.create(null);
  for (const lists of all) for (const [link, target] of Object.entries(lists.links)) links[link] ??= target;
  return { files: union('files'), dirs: union('dirs'), emptyDirs: union('emptyDirs'), links };
}

function together(reports: readonly (Report | undefined)[]): Report {
  const known = reports.filter((report) => report !== undefined);
  return { done: known.flatMap((report) => report.done), errors: known.flatMap((report) => report.errors) };
}
