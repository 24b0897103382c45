// Files that match a path pattern, as Python's glob finds them.
import { readdirSync } from 'node:fs';
import { globMatcher, hasGlob } from '../util/fnmatch.ts';
import { exists, isFolder } from '../util/fs-facts.ts';
import { joinPath } from './paths.ts';

/** Sorted; entries that start with a dot match only patterns that do. */
export function globFiles(pattern: string): string[] {
  if (!hasGlob(pattern)) return exists(pattern) ? [pattern] : [];
  const rooted = pattern.startsWith('/');
  const parts = pattern.split('/').filter((part) => part !== '');
  let found = [rooted ? '/' : ''];
  parts.forEach((part, at) => {
    const last = at === parts.length - 1;
    found = found.flatMap((folder) => step(folder, part, last));
  });
  return found.sort();
}

function step(folder: string, part: string, last: boolean): string[] {
  if (!hasGlob(part)) {
    const path = joinPath(folder, part);
    return last ? (exists(path) ? [path] : []) : isFolder(path) ? [path] : [];
  }
  const matches = globMatcher(part);
  return names(folder)
    .filter((name) => (part.startsWith('.') || !name.startsWith('.')) && matches(name))
    .map((name) => joinPath(folder, name))
    .filter((path) => last || isFolder(path));
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder === '' ? '.' : folder);
  } catch {
    return [];
  }
}
