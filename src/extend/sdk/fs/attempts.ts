// Small synchronous reads of /proc, /sys and /etc: a missing or unreadable file is a value, not an error.
import { constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { isFolder, mayAccess } from '../../../base/util/fs-facts.ts';

export { isFile } from '../../../base/util/fs-facts.ts';

/** The text of a file, or undefined when it cannot be read. Invalid UTF-8 becomes replacement characters. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** First line of a small file, without surrounding white space. */
export function readTrimmed(path: string): string | undefined {
  return readText(path)?.trim();
}

export function listDir(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

export const isDirectory = (path: string): boolean => isFolder(path);
export const pathExists = (path: string): boolean => existsSync(path);

export const isWritable = (path: string): boolean => mayAccess(path, constants.W_OK);
export const isExecutable = (path: string): boolean => mayAccess(path, constants.X_OK);
