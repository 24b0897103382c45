// Replaces a file atomically: written to a temporary file first, compared with its digest, then renamed.
import { type Hash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FileHash } from '../../../extend/sdk/index.ts';
import { hashFile, isHashType, newHash } from '../hashes.ts';

export interface Placement {
  readonly dest: string;
  /** The expected hash of the content, when it is known. */
  readonly expected?: FileHash | undefined;
  /** Mode of a new file; an existing one keeps its own, and its owner. */
  readonly mode: number;
  /** Whether an interrupted transfer keeps its partial file, to resume it next time. */
  readonly resumable: boolean;
}

/** The temporary file while it is being filled. */
export interface Part {
  readonly path: string;
  readonly handle: FileHandle;
  /** Number of bytes that are already there. */
  readonly from: number;
  readonly hash: Hash | undefined;
  /** False for devices and pipes, which can only be written sequentially. */
  readonly seekable: boolean;
}

/** Writes the missing bytes from `part.from` on, and passes every byte through `part.hash`. */
export type Fill = (part: Part) => Promise<void>;

/** Chunks of the file from a position on. */
export type Chunks = (from: number) => AsyncIterable<Uint8Array>;

const staleMs = 24 * 3_600_000;
const readBytes = 1 << 20;

/** Writes what `fill` provides. False when the content does not match; nothing has then changed. */
export async function placeFile(placement: Placement, fill: Fill): Promise<boolean> {
  const dest = await realpath(placement.dest).catch(() => placement.dest);
  const existing = await stat(dest).catch(() => undefined);
  // A device or pipe is written to, not replaced.
  if (existing && !existing.isFile()) return writeInto(dest, fill);
  const { path, handle } = await openPart(dest, placement, existing);
  let good = false;
  try {
    good = await fillAndCheck(path, handle, placement, fill);
    if (good && existing) await takeOver(handle, existing);
  } catch (error) {
    if (!placement.resumable) await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  if (!good) {
    await rm(path, { force: true });
    return false;
  }
  return finish(path, dest, placement);
}

/** Another job may have fetched the same file at the same time: both wrote the same bytes, and one renames first. */
async function finish(part: string, dest: string, { expected }: Placement): Promise<boolean> {
  try {
    await rename(part, dest);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !expected) throw error;
    return (await hashFile(dest, expected.hash_type).catch(() => '')) === expected.hsum;
  }
}

async function fillAndCheck(path: string, handle: FileHandle, placement: Placement, fill: Fill): Promise<boolean> {
  const { expected } = placement;
  const hash = expected && isHashType(expected.hash_type) ? newHash(expected.hash_type) : undefined;
  const from = placement.resumable ? await hashExisting(handle, hash) : 0;
  await fill({ path, handle, from, hash, seekable: true });
  return !hash || hash.digest('hex') === expected?.hsum;
}

/** Fills a partial file from sequential chunks. */
export function fromChunks(chunks: Chunks): Fill {
  return async ({ handle, from, hash, seekable }) => {
    let position = from;
    let writing: Promise<unknown> = Promise.resolve();
    try {
      for await (const chunk of chunks(from)) {
        // The next chunk is awaited while this one is written; in order, so that a partial file has no gaps.
        await writing;
        writing = writeAll(handle, chunk, seekable ? position : null);
        writing.catch(() => undefined);
        hash?.update(chunk);
        position += chunk.length;
      }
    } finally {
      await writing.catch(() => undefined);
    }
    await writing;
  };
}

async function writeAll(handle: FileHandle, chunk: Uint8Array, position: number | null): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const at = position === null ? null : position + done;
    done += (await handle.write(chunk, done, chunk.length - done, at)).bytesWritten;
  }
}

/** The partial file of an earlier, interrupted transfer: its length, and its content in the hash. */
async function hashExisting(handle: FileHandle, hash: Hash | undefined): Promise<number> {
  const { size } = await handle.stat();
  if (size === 0) return 0;
  const buffer = Buffer.allocUnsafe(Math.min(readBytes, size + 1));
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return position;
    hash?.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}

/**
 * The file to fill, accessible only to us: with a name that nobody can prepare, or the partial file of an earlier
 * transfer.
 */
async function openPart(
  dest: string,
  placement: Placement,
  existing: Stats | undefined,
): Promise<Pick<Part, 'path' | 'handle'>> {
  const { expected, resumable } = placement;
  const folder = dirname(dest);
  const name = basename(dest).slice(0, 150);
  // A file that replaces a private one is never readable by others, not even while it is written.
  const mode = existing ? 0o600 : placement.mode;
  if (resumable && expected) {
    const own = `.${name}.${expected.hsum.slice(0, 24)}.part`;
    await removeStale(folder, name, own);
    const path = join(folder, own);
    const handle = await openOwn(path, mode);
    if (handle) return { path, handle };
  }
  const path = join(folder, `.${name}.${randomBytes(6).toString('hex')}.part`);
  return { path, handle: await open(path, 'wx+', mode) };
}

/**
 * A partial file that can be resumed is found by its name, which depends on path and content. In a folder others may
 * write to another user may have created a link or a file with that name: then it is not used.
 */
async function openOwn(path: string, mode: number): Promise<FileHandle | undefined> {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  const handle = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode).catch(() => undefined);
  if (!handle) return undefined;
  const found = await handle.stat();
  const ours = found.isFile() && found.nlink === 1 && found.uid === process.geteuid?.() && (found.mode & 0o022) === 0;
  if (ours) return handle;
  await handle.close();
  return undefined;
}

/** Partial files of other versions of the file, which are never resumed. */
async function removeStale(folder: string, name: string, own: string): Promise<void> {
  for (const other of await readdir(folder).catch(() => [])) {
    if (other === own || !other.startsWith(`.${name}.`) || !/\.[0-9a-f]{24}\.part$/.test(other)) continue;
    const found = await stat(join(folder, other)).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > staleMs) await unlink(join(folder, other)).catch(() => undefined);
  }
}

async function takeOver(handle: FileHandle, existing: Stats): Promise<void> {
  // Without the right to change owners the new file belongs to the current user.
  await handle.chown(existing.uid, existing.gid).catch(() => undefined);
  await handle.chmod(existing.mode & 0o7777);
}

async function writeInto(dest: string, fill: Fill): Promise<boolean> {
  const handle = await open(dest, 'w');
  try {
    await fill({ path: dest, handle, from: 0, hash: undefined, seekable: false });
    return true;
  } finally {
    await handle.close();
  }
}

/** Creates a folder of the cache; a file below `top` that blocks its path is removed. */
export async function makeCacheFolder(folder: string, top: string): Promise<void> {
  for (;;) {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return;
    } catch (error) {
      const blocking = await firstFile(folder, top);
      if (blocking === undefined) throw error;
      await unlink(blocking);
    }
  }
}

async function firstFile(folder: string, top: string): Promise<string | undefined> {
  for (let at = folder; at.startsWith(`${top}/`); at = dirname(at)) {
    const found = await lstat(at).catch(() => undefined);
    if (found) return found.isDirectory() ? undefined : at;
  }
  return undefined;
}
