// Changing files synchronously (`…Sync`): named as in node:fs, but refused in test mode.
import * as fs from 'node:fs';
import { replaceFileNow as replaceNow, replaceSecretNow as replaceSecret } from '../../../base/util/replace-file.ts';
import { noteScratch } from '../read-only.ts';
import { assertMayChange, guarded, opensForWriting } from './guard.ts';

// Writing through a descriptor needs no check: opening the file was checked.
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
/** Writes a temporary file and renames it: readers see the old or the new content, never a part. */
export const replaceFileNow = guarded('write', replaceNow);
/** The same for secrets, which nobody else may read at any time. */
export const replaceSecretNow = guarded('write', replaceSecret);

export const copyFileSync = guarded('copy to', fs.copyFileSync, [1]);
export const cpSync = guarded('copy to', fs.cpSync, [1]);
export const linkSync = guarded('link', fs.linkSync, [1]);
export const symlinkSync = guarded('link', fs.symlinkSync, [1]);

export const openSync: typeof fs.openSync = (path, flags, mode) => {
  if (opensForWriting(flags)) assertMayChange('open for writing', path);
  return fs.openSync(path, flags, mode);
};

/** A new temporary folder, writable in test mode too. The caller removes it. */
export function mkdtempSync(prefix: string): string {
  const folder = fs.mkdtempSync(prefix);
  noteScratch(folder);
  return folder;
}
