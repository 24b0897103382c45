// What a file server backend gives: environments, files in them, and lists.
export interface FoundFile {
  /** Absolute path on the master. */
  readonly path: string;
  /** Path below the root, as minions name it. */
  readonly rel: string;
  /** The ten numbers of Python's os.stat(). */
  readonly stat: readonly number[];
}

export interface FileLists {
  readonly files: readonly string[];
  readonly dirs: readonly string[];
  readonly emptyDirs: readonly string[];
  readonly links: Readonly<Record<string, string>>;
}

export interface FileBackend {
  readonly name: string;
  envs(): readonly string[];
  find(path: string, saltenv: string): FoundFile | undefined;
  lists(saltenv: string): Promise<FileLists>;
  /** Fetches what is new from where the files come from; nothing to do for local folders. */
  update(): Promise<void>;
}
