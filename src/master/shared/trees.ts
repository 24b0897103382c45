// The files below some folders with the digests of their content, which are remembered while size and time stay.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

export interface Listed {
  readonly path: string;
  readonly digest: string;
}

const mostFiles = 100_000;
/** Larger files are compared by their size. */
const longest = 256 * 1024 * 1024;
const deepest = 64;

interface Remembered {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
  readonly digest: string;
}

export class Trees {
  readonly #known = new Map<string, Remembered>();

  /** The first folder that has a path serves it. Folders that are missing have no files. */
  async list(folders: readonly string[]): Promise<Listed[]> {
    const found = new Map<string, string>();
    for (const folder of folders) {
      for await (const path of walk(folder, '', 0)) {
        if (found.size >= mostFiles) break;
        if (found.has(path)) continue;
        const digest = await this.#digestOf(join(folder, path)).catch(() => undefined);
        if (digest !== undefined) found.set(path, digest);
      }
    }
    return [...found].map(([path, digest]) => ({ path, digest })).sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async #digestOf(file: string): Promise<string> {
    const { size, mtimeMs, ino } = await stat(file);
    const known = this.#known.get(file);
    if (known && known.size === size && known.mtimeMs === mtimeMs && known.ino === ino) return known.digest;
    const digest = size > longest ? `size ${size}` : await contentOf(file);
    if (this.#known.size >= mostFiles) this.#known.clear();
    this.#known.set(file, { size, mtimeMs, ino, digest });
    return digest;
  }
}

async function contentOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('base64url');
}

async function* walk(folder: string, below: string, depth: number): AsyncIterable<string> {
  const found = await opendir(join(folder, below)).catch(() => undefined);
  if (!found || depth > deepest) return;
  for await (const entry of found) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory() && entry.name !== '.git') yield* walk(folder, path, depth + 1);
    else if (entry.isFile()) yield path;
  }
}

export function treeDigest(list: readonly Listed[]): string {
  const hash = createHash('sha256');
  for (const { path, digest } of list) hash.update(`${path.length} ${path} ${digest}\n`);
  return hash.digest('base64url').slice(0, 22);
}
