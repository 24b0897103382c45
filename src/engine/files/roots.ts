// The `roots` backend: folders of this machine's own file system, by environment.
import { type Stats, statSync } from 'node:fs';
import { compareText } from '../../base/codec/json/compare-text.ts';
import type { PlainDict } from '../../base/codec/value.ts';
import { emptyLists, type FileBackend, type FileLists, type FoundFile } from './backend.ts';
import { describeChanges, readTimes, type Times } from './changes.ts';
import { ListCache } from './list-cache.ts';
import { below, cleanRelative, isEnvironmentName } from './paths.ts';
import { type WalkRules, walkRoots } from './walk.ts';

export interface RootsOptions extends WalkRules {
  readonly name?: string;
  readonly fileRoots: Readonly<Record<string, readonly string[]>>;
  /** Lists are read again after this many seconds. */
  readonly listCacheSeconds: number;
  /** Check every file at updates, to report what changed (`fileserver_events`). */
  readonly noteChanges?: boolean;
  readonly updateSeconds?: number;
}

/** Salt's name for "every environment that is not listed". */
const anyEnvironment = '__env__';

export class RootsBackend implements FileBackend {
  readonly name: string;
  readonly #options: RootsOptions;
  readonly #lists: ListCache;
  #times: Times = new Map();

  constructor(options: RootsOptions) {
    this.name = options.name ?? 'roots';
    this.#options = options;
    this.#lists = new ListCache(options.listCacheSeconds * 1000);
  }

  get schedule(): NonNullable<FileBackend['schedule']> {
    const { noteChanges, updateSeconds } = this.#options;
    return noteChanges ? [{ seconds: updateSeconds ?? 60, remotes: [] }] : [];
  }

  async envs(): Promise<readonly string[]> {
    return Object.keys(this.#options.fileRoots).sort(compareText);
  }

  /** Folders of an environment; `__env__` is used for every name that is not listed. */
  roots(saltenv: string): readonly string[] {
    const { fileRoots } = this.#options;
    if (Object.hasOwn(fileRoots, saltenv)) return fileRoots[saltenv] ?? [];
    if (!Object.hasOwn(fileRoots, anyEnvironment) || !isEnvironmentName(saltenv)) return [];
    return (fileRoots[anyEnvironment] ?? []).map((root) => root.replaceAll(anyEnvironment, () => saltenv));
  }

  async find(path: string, saltenv: string, options?: ReadonlyMap<string, string>): Promise<FoundFile | undefined> {
    const rel = cleanRelative(path);
    if (rel === undefined) return undefined;
    for (const root of oneRoot(this.roots(saltenv), options?.get('index'))) {
      const full = below(root, rel, !this.#options.followSymlinks);
      if (full === undefined || this.#options.ignored(rel, full)) continue;
      const found = statOf(full);
      if (found?.isFile()) return { path: full, rel, stat: pythonStat(found), ...versionOf(found) };
    }
    return undefined;
  }

  async lists(saltenv: string): Promise<FileLists> {
    const roots = this.roots(saltenv);
    return roots.length === 0 ? emptyLists : this.#lists.get(saltenv, () => walkRoots(roots, this.#options));
  }

  async update(): Promise<PlainDict | undefined> {
    this.#lists.forget();
    const { noteChanges, fileRoots, ignored } = this.#options;
    if (!noteChanges) return undefined;
    const times = await readTimes(new Set(Object.values(fileRoots).flat()), ignored);
    const changes = describeChanges(this.#times, times);
    this.#times = times;
    return changes;
  }

  forgetLists(saltenvs?: readonly string[]): string[] {
    return this.#lists.forget(saltenvs);
  }
}

/** `salt://file?index=1` requests the file of one root only. */
function oneRoot(roots: readonly string[], index: string | undefined): readonly string[] {
  if (index === undefined) return roots;
  const root = /^\s*-?\d+\s*$/.test(index) ? roots.at(Number(index)) : undefined;
  return root === undefined ? [] : [root];
}

/** The file at a path; undefined when it cannot be read. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** st_mode, st_ino, st_dev, st_nlink, st_uid, st_gid, st_size, st_atime, st_mtime, st_ctime. */
export function pythonStat(stats: Stats): number[] {
  const whole = (ms: number): number => Math.floor(ms / 1000);
  const { mode, ino, dev, nlink, uid, gid, size, atimeMs, mtimeMs, ctimeMs } = stats;
  return [mode, ino, dev, nlink, uid, gid, size, whole(atimeMs), whole(mtimeMs), whole(ctimeMs)];
}

/** Identifies a version of a file; times have a resolution of microseconds. */
export function versionOf(stats: Stats): { version: string; identity: string } {
  const identity = `${stats.dev}:${stats.ino}`;
  return { version: `${identity}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`, identity };
}
