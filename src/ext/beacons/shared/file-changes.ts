// What happened to a file, told from how it was and how it is: Node says only that something happened to a name.
import type { Stats } from 'halite/sdk/fs';

/** The words of inotify, without `IN_`. */
export type ChangeName =
  | 'create'
  | 'delete'
  | 'modify'
  | 'attrib'
  | 'moved_from'
  | 'moved_to'
  | 'close_write'
  | 'delete_self'
  | 'move_self'
  | 'ignored';

export interface FileChange {
  /** The watched folder or file. */
  readonly folder: string;
  readonly path: string;
  name: ChangeName;
  readonly isDir: boolean;
  /** The file's identity, while it is open whether it was removed or moved. */
  vanished?: string;
}

/** What is remembered of a file. */
export interface Seen {
  /** Numbers of inodes are used again; with the time of birth they are not. */
  readonly identity: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly mode: number;
  readonly owner: string;
  readonly isDir: boolean;
}

export const seenOf = (stats: Stats): Seen => ({
  identity: `${stats.ino}:${stats.birthtimeMs}`,
  size: stats.size,
  mtimeMs: stats.mtimeMs,
  ctimeMs: stats.ctimeMs,
  mode: stats.mode,
  owner: `${stats.uid}:${stats.gid}`,
  isDir: stats.isDirectory(),
});

/** A file that is older than a moment when it is first seen has been moved here: renaming changes `ctime`. */
const oldMs = 1000;
export const cameFromElsewhere = (stats: Stats): boolean =>
  stats.birthtimeMs > 0 && stats.nlink <= 1 && stats.ctimeMs - stats.birthtimeMs > oldMs;

/** What changed in a file that is still the same one. */
export function changedHow(before: Seen, now: Seen): 'modify' | 'attrib' | undefined {
  if (!now.isDir && (before.size !== now.size || before.mtimeMs !== now.mtimeMs)) return 'modify';
  if (before.mode !== now.mode || before.owner !== now.owner) return 'attrib';
  // Folders change with what is in them, which is told by itself.
  return !now.isDir && before.ctimeMs !== now.ctimeMs ? 'attrib' : undefined;
}
