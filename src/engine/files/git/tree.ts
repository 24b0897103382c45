// The content of one commit as an index in memory: every path, its kind and its blob. Requests are answered only from
// it.
import { posix } from 'node:path';
import { cleanRelative } from '../paths.ts';

export interface TreeEntry {
  readonly mode: number;
  readonly sha: string;
  readonly size: number;
}

export interface TreeIndex {
  readonly commit: string;
  /** Files and links by path. */
  readonly blobs: ReadonlyMap<string, TreeEntry>;
  readonly folders: ReadonlySet<string>;
}

const linkMode = 0o120000;
const typeMask = 0o170000;
const maxLinks = 100;

export const isLink = (entry: TreeEntry): boolean => (entry.mode & typeMask) === linkMode;

/** Reads `git ls-tree -r -t -z -l --full-tree`. Paths that no valid repository has are skipped. */
export function parseTree(commit: string, output: Buffer): TreeIndex {
  const blobs = new Map<string, TreeEntry>();
  const folders = new Set<string>();
  for (const line of output.toString('utf8').split('\0')) {
    const found = /^([0-7]+) (blob|tree|commit) ([0-9a-f]{40,64}) +(\d+|-)\t(.*)$/s.exec(line);
    if (!found) continue;
    const [, mode = '', type, sha = '', size = '', path = ''] = found;
    if (cleanRelative(path) !== path || path.includes('\uFFFD')) continue;
    if (type === 'tree') folders.add(path);
    else if (type === 'blob') blobs.set(path, { mode: Number.parseInt(mode, 8), sha, size: Number(size) });
  }
  return { commit, blobs, folders };
}

/** The file at a path of a repository; links are followed inside the tree and never out of it. */
export function resolveEntry(
  index: TreeIndex,
  path: string,
  targetOf: (link: TreeEntry) => string | undefined,
): TreeEntry | undefined {
  let at = path;
  for (let left = maxLinks; left > 0; left--) {
    const entry = index.blobs.get(at);
    if (!entry || !isLink(entry)) return entry;
    const target = targetOf(entry);
    if (target === undefined || target.startsWith('/')) return undefined;
    at = posix.join(posix.dirname(at), target);
  }
  return undefined;
}

/** The target folder of a link, if it is in the same tree; '' would be the tree itself and is not returned. */
export function folderBehind(
  index: TreeIndex,
  path: string,
  targetOf: (link: TreeEntry) => string | undefined,
): string | undefined {
  let at = path;
  for (let left = maxLinks; left > 0; left--) {
    const entry = index.blobs.get(at);
    if (!entry) return index.folders.has(at) ? at : undefined;
    const target = isLink(entry) ? targetOf(entry) : undefined;
    if (target === undefined || target.startsWith('/')) return undefined;
    at = posix.join(posix.dirname(at), target).replace(/\/$/, '');
  }
  return undefined;
}

/** A path of the repository relative to a folder in it; undefined when it is outside. */
export function belowRoot(path: string, root: string): string | undefined {
  if (root === '') return path;
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
}
