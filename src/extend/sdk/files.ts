// Files for extensions: from the master's file server (or the minion's own when it has none), from the web and from disk.
import type { PlainDict, Value } from '../../base/codec/value.ts';

/** What Salt knows of a file's content. */
export interface FileHash {
  readonly hash_type: string;
  readonly hsum: string;
}

export interface FetchOptions {
  /** Environment of the file server; `salt://file?saltenv=dev` wins over it. Default: the minion's, or `base`. */
  readonly saltenv?: string | undefined;
  /** Make missing folders on the way to the destination. */
  readonly makedirs?: boolean;
  /** Compress chunks on their way, 1 (fast) to 9. */
  readonly gzip?: number | undefined;
}

export interface UrlOptions extends FetchOptions {
  /** `sha256=…` or the bare digest: a cached copy that has it is not fetched again. */
  readonly sourceHash?: string | undefined;
  /** False accepts any certificate. */
  readonly verifySsl?: boolean;
  /** Ask the server whether the cached copy is still good. */
  readonly useEtag?: boolean;
  /** What the file server has just said this file of its own hashes to: a cached copy that does is not asked about again. */
  readonly served?: FileHash | undefined;
  /** Told what the cached file holds, if it is small and was read or fetched anyway. */
  readonly onContent?: ((content: Buffer) => void) | undefined;
}

export interface CacheDirOptions {
  readonly saltenv?: string | undefined;
  readonly includeEmpty?: boolean;
  /** Globs, or regular expressions behind `E@`; one that fits is enough. */
  readonly includePattern?: string | readonly string[] | undefined;
  readonly excludePattern?: string | readonly string[] | undefined;
}

/** A part of a file of the master, and the local file whose same part it is to become. */
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
  /** Environments, later ones over earlier ones. */
  readonly saltenv?: readonly string[];
  /** Only these names, by kind. */
  readonly whitelist?: Value;
  readonly blacklist?: Value;
}

export interface SyncReport {
  /** Kind → `modules.name` of every extension that is new or changed. */
  readonly synced: Readonly<Record<string, readonly string[]>>;
  /** Something was added, changed or removed: new job processes are needed to see it. */
  readonly touched: boolean;
  /** Files that could not be taken, each with its reason. */
  readonly problems: readonly string[];
}

/** The minion's view of files. Paths are `salt://…`, `http(s)://…`, `file://…` or plain. */
export interface FileClient {
  envs(): Promise<string[]>;
  /** Names on the file server; `prefix` is a beginning of text. */
  list(kind: 'files' | 'dirs' | 'emptyDirs', saltenv?: string, prefix?: string): Promise<string[]>;
  /** Links on the file server and where they lead. */
  symlinks(saltenv?: string, prefix?: string): Promise<PlainDict>;
  /** Names of the states on the file server: `app`, `app.sub`. */
  states(saltenv?: string): Promise<string[]>;
  /** The digest of a file, on the file server or here; undefined when there is none. */
  hash(path: string, saltenv?: string): Promise<FileHash | undefined>;
  /** The numbers of Python's os.stat(), as far as known; undefined when there is no such file. */
  stat(path: string, saltenv?: string): Promise<number[] | undefined>;

  /** Brings a file into the minion's cache and gives its path there; '' when the file server has no such file. */
  cacheFile(url: string, options?: UrlOptions): Promise<string>;
  cacheDir(url: string, options?: CacheDirOptions): Promise<string[]>;
  /** Everything of an environment. */
  cacheAll(saltenv?: string): Promise<string[]>;
  /** Keeps a copy of a file of this machine. */
  cacheLocalFile(path: string): Promise<string>;
  /** Where `cacheFile` would put it. */
  cacheDest(url: string, saltenv?: string): string;
  /** The path in the cache if it is there; ''. */
  isCached(path: string, saltenv?: string): Promise<string>;
  /** All files in the cache. */
  cached(saltenv?: string): Promise<string[]>;

  /** Brings a file of the file server to a place; '' when there is no such file, false when the folder is missing. */
  getFile(url: string, dest: string, options?: FetchOptions): Promise<string | false>;
  getDir(url: string, dest: string, options?: FetchOptions): Promise<(string | false)[]>;
  /** Like `getFile`, for every kind of address; a `dest` of '' means the cache. */
  getUrl(url: string, dest: string, options?: UrlOptions): Promise<string | false>;
  /** The content behind an address, nothing kept; undefined when there is none. */
  read(url: string, options?: UrlOptions): Promise<Buffer | undefined>;

  /** Sends a file to the master (`file_recv` must be on there). */
  push(path: string, options?: PushOptions): Promise<boolean>;
  /** Copies the extensions of users (`salt://_modules`, …) to where they are loaded from. */
  syncExtensions(kinds: readonly string[], options?: SyncOptions): Promise<SyncReport>;
}

/** The master's view of its own file server, for runners. `backend` selects as in Salt: `roots,git`, `-git`, or null for all. */
export interface FileServerView {
  envs(backend?: Value): Promise<string[]>;
  backends(backend?: Value): string[];
  list(kind: 'files' | 'dirs' | 'emptyDirs', saltenv: string, backend?: Value): Promise<string[]>;
  symlinks(saltenv: string, backend?: Value): Promise<PlainDict>;
  /** Fetches what is new; `remotes` narrows it. */
  update(backend?: Value, remotes?: readonly string[]): Promise<void>;
  /** Backend → environments whose lists were forgotten. */
  forgetLists(saltenvs: readonly string[] | undefined, backend?: Value): Promise<Record<string, string[]>>;
  clearCache(backend?: Value): Promise<FileServerReport>;
  lock(backend?: Value, remote?: string): Promise<FileServerReport>;
  clearLock(backend?: Value, remote?: string): Promise<FileServerReport>;
}

export interface FileServerReport {
  readonly done: readonly string[];
  readonly errors: readonly string[];
}
