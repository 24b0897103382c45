// Tests on the file system that never throw: a file that cannot be inspected counts as absent.
import { accessSync, constants, lstatSync, type Stats, statSync } from 'node:fs';

function look(stat: () => Stats | undefined): Stats | undefined {
  try {
    return stat();
  } catch {
    return undefined;
  }
}

export const isFile = (path: string): boolean =>
  look(() => statSync(path, { throwIfNoEntry: false }))?.isFile() === true;

export const isFolder = (path: string): boolean =>
  look(() => statSync(path, { throwIfNoEntry: false }))?.isDirectory() === true;

/** True for dangling links too. */
export const exists = (path: string): boolean => look(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined;

export function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

export const isReadable = (path: string): boolean => mayAccess(path, constants.R_OK);
