// Files for extensions: from the master's file server (or the minion's own when it has no master), from the web and
// from disk.
import type { PlainDict, Value } from '../../base/codec/value.ts';

/** Hash and type of a file's content, as in Salt. */
export interface FileHash {
  readonly hash_type: string;
  readonly hsum: string;
}

export interface FetchOptions {
  /** Environment of the file server; `salt://file?saltenv=dev` takes precedence. Default: the minion's, or `base`. */
  readonly saltenv?: string | undefined;
  /** Create missing parent folders of the destination. */
  readonly makedirs?: boolean;
  /** Compress chunks for the transfer, 1 (fast) to 9. */
  readonly gzip?: number | undefined;
}

export interface UrlOptions extends FetchOptions {
  /** `sha256=…` or the bare digest: a cached copy with this digest is not fetched again. */
  readonly sourceHash?: string | undefined;
  /** False accepts any certificate. */
  readonly verifySsl?: boolean;
  /** Ask the server whether the cached copy is still current. */
  readonly useEtag?: boolean;
  /** The hash that the file server has just given for this file: a cached copy with this hash is not checked again. */
  readonly served?: FileHash | undefined;
  /** Called with the content of the cached file, if it is small and was read or fetched anyway. */
  readonly onContent?: ((content: Buffer) => void) | undefined;
}

export interface CacheDirOptions {
  readonly saltenv?: string | undefined;
  readonly includeEmpty?: boolean;
  /** Globs, or regular expressions after `E@`; one match is enough. */
  readonly includePattern?: string | readonly string[] | undefined;
  readonly excludePattern?: string | readonly string[] | undefined;
}

/** A slice of a file of the master, and the local file to which the same slice is written. */
export interface FileSlice {
  readonly path: string;
  readonly saltenv: string;
  readonly gzip?: number | undefined;
  readonly from: number;
  readonly length: number;
  readonly file: string;
}

export interface PushOptions {
  readonly keepSymlinks?: boolean;
  /** Another path on the master. */
  readonly uploadPath?: string | undefined;
  readonly removeSource?: boolean;
}

export interface SyncOptions {
  /** Environments; later ones override earlier ones. */
  readonly saltenv?: readonly string[];
  /** Only these names, by kind. */
  readonly whitelist?: Value;
  readonly blacklist?: Value;
}

export interface SyncReport {
  /** Kind → `modules.name` of every extension that is new or changed. */
  readonly synced: Readonly<Record<string, readonly string[]>>;
  /** Something was added, changed or removed: new job processes are needed to load it. */
  readonly touched: boolean;
  /** Files that could not be copied, each with its reason. */
  readonly problems: readonly string[];
}

/** File access of the minion. Paths are `salt://…`, `http(s)://…`, `file://…` or plain. */
export interface FileClient {
  envs(): Promise<string[]>;
  /** Names on the file server; `prefix` is the beginning of a path. */
  list(kind: 'files' | 'dirs' | 'emptyDirs', saltenv?: string, prefix?: string): Promise<string[]>;
  /** Symbolic links on the file server and their targets. */
  symlinks(saltenv?: string, prefix?: string): Promise<PlainDict>;
  /** Names of the states on the file server: `app`, `app.sub`. */
  states(saltenv?: string): Promise<string[]>;
  /** The digest of a file, on the file server or local; undefined when it does not exist. */
  hash(path: string, saltenv?: string): Promise<FileHash | undefined>;
  /** The numbers of Python's os.stat(), as far as known; undefined when there is no such file. */
  stat(path: string, saltenv?: string): Promise<number[] | undefined>;

  /** Downloads a file into the minion's cache and returns its path there; '' when the file server has no such file. */
  cacheFile(url: string, options?: UrlOptions): Promise<string>;
  cacheDir(url: string, options?: CacheDirOptions): Promise<string[]>;
  /** Caches all files of an environment. */
  cacheAll(saltenv?: string): Promise<string[]>;
  /** Stores a copy of a file of this machine. */
  cacheLocalFile(path: string): Promise<string>;
  /** The path at which `cacheFile` would store it. */
  cacheDest(url: string, saltenv?: string): string;
  /** The path in the cache if the file is there, else ''. */
  isCached(path: string, saltenv?: string): Promise<string>;
  /** All files in the cache. */
  cached(saltenv?: string): Promise<string[]>;

  /** Downloads a file of the file server to a path; '' when there is no such file, false when the folder is missing. */
  getFile(url: string, dest: string, options?: FetchOptions): Promise<string | false>;
  getDir(url: string, dest: string, options?: FetchOptions): Promise<(string | false)[]>;
  /** Like `getFile`, for every kind of URL; a `dest` of '' means the cache. */
  getUrl(url: string, dest: string, options?: UrlOptions): Promise<string | false>;
  /** The content of a URL, without storing it; undefined when there is none. */
  read(url: string, options?: UrlOptions): Promise<Buffer | undefined>;

  /** Sends a file to the master (where `file_recv` must be enabled). */
  push(path: string, options?: PushOptions): Promise<boolean>;
  /** Copies the extensions of users (`salt://_modules`, …) to the folders from which they are loaded. */
  syncExtensions(kinds: readonly string[], options?: SyncOptions): Promise<SyncReport>;
}

/** The master's own file server, for runners. `backend` selects as in Salt: `roots,git`, `-git`, or null for all. */
export interface FileServerView {
  envs(backend?: Value): Promise<string[]>;
  backends(backend?: Value): string[];
  list(kind: 'files' | 'dirs' | 'emptyDirs', saltenv: string, backend?: Value): Promise<string[]>;
  symlinks(saltenv: string, backend?: Value): Promise<PlainDict>;
  /** Fetches updates; `remotes` limits it. */
  update(backend?: Value, remotes?: readonly string[]): Promise<void>;
  /** Backend → environments whose lists were cleared. */
  forgetLists(saltenvs: readonly string[] | undefined, backend?: Value): Promise<Record<string, string[]>>;
  clearCache(backend?: Value): Promise<FileServerReport>;
  lock(backend?: Value, remote?: string): Promise<FileServerReport>;
  clearLock(backend?: Value, remote?: string): Promise<FileServerReport>;
}

export interface FileServerReport {
  readonly done: readonly string[];
  readonly errors: readonly string[];
}
