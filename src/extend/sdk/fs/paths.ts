// Paths as Python's os.path treats them: pure text, with ~ for homes.
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { joinPath } from '../../../base/config/paths.ts';
import { matchesGlob } from '../../../base/util/fnmatch.ts';
import { userByName } from '../system/accounts.ts';
import { isDirectory } from './attempts.ts';
import { lstatOf } from './stat.ts';

export { joinPath } from '../../../base/config/paths.ts';

/** Expands `~/x` and `~user/x`; other paths are unchanged. */
export function expandUser(path: string): string {
  if (!path.startsWith('~')) return path;
  const slash = path.indexOf('/');
  const name = slash < 0 ? path.slice(1) : path.slice(1, slash);
  const home = name === '' ? (process.env['HOME'] ?? homedir()) : userByName(name)?.home;
  if (home === undefined) return path;
  return home.replace(/\/+$/, '') + (slash < 0 ? '' : path.slice(slash)) || '/';
}

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export function dirName(path: string): string {
  const head = path.slice(0, path.lastIndexOf('/') + 1);
  return /^\/+$/.test(head) ? head : head.replace(/\/+$/, '');
}

/** os.path.normpath. */
export function normalPath(path: string): string {
  if (path === '') return '.';
  const slashes = path.startsWith('/') ? (path.startsWith('//') && !path.startsWith('///') ? '//' : '/') : '';
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..' || (slashes === '' && kept.length === 0) || kept.at(-1) === '..') kept.push(part);
    else if (kept.length > 0) kept.pop();
  }
  return slashes + kept.join('/') || '.';
}

export const isAbsolutePath = (path: string): boolean => path.startsWith('/');

/** Python's glob.glob: existing paths that match; names with a leading dot only when the pattern has one. */
export function globPaths(pattern: string): string[] {
  if (!/[*?[]/.test(pattern)) return lstatOf(pattern) ? [pattern] : [];
  const folder = dirName(pattern);
  const name = baseName(pattern);
  const folders = /[*?[]/.test(folder) ? globPaths(folder).filter(isDirectory) : [folder];
  return folders.flatMap((base) => {
    if (!/[*?[]/.test(name)) {
      const path = joinPath(base, name);
      return (name === '' ? isDirectory(base) : lstatOf(path)) ? [path] : [];
    }
    let entries: string[];
    try {
      entries = readdirSync(base === '' ? '.' : base);
    } catch {
      return [];
    }
    const visible = name.startsWith('.') ? entries : entries.filter((entry) => !entry.startsWith('.'));
    return visible.filter((entry) => matchesGlob(entry, name)).map((entry) => joinPath(base, entry));
  });
}
