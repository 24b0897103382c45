// Finds users' own extension files: below `extension_modules` and in the `<kind>_dirs` folders.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Value } from '../../base/codec/value.ts';
import { type Kind, userPlaces } from './kinds.ts';

export interface UserFile {
  /** File name without its extension: the module's name unless it declares another one. */
  readonly name: string;
  readonly path: string;
}

type Opts = Readonly<Record<string, Value>>;

/**
 * The folders of one kind, highest precedence first: explicit folders take precedence over synced files, as in Salt.
 */
export function userFolders(opts: Opts, kind: Kind): string[] {
  const { folder, option } = userPlaces[kind];
  const folders: string[] = [];
  const listed = opts[option];
  if (Array.isArray(listed)) for (const item of listed) if (typeof item === 'string' && item) folders.push(item);
  const synced = opts['extension_modules'];
  if (typeof synced === 'string' && synced) folders.push(join(synced, folder));
  return folders;
}

/** The files of one kind; of a name found twice, the first one counts. */
export async function findUserFiles(folders: readonly string[]): Promise<UserFile[]> {
  const found = new Map<string, UserFile>();
  for (const folder of folders) {
    for (const file of (await namesIn(folder)).sort()) {
      const name = /^([A-Za-z][\w-]*)\.(?:m?js|ts)$/.exec(file)?.[1];
      if (name && !found.has(name)) found.set(name, { name, path: join(folder, file) });
    }
  }
  return [...found.values()];
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    // It is normal that a folder does not exist.
    return [];
  }
}
