// Tests on the file system that never throw: a file that cannot be inspected counts as absent.
import { accessSync, constants, lstatSync, type Stats, statSync } from 'node:fs';

function look(stat: () => Stats): Stats | undefined {
  try {
    return stat();
  } catch {
    return undefined;
  }
}

export const isFile = (path: string): boolean => look(() => statSync(path))?.isFile() === true;

export const isFolder = (path: string): boolean => look(() => statSync(path))?.isDirectory() === true;

/** True for dangling links too. */
export const exists = (path: string): boolean => look(() => lstatSync(path)) !== undefined;

export function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
