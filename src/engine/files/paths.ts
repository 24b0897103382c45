// Paths from peers: relative, normalized and below a root, or they are refused.
import { realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { isInside } from '../../base/util/safe-join.ts';

/**
 * The normalized form of a path below a root; undefined for an absolute, empty or escaping one. It is rebuilt from
 * plain components, so that it contains only names.
 */
export function cleanRelative(path: unknown): string | undefined {
  if (typeof path !== 'string' || path.startsWith('/') || path.includes('\0')) return undefined;
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') return undefined;
    if (name !== '' && name !== '.') names.push(name);
  }
  return names.length === 0 ? undefined : names.join('/');
}

/** An environment name may become part of a path (`__env__`, the minion's cache): plain components, as a git branch has. */
export function isEnvironmentName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && cleanRelative(name) === name;
}

/** Joins a clean path to a root; with `realpath` the result must stay below it after following symlinks too. */
export function below(root: string, relative: string, realpath: boolean): string | undefined {
  const full = join(root, relative);
  if (!realpath) return isInside(root, full) ? full : undefined;
  try {
    const base = realpathSync(root);
    const target = realpathSync(full);
    return target.startsWith(base === sep ? sep : base + sep) ? full : undefined;
  } catch {
    return undefined;
  }
}

/** A path of a request without its options: `a?saltenv=dev&index=1`; after a leading `|`, `?` belongs to the name. */
export function splitRequestPath(path: string): { path: string; options: ReadonlyMap<string, string> } {
  const options = new Map<string, string>();
  if (path.startsWith('|')) return { path: path.replace(/^\|+/, ''), options };
  const [name = '', query] = path.split('?');
  for (const option of query?.split('&') ?? []) {
    const equals = option.indexOf('=');
    if (equals >= 0) options.set(option.slice(0, equals), option.slice(equals + 1));
  }
  return { path: name, options };
}
