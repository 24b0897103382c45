// Salt's default folders, and path joining as in Python.
import { homedir } from 'node:os';
import { normalize, resolve } from 'node:path';

export const defaultRootDir = '/';
export const defaultConfigDir = '/etc/salt';

/** Python's normpath: no trailing slash. */
function normPath(path: string): string {
  const clean = normalize(path);
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
}

/** os.path.join: an absolute part discards the previous ones. */
export function joinPath(first: string, ...parts: readonly string[]): string {
  let path = first;
  for (const part of parts) {
    if (part.startsWith('/')) path = part;
    else path += path === '' || path.endsWith('/') ? part : `/${part}`;
  }
  return path;
}

/** Salt's own join: a second part that looks absolute goes below the first. */
export function joinBelow(base: string, part: string): string {
  return normPath(joinPath(normPath(base), normPath(part).replace(/^\/+/, '')));
}

/** `~` and `~/…` become the home folder; `~name` stays as it is. */
export function expandHome(path: string, home: string = homedir()): string {
  return path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
}

export function absolutePath(path: string): string {
  return resolve(path);
}
