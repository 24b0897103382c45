// Creates folders with owners and modes, and walks through them.

import { invocationError, type StateContext, type Value } from 'halite/sdk';
import { dirName, joinPath, mkdirSync, normalPath, osError, readdirSync } from 'halite/sdk/fs';
import { exists, isDir, lookAtLink } from './facts.ts';
import { setPerms } from './perms.ts';

export interface FolderOwner {
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
}

/** Creates one folder and its missing parents. */
export async function makeFolder(path: string, owner: FolderOwner, ctx: StateContext): Promise<void> {
  const target = normalPath(path);
  if (isDir(target)) return;
  const above = dirName(target);
  if (above !== '' && above !== target && !exists(above)) await makeFolder(above, owner, ctx);
  try {
    mkdirSync(target);
  } catch (error) {
    throw osError(error, target);
  }
  await setPerms(target, owner, ctx);
}

/** All parent folders of a path. */
export async function makeParents(path: string, owner: FolderOwner, ctx: StateContext): Promise<void> {
  const folder = normalPath(dirName(path));
  if (!folder.startsWith('/')) {
    throw invocationError(
      `Recursive creation for path '${folder}' would result in an infinite loop. Please use an absolute path.`,
    );
  }
  if (!exists(folder)) await makeFolder(folder, owner, ctx);
}

/** The mode of folders created for a file: users who may read the file may enter the folder. */
export function folderModeFor(mode: string | null): string | null {
  if (mode === null) return null;
  return [...mode.slice(-3)].map((digit) => (digit === '0' ? '0' : String(Number(digit) | 1))).join('');
}

export interface Walked {
  readonly root: string;
  readonly folders: string[];
  readonly files: string[];
}

/** os.walk from the top: links to folders are listed among the folders but not entered. */
export function* walk(top: string, maxDepth: number | null = null, depth = 0): Generator<Walked> {
  if (maxDepth !== null && depth >= maxDepth) return;
  let entries: string[];
  try {
    entries = readdirSync(top);
  } catch {
    return;
  }
  const folders: string[] = [];
  const files: string[] = [];
  for (const entry of entries) (isDir(joinPath(top, entry)) ? folders : files).push(entry);
  yield { root: top, folders, files };
  for (const folder of folders) {
    const path = joinPath(top, folder);
    if (!lookAtLink(path)?.isSymbolicLink()) yield* walk(path, maxDepth, depth + 1);
  }
}
