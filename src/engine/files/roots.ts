// The `roots` backend: folders of the master's own file system, by environment.
import { statSync } from 'node:fs';
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { FileBackend, FileLists, FoundFile } from './backend.ts';
import type { Ignored } from './ignore.ts';
import { below, cleanRelative, isEnvironmentName } from './paths.ts';

export interface RootsOptions {
  readonly fileRoots: Readonly<Record<string, readonly string[]>>;
  readonly ignored: Ignored;
  readonly followSymlinks: boolean;
  readonly ignoreSymlinks: boolean;
  /** Lists are walked again after this many seconds. */
  readonly listCacheSeconds: number;
}

interface CachedLists {
  readonly lists: Promise<FileLists>;
  readonly at: number;
}
interface Collected {
  readonly files: Set<string>;
  readonly dirs: Set<string>;
  readonly emptyDirs: Set<string>;
  readonly links: Record<string, string>;
}

export class RootsBackend implements FileBackend {
  readonly name = 'roots';
  readonly #options: RootsOptions;
  readonly #lists = new Map<string, CachedLists>();

  constructor(options: RootsOptions) {
    this.#options = options;
  }

  envs(): readonly string[] {
    return Object.keys(this.#options.fileRoots).sort();
  }

  /** Folders of an environment; `__env__` stands for every name that is not listed. */
  roots(saltenv: string): readonly string[] {
    if (!isEnvironmentName(saltenv)) return [];
    const { fileRoots } = this.#options;
    if (Object.hasOwn(fileRoots, saltenv)) return fileRoots[saltenv] ?? [];
    return (fileRoots['__env__'] ?? []).map((root) => root.replaceAll('__env__', saltenv));
  }

  find(path: string, saltenv: string): FoundFile | undefined {
    const rel = cleanRelative(path);
    if (rel === undefined) return undefined;
    for (const root of this.roots(saltenv)) {
      const full = below(root, rel, !this.#options.followSymlinks);
      if (full === undefined) continue;
      const found = statSync(full, { throwIfNoEntry: false });
      if (!found?.isFile() || this.#options.ignored(rel) || this.#options.ignored(full)) continue;
      return { path: full, rel, stat: pythonStat(found) };
    }
    return undefined;
  }

  lists(saltenv: string): Promise<FileLists> {
    const known = this.#lists.get(saltenv);
    if (known && Date.now() - known.at < this.#options.listCacheSeconds * 1000) return known.lists;
    const lists = this.#walkAll(saltenv);
    this.#lists.set(saltenv, { lists, at: Date.now() });
    return lists;
  }

  async update(): Promise<void> {
    this.#lists.clear();
  }

  async #walkAll(saltenv: string): Promise<FileLists> {
    const into: Collected = { files: new Set(), dirs: new Set(), emptyDirs: new Set(), links: Object.create(null) };
    for (const root of this.roots(saltenv)) await this.#walk(root, root, into, new Set());
    return {
      files: [...into.files].sort(),
      dirs: [...into.dirs].sort(),
      emptyDirs: [...into.emptyDirs].sort(),
      links: into.links,
    };
  }

  async #walk(root: string, folder: string, into: Collected, seen: Set<string>): Promise<void> {
    // A link to a parent folder must not make the walk endless.
    const real = await realpath(folder).catch(() => undefined);
    if (real === undefined || seen.has(real)) return;
    const trail = new Set(seen).add(real);
    for (const name of (await readdir(folder).catch(() => [])).sort()) {
      const path = join(folder, name);
      const rel = relative(root, path);
      const own = await lstat(path).catch(() => undefined);
      if (!own) continue;
      const isLink = own.isSymbolicLink();
      if ((isLink && this.#options.ignoreSymlinks) || this.#options.ignored(rel)) {
        // Ignored folders are still searched, as in Salt: a rule names what it hides.
        if (own.isDirectory()) await this.#walk(root, path, into, trail);
        continue;
      }
      const target = isLink ? await stat(path).catch(() => undefined) : own;
      if (target?.isDirectory()) {
        into.dirs.add(rel);
        if ((await readdir(path).catch(() => ['?'])).length === 0) into.emptyDirs.add(rel);
        if (!isLink || this.#options.followSymlinks) await this.#walk(root, path, into, trail);
      } else into.files.add(rel);
      if (isLink) await this.#noteLink(root, path, rel, into);
    }
  }

  async #noteLink(root: string, path: string, rel: string, into: Collected): Promise<void> {
    const destination = await readlink(path).catch(() => undefined);
    if (destination === undefined) return;
    const target = resolve(dirname(path), destination);
    const real = await realpath(target).catch(() => target);
    const outside = relative(await realpath(root), real).startsWith('..');
    if (!outside || !this.#options.followSymlinks) into.links[rel] = destination;
  }
}

/** st_mode, st_ino, st_dev, st_nlink, st_uid, st_gid, st_size, st_atime, st_mtime, st_ctime. */
export function pythonStat(stats: import('node:fs').Stats): number[] {
  const whole = (ms: number): number => Math.floor(ms / 1000);
  const { mode, ino, dev, nlink, uid, gid, size, atimeMs, mtimeMs, ctimeMs } = stats;
  return [mode, ino, dev, nlink, uid, gid, size, whole(atimeMs), whole(mtimeMs), whole(ctimeMs)];
}
