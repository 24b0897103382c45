// Replaces small files in one step: nobody sees half of one, nobody can prepare the name it is written under, and the mode
// is the one that was asked for, whatever file was there before.
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chmod, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const draftOf = (path: string): string => join(dirname(path), `.halite-${randomBytes(9).toString('hex')}.new`);
/** A umask can only take bits away: what is for the owner alone needs no second look. */
const needsChmod = (mode: number): boolean => (mode & 0o077) !== 0;

export async function replaceFile(path: string, content: Uint8Array | string, mode = 0o600): Promise<void> {
  const draft = draftOf(path);
  try {
    await writeFile(draft, content, { mode, flag: 'wx' });
    if (needsChmod(mode)) await chmod(draft, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
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
    throw error;
  }
}

/** For secrets at places people name: links are followed, and who owned the file before owns it still. */
export function replaceSecretNow(path: string, content: Uint8Array | string, mode = 0o600): void {
  const existing = statSync(path, { throwIfNoEntry: false });
  const place = existing ? realpathSync(path) : path;
  replaceFileNow(place, content, mode);
  if (existing && process.geteuid?.() === 0) chownSync(place, existing.uid, existing.gid);
}
