// Blobs of a repository as plain files named by their id: written once, shared by all commits, never changed.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { access, mkdir, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { HaliteError } from '../../../base/errors/index.ts';
import { withGit } from './cli.ts';

const graceMs = 3_600_000;

export class BlobStore {
  readonly folder: string;
  readonly #gitDir: string;
  readonly #known = new Set<string>();

  constructor(folder: string, gitDir: string) {
    this.folder = folder;
    this.#gitDir = gitDir;
  }

  path(sha: string): string {
    return join(this.folder, sha.slice(0, 2), sha);
  }

  /** Extracts the missing blobs from the repository, in one run of git. */
  async ensure(shas: Iterable<string>): Promise<void> {
    const missing: string[] = [];
    for (const sha of new Set(shas)) {
      if (this.#known.has(sha)) continue;
      if (await exists(this.path(sha))) this.#known.add(sha);
      else missing.push(sha);
    }
    if (missing.length === 0) return;
    await withGit(['cat-file', '--batch'], { gitDir: this.#gitDir, timeoutMs: 600_000 }, async (child) => {
      child.stdin.end(`${missing.join('\n')}\n`);
      await this.#receive(new BlobReader(child.stdout), missing);
    });
  }

  /** Removes unused blobs, except recent ones: a transfer may be using them. */
  async prune(live: ReadonlySet<string>): Promise<void> {
    for (const part of await readdir(this.folder).catch(() => [])) {
      for (const name of await readdir(join(this.folder, part)).catch(() => [])) {
        if (live.has(name)) continue;
        const path = join(this.folder, part, name);
        const found = await stat(path).catch(() => undefined);
        if (!found || Date.now() - found.ctimeMs < graceMs) continue;
        this.#known.delete(name);
        await unlink(path).catch(() => undefined);
      }
    }
  }

  async clear(): Promise<void> {
    this.#known.clear();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #receive(reader: BlobReader, shas: readonly string[]): Promise<void> {
    for (const sha of shas) {
      const header = (await reader.line()).split(' ');
      if (header[0] !== sha || header[1] !== 'blob') throw broken(`blob ${sha} is missing`);
      const path = this.path(sha);
      await mkdir(join(this.folder, sha.slice(0, 2)), { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
      try {
        await reader.copy(Number(header[2]), temporary);
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      this.#known.add(sha);
    }
  }
}

/** Reads the output of `git cat-file --batch`: a line, that many bytes, a line end. */
class BlobReader {
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#source = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async line(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf(10);
      if (end >= 0) {
        const text = this.#held.subarray(0, end).toString('latin1');
        this.#held = this.#held.subarray(end + 1);
        return text;
      }
      this.#held = Buffer.concat([this.#held, await this.#more()]);
    }
  }

  /** Writes the next bytes to a file and skips the line end after them. */
  async copy(size: number, path: string): Promise<void> {
    const file = createWriteStream(path, { mode: 0o600 });
    for (let left = size; left > 0; ) {
      if (this.#held.length === 0) this.#held = await this.#more();
      const chunk = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(chunk.length);
      left -= chunk.length;
      if (!file.write(chunk)) await once(file, 'drain');
    }
    file.end();
    await finished(file);
    if ((await this.line()) !== '') throw broken('an answer of git is longer than announced');
  }

  async #more(): Promise<Buffer> {
    const { done, value } = await this.#source.next();
    if (done) throw broken('git ended too early');
    return value;
  }
}

function broken(why: string): HaliteError {
  return new HaliteError('call.failed', `git cat-file: ${why}`);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
