// Finds users' own extension files: below `extension_modules` and in the `<kind>_dirs` folders.
import { type Dirent, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Value } from '../../base/codec/value.ts';
import { type Kind, userPlaces } from './kinds.ts';
import { pythonNames } from './python-names.ts';

export interface UserFile {
  /** File name without its extension: the module's name unless it declares another one. */
  readonly name: string;
  readonly path: string;
  /** Set for files in Python: the names it may have, and which version of the file this is. */
  readonly python?: { readonly names: readonly string[]; readonly dynamic: boolean; readonly version: string };
}

type Opts = Readonly<Record<string, Value>>;

/**
 * The folders of one kind, highest precedence first: explicit folders take precedence over synced files, as in Salt.
 */
export function userFolders(opts: Opts, kind: Kind): string[] {
  const { folder, option } = userPlaces[kind];
  return foldersOf(opts, option, folder);
}

/** The same for helper modules (`_utils`), which are no kind of their own. */
export const utilsFolders = (opts: Opts): string[] => foldersOf(opts, 'utils_dirs', 'utils');

function foldersOf(opts: Opts, option: string, folder: string): string[] {
  const folders: string[] = [];
  const listed = opts[option];
  if (Array.isArray(listed)) for (const item of listed) if (typeof item === 'string' && item) folders.push(item);
  const synced = opts['extension_modules'];
  if (typeof synced === 'string' && synced) folders.push(join(synced, folder));
  return folders;
}

/**
 * The files of one kind; of a name found twice, the first one counts. A file in TypeScript or JavaScript replaces one in
 * Python that has its name.
 */
export async function findUserFiles(folders: readonly string[]): Promise<UserFile[]> {
  const found = new Map<string, UserFile>();
  const python = new Map<string, string>();
  for (const folder of folders) {
    const entries = await entriesIn(folder);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      const name = /^([A-Za-z][\w-]*)\.(?:m?js|ts)$/.exec(entry.name)?.[1];
      if (name) {
        if (!found.has(name)) found.set(name, { name, path });
        continue;
      }
      const other = pythonName(entry, path);
      if (other !== undefined && !python.has(other)) python.set(other, path);
    }
  }
  for (const [name, path] of python) {
    if (found.has(name)) continue;
    const file = await pythonFile(name, path);
    if (file) found.set(name, file);
  }
  return [...found.values()];
}

/** The name of `name.py` or of a folder with `__init__.py`; names with `_` in front are no modules. */
function pythonName(entry: Dirent, path: string): string | undefined {
  const name = /^([A-Za-z0-9][\w-]*)\.py$/.exec(entry.name)?.[1];
  if (name !== undefined) return name;
  if (entry.isFile() || !/^[A-Za-z0-9][\w-]*$/.test(entry.name)) return undefined;
  return existsSync(join(path, '__init__.py')) ? entry.name : undefined;
}

async function pythonFile(name: string, path: string): Promise<UserFile | undefined> {
  try {
    return { name, path, python: await pythonNames(name, path) };
  } catch {
    // Removed since the folder was listed.
    return undefined;
  }
}

async function entriesIn(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // It is normal that a folder does not exist.
    return [];
  }
}
