// Replaces small files atomically: readers never see a partial file, nobody can create the temporary name in advance,
// and the file has the requested mode, whatever file existed before.
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const draftOf = (path: string): string => join(dirname(path), `.halite-${randomBytes(9).toString('hex')}.new`);
/** A umask can only remove bits: a mode for the owner alone needs no chmod. */
const needsChmod = (mode: number): boolean => (mode & 0o077) !== 0;

/** The error with the name of the file: nobody knows that of the draft. */
function naming(path: string, draft: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const named = (text: string): string => text.replaceAll(`'${draft}' -> `, '').replaceAll(draft, path);
  error.message = named(error.message);
  error.stack = named(error.stack ?? '');
  return 'path' in error ? Object.assign(error, { path }) : error;
}

export async function replaceFile(path: string, content: Uint8Array | string, mode = 0o600): Promise<void> {
  const draft = draftOf(path);
  try {
    await writeFile(draft, content, { mode, flag: 'wx' });
    if (needsChmod(mode)) await chmod(draft, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw naming(path, draft, error);
  }
}

export function replaceFileNow(path: string, content: Uint8Array | string, mode = 0o600): void {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, content, { mode, flag: 'wx' });
    if (needsChmod(mode)) chmodSync(draft, mode);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw naming(path, draft, error);
  }
}

/** For secrets at paths that users name: follows links and preserves the owner of the file. */
export function replaceSecretNow(path: string, content: Uint8Array | string, mode = 0o600): void {
  const existing = statSync(path, { throwIfNoEntry: false });
  const place = existing ? realpathSync(path) : path;
  replaceFileNow(place, content, mode);
  if (existing && process.geteuid?.() === 0) chownSync(place, existing.uid, existing.gid);
}

/** A file, or a folder with its new names, to the disk: there after a power failure. */
export function flushNow(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
