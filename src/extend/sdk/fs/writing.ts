// Changing files asynchronously: named as in node:fs/promises, but refused in test mode.
import * as fs from 'node:fs/promises';
import { replaceFile as replace } from '../../../base/util/replace-file.ts';
import { noteScratch } from '../read-only.ts';
import { assertMayChange, guarded, opensForWriting } from './guard.ts';

export const appendFile = guarded('append to', fs.appendFile);
export const chmod = guarded('change the mode of', fs.chmod);
export const chown = guarded('change the owner of', fs.chown);
export const copyFile = guarded('copy to', fs.copyFile, [1]);
export const mkdir = guarded('make the folder', fs.mkdir);
export const rename = guarded('rename', fs.rename, [0, 1]);
export const rm = guarded('remove', fs.rm);
export const rmdir = guarded('remove the folder', fs.rmdir);
export const symlink = guarded('link', fs.symlink, [1]);
export const truncate = guarded('cut', fs.truncate);
export const unlink = guarded('remove', fs.unlink);
export const utimes = guarded('change the times of', fs.utimes);
export const writeFile = guarded('write', fs.writeFile);
/** Writes a temporary file and renames it: readers see the old or the new content, never a part. */
export const replaceFile = guarded('write', replace);

export const open: typeof fs.open = (path, flags, mode) => {
  if (opensForWriting(flags)) assertMayChange('open for writing', path);
  return fs.open(path, flags, mode);
};

/** A new temporary folder, writable in test mode too. The caller removes it. */
export async function mkdtemp(prefix: string): Promise<string> {
  const folder = await fs.mkdtemp(prefix);
  noteScratch(folder);
  return folder;
}
