// Derives what happened to a file from its state before and after: Node only reports that something happened to a name.
import type { Stats } from 'halite/sdk/fs';

/** The event names of inotify, without `IN_`. */
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
  /** The identity of a file that disappeared, until it is known whether it was removed or moved. */
  vanished?: string;
}

/** What is remembered of a file. */
export interface Seen {
  /** Inode numbers are reused; together with the time of birth they are unique. */
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

/** A file that is not new when it is first seen was moved here: renaming changes only `ctime`. */
const oldMs = 1000;
export const cameFromElsewhere = (stats: Stats): boolean =>
  stats.birthtimeMs > 0 && stats.nlink <= 1 && stats.ctimeMs - stats.birthtimeMs > oldMs;

/** What changed in a file with the same identity. */
export function changedHow(before: Seen, now: Seen): 'modify' | 'attrib' | undefined {
  if (!now.isDir && (before.size !== now.size || before.mtimeMs !== now.mtimeMs)) return 'modify';
  if (before.mode !== now.mode || before.owner !== now.owner) return 'attrib';
  // A folder changes when its content changes; that is reported separately.
  return !now.isDir && before.ctimeMs !== now.ctimeMs ? 'attrib' : undefined;
}
