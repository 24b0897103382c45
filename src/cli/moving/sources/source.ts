// Where a master is read from: another host, a folder or an archive. What it says is hostile input: a list is checked
// before anything is read, and only what was asked for is taken.
import { isAbsolute, normalize } from 'node:path';
import { HaliteError } from '../../../base/errors/index.ts';
import { isInside } from '../../../base/util/safe-join.ts';
import { visibleLine } from '../../../base/util/visible.ts';

/** A regular file at the source; links have been followed there. */
export interface SourceFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  readonly owner: string;
  readonly sha256: string;
}

export type Take = (file: SourceFile, content: AsyncIterable<Uint8Array>) => Promise<void>;

export interface Source {
  /** As the operator wrote it. */
  readonly name: string;
  /** The folder of its configuration. */
  readonly configDir: string;
  /** Files at or below these paths; a path that does not exist gives none. */
  list(paths: readonly string[]): Promise<SourceFile[]>;
  read(files: readonly SourceFile[], take: Take): Promise<void>;
  /** Its host name, when it has one. */
  host(): Promise<string>;
  /** Writes a consistent copy of its job history to a local file; a text is the reason why not. */
  snapshot(database: string, to: string): Promise<true | string>;
  /** What could not be read, for the report. */
  readonly notes: readonly string[];
  close(): Promise<void>;
}

/** Far above any real master; a list that is longer is an attack or a mistake. */
export const bounds = { files: 500_000, pathBytes: 4096, depth: 64, bytes: 64 * 1024 ** 3 };

/** The entries of a list, each checked: below a wanted path, in plain form, within the bounds. */
export class Listing {
  readonly files: SourceFile[] = [];
  readonly #wanted: readonly string[];
  readonly #name: string;
  readonly #seen = new Set<string>();
  #bytes = 0;

  constructor(name: string, wanted: readonly string[]) {
    this.#name = name;
    this.#wanted = wanted;
  }

  /** Whether a name may be in the list at all. */
  check(path: string): void {
    const shown = visibleLine(path.slice(0, 200));
    const plain = isAbsolute(path) && normalize(path) === path && Buffer.byteLength(path) <= bounds.pathBytes;
    if (!plain || /[\p{Cc}\p{Zl}\p{Zp}\ufffd]/u.test(path))
      throw this.#refused(`a name that is not acceptable: ${shown}`);
    if (!this.#wanted.some((folder) => isInside(folder, path)))
      throw this.#refused(`${shown}, which was not asked for`);
  }

  add(file: SourceFile): void {
    const { path, size } = file;
    this.check(path);
    if (this.#seen.has(path)) return;
    this.#bytes += size;
    if (!Number.isSafeInteger(size) || size < 0 || this.#bytes > bounds.bytes)
      throw this.#refused(`more than ${bounds.bytes} bytes`);
    if (this.files.length >= bounds.files) throw this.#refused(`more than ${bounds.files} files`);
    if (!/^[0-9a-f]{64}$/.test(file.sha256)) throw this.#refused(`no SHA-256 sum of ${visibleLine(path)}`);
    this.#seen.add(path);
    this.files.push(file);
  }

  #refused(what: string): HaliteError {
    return new HaliteError('path.refused', `${this.#name} lists ${what}; nothing was taken from it`);
  }
}

/** Of two paths where one contains the other, the outer one is enough. */
export function outermost(paths: readonly string[]): string[] {
  const unique = [...new Set(paths)].sort((a, b) => a.length - b.length);
  return unique.filter((path, at) => !unique.slice(0, at).some((outer) => isInside(outer, path)));
}
