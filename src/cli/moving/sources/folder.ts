// A master on a disk of this machine: its own one, a mounted one (`root`), or an unpacked archive.
import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../base/errors/index.ts';
import { snapshotDatabase } from '../history/snapshot.ts';
import { placeBelow } from './inside.ts';
import { bounds, Listing, outermost, type Source, type SourceFile, type Take } from './source.ts';

export interface FolderOptions {
  readonly name: string;
  readonly configDir: string;
  /** The folder that was `/` of that machine. */
  readonly root: string;
  /** What an archive says about a file that was unpacked with other rights. */
  readonly facts?: ReadonlyMap<string, { readonly mode: number; readonly owner: string }>;
  close?(): Promise<void>;
}

export class FolderSource implements Source {
  readonly name: string;
  readonly configDir: string;
  readonly notes: string[] = [];
  readonly #options: FolderOptions;

  constructor(options: FolderOptions) {
    this.#options = options;
    this.name = options.name;
    this.configDir = options.configDir;
  }

  /** The folder that was `/` of that machine. */
  get root(): string {
    return this.#options.root;
  }

  async list(paths: readonly string[]): Promise<SourceFile[]> {
    const wanted = outermost(paths);
    const listing = new Listing(this.name, wanted);
    for (const path of wanted) for (const found of this.#walk(path, [])) await this.#add(listing, found);
    return listing.files;
  }

  async #add(listing: Listing, { path, place }: Found): Promise<void> {
    try {
      const stat = statSync(place);
      const said = this.#options.facts?.get(place);
      const sha256 = await hashOf(place);
      listing.add({
        path,
        size: stat.size,
        mode: said?.mode ?? stat.mode & 0o777,
        owner: said?.owner ?? String(stat.uid),
        sha256,
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === undefined || !('syscall' in (error as object))) throw error;
      this.notes.push(`${path} could not be read: ${messageOf(error)}`);
    }
  }

  *#walk(path: string, above: readonly string[]): Generator<Found> {
    const place = placeBelow(this.#options.root, path);
    const stat = place === undefined ? undefined : statSync(place, { throwIfNoEntry: false });
    if (place === undefined || !stat) return;
    if (stat.isFile()) yield { path, place };
    if (!stat.isDirectory()) return;
    if (above.includes(place) || above.length >= bounds.depth) {
      this.notes.push(`${path} contains itself, or is deeper than ${bounds.depth} folders`);
      return;
    }
    for (const name of readdirSync(place).sort()) yield* this.#walk(join(path, name), [...above, place]);
  }

  async read(files: readonly SourceFile[], take: Take): Promise<void> {
    for (const file of files) {
      const place = placeBelow(this.#options.root, file.path);
      if (place !== undefined) await take(file, createReadStream(place));
    }
  }

  async host(): Promise<string> {
    const place = placeBelow(this.#options.root, '/etc/hostname');
    return place === undefined ? '' : (await readFile(place, 'utf8').catch(() => '')).trim();
  }

  async snapshot(database: string, to: string): Promise<true | string> {
    const place = placeBelow(this.#options.root, database);
    return place === undefined ? `${database} does not exist` : snapshotDatabase(place, to);
  }

  async close(): Promise<void> {
    await this.#options.close?.();
  }
}

interface Found {
  readonly path: string;
  readonly place: string;
}

export async function hashOf(place: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(place)) hash.update(part as Buffer);
  return hash.digest('hex');
}
