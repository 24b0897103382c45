// What a file server backend gives: environments, files in them, and lists.
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
  /** Device and inode the path had when it was checked: what is opened later must be the same. */
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

/** The outcome of something done to several remotes: a line per success, a line per failure. */
export interface Report {
  readonly done: readonly string[];
  readonly errors: readonly string[];
}

export interface FileBackend {
  /** As written in `fileserver_backend`. */
  readonly name: string;
  envs(): Promise<readonly string[]>;
  /** `options` are the part of a path behind `?`. */
  find(path: string, saltenv: string, options?: ReadonlyMap<string, string>): Promise<FoundFile | undefined>;
  lists(saltenv: string): Promise<FileLists>;
  /** Fetches what is new; `remotes` narrows it to some. Gives what to say in an event, or nothing when all is as before. */
  update(remotes?: readonly string[]): Promise<PlainDict | undefined>;
  /** Forgets lists, of some environments or all; the names of those that were remembered. */
  forgetLists(saltenvs?: readonly string[]): string[];
  /** Updates the server makes by itself; absent when there is nothing to fetch. */
  readonly schedule?: readonly { readonly seconds: number; readonly remotes: readonly string[] }[];
  /** Removes what was fetched; the lines say what could not be. */
  clearCache?(): Promise<readonly string[]>;
  lock?(remote?: string): Promise<Report>;
  clearLock?(remote?: string): Promise<Report>;
  close?(): Promise<void>;
}
