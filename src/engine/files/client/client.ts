// The minion's file client, `ctx.files`. Everything it fetches is verified and replaced atomically.
import { copyFile, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { asList, dictEntries, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { isSaltUrl, parseSaltUrl, saltUrl } from '../../../base/util/salt-url.ts';
import type {
  CacheDirOptions,
  FetchOptions,
  FileClient,
  FileHash,
  MinionServices,
  PushOptions,
  SyncOptions,
  SyncReport,
  UrlOptions,
} from '../../../extend/sdk/index.ts';
import { hashFile } from '../hashes.ts';
import { isEnvironmentName } from '../paths.ts';
import { pythonStat } from '../roots.ts';
import type { Wanted } from './chunks.ts';
import { askFile, fetchTo, fetchToCache, type ServerFile } from './fetch.ts';
import { getFolder, inOrder, patternTest, stateNames } from './folders.ts';
import { CachePlaces } from './places.ts';
import { pushFile } from './push.ts';
import { type FileSource, fileSource } from './source.ts';
import { serverPath } from './url.ts';
import { UrlFetcher } from './url-fetcher.ts';

export interface FileClientParts {
  readonly opts: Readonly<Record<string, Value>>;
  readonly minion: MinionServices;
  readonly log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void };
  readonly signal?: AbortSignal;
  /** Waits before a lost chunk is requested again; one per retry. */
  readonly retryMs?: readonly number[];
}

export function createFileClient(parts: FileClientParts): FileClient {
  return new MinionFiles(parts);
}

const listCommands = { files: '_file_list', dirs: '_dir_list', emptyDirs: '_file_list_emptydirs' } as const;
const defaultChunkBytes = 262_144;

class MinionFiles implements FileClient {
  readonly #parts: FileClientParts;
  readonly #source: FileSource;
  readonly #places: CachePlaces;
  readonly #web: UrlFetcher;

  constructor(parts: FileClientParts) {
    this.#parts = parts;
    this.#source = fileSource(parts);
    this.#places = new CachePlaces(String(parts.opts['cachedir'] ?? ''));
    this.#web = new UrlFetcher(parts.opts, this.#places, parts.signal);
  }

  async envs(): Promise<string[]> {
    return namesIn(await this.#source.send(newDict([['cmd', '_file_envs']])));
  }

  async list(kind: 'files' | 'dirs' | 'emptyDirs', saltenv?: string, prefix = ''): Promise<string[]> {
    return namesIn(await this.#ask(listCommands[kind], saltenv, prefix));
  }

  async symlinks(saltenv?: string, prefix = ''): Promise<PlainDict> {
    const reply = await this.#ask('_symlink_list', saltenv, prefix);
    return newDict(isDict(reply) ? dictEntries(reply).map(([link, target]) => [String(link), target] as const) : []);
  }

  async states(saltenv?: string): Promise<string[]> {
    return stateNames(await this.list('files', saltenv));
  }

  async hash(path: string, saltenv?: string): Promise<FileHash | undefined> {
    if (isSaltUrl(path)) return (await this.#file(path, saltenv))?.hash;
    const type = String(this.#parts.opts['hash_type'] ?? 'sha256');
    return (await isFile(path)) ? { hash_type: type, hsum: await hashFile(path, type) } : undefined;
  }

  async stat(path: string, saltenv?: string): Promise<number[] | undefined> {
    if (isSaltUrl(path)) return (await this.#file(path, saltenv))?.stat;
    return (await isFile(path)) ? pythonStat(await stat(path)) : undefined;
  }

  async cacheFile(url: string, options: UrlOptions = {}): Promise<string> {
    return (await this.getUrl(url, '', options)) || '';
  }

  async cacheDir(url: string, options: CacheDirOptions = {}): Promise<string[]> {
    const path = serverPath(url);
    const saltenv = this.#environment(parseSaltUrl(url).saltenv ?? options.saltenv);
    const folder = path.endsWith('/') ? path : `${path}/`;
    const chosen = patternTest(options.includePattern, options.excludePattern);
    const files = (await this.list('files', saltenv)).filter((file) => file.startsWith(folder) && chosen(file));
    const cached = (await this.#cacheMany(files, saltenv)).filter((file) => file !== '');
    if (!options.includeEmpty) return cached;
    const empty = (await this.list('emptyDirs', saltenv)).filter((dir) => dir.startsWith(folder));
    const made = empty.map((dir) => this.#places.file(dir, saltenv));
    for (const dir of made) await mkdir(dir, { recursive: true });
    return [...cached, ...made];
  }

  async cacheAll(saltenv?: string): Promise<string[]> {
    const environment = this.#environment(saltenv);
    return this.#cacheMany(await this.list('files', environment), environment);
  }

  async cacheLocalFile(path: string): Promise<string> {
    const dest = this.#places.localFile(path);
    await mkdir(dirname(dest), { recursive: true });
    await copyFile(path, dest);
    return dest;
  }

  cacheDest(url: string, saltenv?: string): string {
    return this.#places.expected(url, this.#environment(saltenv));
  }

  async isCached(path: string, saltenv?: string): Promise<string> {
    return this.#places.present(path, this.#environment(saltenv));
  }

  cached(saltenv?: string): Promise<string[]> {
    return this.#places.all(this.#environment(saltenv));
  }

  async getFile(url: string, dest: string, options: UrlOptions = {}): Promise<string | false> {
    if (dest === '') return this.#cacheSalt(url, options);
    const result = await fetchTo(this.#source, this.#wanted(url, options), dest, options.makedirs ?? false);
    if (result === 'missing') return '';
    return result === 'no folder' ? false : result.path;
  }

  getDir(url: string, dest: string, options: FetchOptions = {}): Promise<(string | false)[]> {
    return getFolder(this, url, dest, options);
  }

  async getUrl(url: string, dest: string, options: UrlOptions = {}): Promise<string | false> {
    if (isSaltUrl(url)) return this.getFile(url, dest, options);
    return this.#web.get(url, dest, { ...options, saltenv: this.#environment(options.saltenv) });
  }

  async read(url: string, options: UrlOptions = {}): Promise<Buffer | undefined> {
    if (!isSaltUrl(url)) return this.#web.read(url, options);
    const cached = await this.#cacheSalt(url, options);
    return cached === '' ? undefined : readFile(cached);
  }

  push(path: string, options: PushOptions = {}): Promise<boolean> {
    const chunkBytes = Number(this.#parts.opts['file_buffer_size']) || defaultChunkBytes;
    return pushFile(this.#source.send, path, chunkBytes, options);
  }

  async syncExtensions(kinds: readonly string[], options: SyncOptions = {}): Promise<SyncReport> {
    const { syncExtensions } = await import('../sync.ts');
    const { opts, log, minion } = this.#parts;
    const report = await syncExtensions({ client: this, opts, log }, kinds, options);
    if (report.touched) await minion.reloadExtensions();
    return report;
  }

  #environment(saltenv: string | undefined): string {
    const own = this.#parts.opts['saltenv'];
    return saltenv || (typeof own === 'string' && own) || 'base';
  }

  #ask(cmd: string, saltenv: string | undefined, prefix: string): Promise<Value> {
    return this.#source.send(newDict(Object.entries({ cmd, saltenv: this.#environment(saltenv), prefix })));
  }

  /** The path and environment of a URL, and how it is fetched. */
  #wanted(url: string, options: FetchOptions): Wanted {
    const { signal, retryMs } = this.#parts;
    const path = serverPath(url);
    const saltenv = this.#environment(parseSaltUrl(url).saltenv ?? options.saltenv);
    if (!isEnvironmentName(saltenv)) {
      throw new HaliteError('path.refused', `${JSON.stringify(saltenv)} cannot be an environment`);
    }
    return { path, saltenv, gzip: options.gzip, signal, retryMs };
  }

  #file(url: string, saltenv: string | undefined): Promise<ServerFile | undefined> {
    const wanted = this.#wanted(url, { saltenv });
    return askFile(this.#source.send, wanted.path, wanted.saltenv);
  }

  async #cacheSalt(url: string, options: UrlOptions): Promise<string> {
    const wanted = this.#wanted(url, options);
    // The root of the tree is not a file.
    if (wanted.path === '') return '';
    const dest = this.#places.file(wanted.path, wanted.saltenv);
    const top = this.#places.files(wanted.saltenv);
    const { served, onContent } = options;
    const result = await fetchToCache(this.#source, wanted, dest, { top, served, onContent });
    return result === 'missing' ? '' : dest;
  }

  #cacheMany(paths: readonly string[], saltenv: string): Promise<string[]> {
    return inOrder(paths, (path) => this.#cacheSalt(saltUrl(path), { saltenv }));
  }
}

function namesIn(reply: Value): string[] {
  return (asList(reply) ?? []).filter((item) => typeof item === 'string');
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ?? false;
}
