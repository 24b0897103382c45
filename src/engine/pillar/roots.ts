// The pillar folders as a file source: SLS by name, files by URL, lists only for patterns.
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { compareText } from '../../base/codec/json/index.ts';
import { isFile } from '../../base/util/fs-facts.ts';
import { globMatcher, hasGlob } from '../../base/util/index.ts';
import type { FileSource, SourceFile } from '../render/index.ts';

export interface StateFile {
  /** `salt://web/init.sls`. */
  readonly source: string;
  readonly path: string;
}

export type PillarRootsMap = Readonly<Record<string, readonly string[]>>;

const scheme = 'salt://';

export class PillarRoots implements FileSource {
  readonly #roots: PillarRootsMap;
  /** Folders that are not entered, by their name. */
  readonly #ignored: (name: string) => boolean;
  /** Names of all SLS of an environment, listed once per compilation. */
  readonly #names = new Map<string, Promise<readonly string[]>>();

  constructor(roots: PillarRootsMap, ignored: (name: string) => boolean) {
    this.#roots = roots;
    this.#ignored = ignored;
  }

  folders(saltenv: string): readonly string[] | undefined {
    return Object.hasOwn(this.#roots, saltenv) ? this.#roots[saltenv] : undefined;
  }

  /** `base` is always included, first; then the others as configured. */
  environments(): string[] {
    return ['base', ...Object.keys(this.#roots).filter((name) => name !== 'base')];
  }

  /** Names may come from grains through a template, so none may leave a folder. */
  async cacheFile(url: string, saltenv: string): Promise<SourceFile | undefined> {
    const rest = url.startsWith(scheme) ? url.slice(scheme.length) : url;
    const relative = posix.normalize(rest.replace(/^\|/, ''));
    if (relative.includes('\0') || relative === '..' || relative.startsWith('../')) return undefined;
    for (const root of this.folders(saltenv) ?? []) {
      const path = join(root, relative);
      // Compilations have their own thread, where synchronous disk access is cheaper than asynchronous access.
      if (isFile(path)) return { path };
    }
    return undefined;
  }

  /** The file of an SLS: `a.b` is `a/b.sls` or `a/b/init.sls`. */
  async state(sls: string, saltenv: string): Promise<StateFile | undefined> {
    const base = sls.replaceAll('.', '/');
    for (const file of [`${base}.sls`, `${base}/init.sls`]) {
      const found = await this.cacheFile(scheme + file, saltenv);
      if (found) return { source: scheme + file, path: found.path };
    }
    return undefined;
  }

  /**
   * Names of SLS that match a pattern; undefined for an environment that does not exist. A name without wildcards needs
   * no list: it matches itself when it exists.
   */
  async matching(pattern: string, saltenv: string): Promise<readonly string[] | undefined> {
    if (this.folders(saltenv) === undefined && saltenv !== 'base') return undefined;
    if (!hasGlob(pattern)) {
      // No listed name contains a slash or an empty part.
      const isListable = !pattern.includes('/') && !pattern.split('.').includes('');
      return isListable && (await this.state(pattern, saltenv)) ? [pattern] : [];
    }
    const fits = globMatcher(pattern);
    return (await this.#list(saltenv)).filter((name) => fits(name));
  }

  #list(saltenv: string): Promise<readonly string[]> {
    let names = this.#names.get(saltenv);
    if (!names) {
      names = this.#walkAll(saltenv);
      this.#names.set(saltenv, names);
    }
    return names;
  }

  async #walkAll(saltenv: string): Promise<readonly string[]> {
    const names = new Set<string>();
    for (const root of this.folders(saltenv) ?? []) await this.#walk(root, '', [], names);
    return [...names].sort(compareText);
  }

  /** `trail` are the real parent folders, so that a link to one of them is not followed endlessly. */
  async #walk(root: string, below: string, trail: readonly string[], names: Set<string>): Promise<void> {
    const folder = join(root, below);
    const here = await realpath(folder).catch(() => undefined);
    if (here === undefined || trail.includes(here)) return;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const relative = below === '' ? entry.name : `${below}/${entry.name}`;
      const isFolder = entry.isSymbolicLink()
        ? ((await stat(join(root, relative)).catch(() => undefined))?.isDirectory() ?? false)
        : entry.isDirectory();
      if (isFolder) {
        if (!this.#ignored(entry.name)) await this.#walk(root, relative, [...trail, here], names);
      } else if (relative.endsWith('.sls')) {
        names.add(relative.replace(/(?:\/init)?\.sls$/, '').replaceAll('/', '.'));
      }
    }
  }
}
