// Changing files at once (`…Sync`): as node:fs names it, but refused in test mode.
import * as fs from 'node:fs';
import { replaceFileNow as replaceNow, replaceSecretNow as replaceSecret } from '../../../base/util/replace-file.ts';
import { noteScratch } from '../read-only.ts';
import { assertMayChange, guarded, opensForWriting } from './guard.ts';

// Only what was opened, and so was asked about, can be written through a descriptor.
export { closeSync, writeSync } from 'node:fs';

export const appendFileSync = guarded('append to', fs.appendFileSync);
export const chmodSync = guarded('change the mode of', fs.chmodSync);
export const chownSync = guarded('change the owner of', fs.chownSync);
export const lchownSync = guarded('change the owner of', fs.lchownSync);
export const mkdirSync = guarded('make the folder', fs.mkdirSync);
export const renameSync = guarded('rename', fs.renameSync, [0, 1]);
export const rmdirSync = guarded('remove the folder', fs.rmdirSync);
export const rmSync = guarded('remove', fs.rmSync);
export const truncateSync = guarded('cut', fs.truncateSync);
export const unlinkSync = guarded('remove', fs.unlinkSync);
export const utimesSync = guarded('change the times of', fs.utimesSync);
export const writeFileSync = guarded('write', fs.writeFileSync);
/** Writes beside the file and takes its place: readers see the old or the new content, never a part. */
export const replaceFileNow = guarded('write', replaceNow);
/** The same for secrets, which nobody else may read at any moment. */
export const replaceSecretNow = guarded('write', replaceSecret);

export const copyFileSync = guarded('copy to', fs.copyFileSync, [1]);
export const cpSync = guarded('copy to', fs.cpSync, [1]);
export const linkSync = guarded('link', fs.linkSync, [1]);
export const symlinkSync = guarded('link', fs.symlinkSync, [1]);

export const openSync: typeof fs.openSync = (path, flags, mode) => {
  if (opensForWriting(flags)) assertMayChange('open for writing', path);
  return fs.openSync(path, flags, mode);
};

/** A new empty folder for work in progress, writable in test mode too. Whoever makes it removes it. */
export function mkdtempSync(prefix: string): string {
  const folder = fs.mkdtempSync(prefix);
  noteScratch(folder);
  return folder;
}
