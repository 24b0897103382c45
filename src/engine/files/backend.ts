// The interface of a file server backend: environments, their files, and lists.
import type { PlainDict } from '../../base/codec/value.ts';

export interface FoundFile {
  /** Absolute path on this machine. */
  readonly path: string;
  /** Path below the root, as minions name it. */
  readonly rel: string;
  /** The ten numbers of Python's os.stat(). */
  readonly stat: readonly number[];
  /** Changes whenever the content may have changed. */
  readonly version: string;
  /** Device and inode of the path when it was checked: the file opened later must be the same. */
  readonly identity?: string;
}

export interface FileLists {
  readonly files: readonly string[];
  readonly dirs: readonly string[];
  readonly emptyDirs: readonly string[];
  readonly links: Readonly<Record<string, string>>;
}

export const emptyLists: FileLists = {
  files: [],
  dirs: [],
  emptyDirs: [],
  links: Object.freeze(Object.create(null) as Record<string, string>),
};

/** The outcome of an operation on several remotes: a line per success, a line per failure. */
export interface Report {
  readonly done: readonly string[];
  readonly errors: readonly string[];
}

export interface FileBackend {
  /** As written in `fileserver_backend`. */
  readonly name: string;
  envs(): Promise<readonly string[]>;
  /** `options` are the part of a path after `?`. */
  find(path: string, saltenv: string, options?: ReadonlyMap<string, string>): Promise<FoundFile | undefined>;
  lists(saltenv: string): Promise<FileLists>;
  /** Fetches updates; `remotes` limits it. Returns the data for an event, or undefined when nothing changed. */
  update(remotes?: readonly string[]): Promise<PlainDict | undefined>;
  /** Clears cached lists, of some environments or all; returns the names of the cleared ones. */
  forgetLists(saltenvs?: readonly string[]): string[];
  /** Periodic updates of the server; absent when there is nothing to fetch. */
  readonly schedule?: readonly { readonly seconds: number; readonly remotes: readonly string[] }[];
  /** Removes fetched data; returns a line for each failure. */
  clearCache?(): Promise<readonly string[]>;
  lock?(remote?: string): Promise<Report>;
  clearLock?(remote?: string): Promise<Report>;
  close?(): Promise<void>;
}
