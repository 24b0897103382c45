// Places path options below `root_dir`.
import { isAbsolute } from 'node:path';
import type { PlainDict } from '../codec/value.ts';
import { absolutePath, defaultRootDir, joinBelow } from './paths.ts';

/** A log target such as `udp://host` is not a path. */
export function isPlainPath(value: unknown): value is string {
  return typeof value === 'string' && !/^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(value);
}

const startsBelow = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

/** Puts one path below the root folder; a path that is already there stays unchanged. */
export function belowRoot(rootDir: string, path: string): string {
  const root = absolutePath(rootDir);
  const defaultRoot = defaultRootDir.replace(/\/+$/, '');
  const fromDefault = startsBelow(path, defaultRoot) ? path.slice(defaultRoot.length) : '';
  const fromRoot = startsBelow(path, root) ? path.slice(root.length) : '';
  let rest = path;
  // Of two matching prefixes the longer one counts.
  if (fromDefault && fromRoot) rest = root.includes(defaultRoot) ? fromRoot : fromDefault;
  else if (fromDefault || fromRoot) rest = fromDefault || fromRoot;
  else if (isAbsolute(path)) return path;
  return joinBelow(root, rest);
}

/** The same for the named options that are set. */
export function prependRootDir(opts: PlainDict, names: readonly string[]): void {
  for (const name of names) {
    const path = opts[name];
    if (typeof path === 'string') opts[name] = belowRoot(String(opts['root_dir'] ?? defaultRootDir), path);
  }
}
