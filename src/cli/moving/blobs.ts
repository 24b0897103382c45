// Contents that have been fetched, by their SHA-256 sum: a move that was interrupted does not fetch them again.
import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Source, SourceFile } from './sources/source.ts';

export class Blobs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  path(sha256: string): string {
    return join(this.#folder, sha256);
  }

  has(sha256: string): boolean {
    return existsSync(this.path(sha256));
  }

  /** Fetches what is missing; returns the files whose content was not what the list said, because they changed. */
  async fetch(source: Source, files: readonly SourceFile[]): Promise<SourceFile[]> {
    const wanted = new Map(files.map((file) => [file.sha256, file]));
    const missing = [...wanted.values()].filter(({ sha256 }) => !this.has(sha256));
    const got = new Set<string>();
    if (missing.length > 0) {
      await source.read(missing, async (file, content) => {
        if (await this.#store(file, content)) got.add(file.path);
      });
    }
    return missing.filter(({ path }) => !got.has(path));
  }

  async #store({ sha256, size }: SourceFile, content: AsyncIterable<Uint8Array>): Promise<boolean> {
    const draft = join(this.#folder, `.draft-${randomBytes(6).toString('hex')}`);
    const hash = createHash('sha256');
    let bytes = 0;
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const part of content) {
        bytes += part.length;
        // A file that grows without end does not fill the disk.
        if (bytes > size) continue;
        hash.update(part);
        yield part;
      }
    };
    try {
      await pipeline(counted, createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true } as object));
      if (bytes !== size || hash.digest('hex') !== sha256) return false;
      renameSync(draft, this.path(sha256));
      return true;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
