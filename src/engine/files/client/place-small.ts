// Writes a small file without using the thread pool: many of them in a row take a fraction of the time.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fchownSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Larger ones use the thread pool: other work in the process does not wait for the disk. */
export const smallBytes = 256 * 1024;

export function statNow(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Whether the folder exists now; false when a file blocks its path. */
export function makeFolderNow(folder: string, mode: number): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode });
    return true;
  } catch {
    return false;
  }
}

/** Written to a temporary file, then renamed; false for devices and pipes, which are written to in another way. */
export function placeNow(place: string, bytes: Uint8Array, mode: number): boolean {
  const dest = realPath(place);
  const existing = statNow(dest);
  if (existing && !existing.isFile()) return false;
  const part = join(dirname(dest), `.${basename(dest).slice(0, 150)}.${randomBytes(6).toString('hex')}.part`);
  // A file that replaces a private one is never readable by others, not even while it is written.
  const handle = openSync(part, 'wx', existing ? 0o600 : mode);
  try {
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(handle, bytes, done);
      if (existing) takeOver(handle, existing);
    } finally {
      closeSync(handle);
    }
    renameSync(part, dest);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
  return true;
}

function takeOver(handle: number, existing: Stats): void {
  try {
    fchownSync(handle, existing.uid, existing.gid);
  } catch {
    // Without the right to change owners the new file belongs to the current user.
  }
  fchmodSync(handle, existing.mode & 0o7777);
}
