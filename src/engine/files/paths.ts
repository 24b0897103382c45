// Paths from peers: relative, normal and below a root, or they do not exist.
import { realpathSync } from 'node:fs';
import { join, normalize, sep } from 'node:path';

/** The normal form of a path below a file root; undefined for anything absolute, empty or climbing out. */
export function cleanRelative(path: unknown): string | undefined {
  if (typeof path !== 'string' || path === '' || path.includes('\0') || path.startsWith('/')) return undefined;
  const normal = normalize(path);
  if (normal === '.' || normal === '..' || normal.startsWith(`..${sep}`) || normal.startsWith('/')) return undefined;
  return normal.endsWith('/') ? normal.slice(0, -1) : normal;
}

/** An environment name may become part of a path (`__env__`): one plain component. */
export function isEnvironmentName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

/** Joins and checks; with `realpath` also after following symlinks. */
export function below(root: string, relative: string, realpath: boolean): string | undefined {
  const full = join(root, relative);
  if (!realpath) return full;
  try {
    const base = realpathSync(root);
    const target = realpathSync(full);
    return target === base || target.startsWith(base + sep) ? full : undefined;
  } catch {
    return undefined;
  }
}
