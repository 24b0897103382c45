// Folders copied with what is in them; links are followed, as Salt does.
import {
  chmodSync,
  copyFileSync,
  joinPath,
  lstatOf,
  mkdirSync,
  readdirSync,
  statOf,
  statSync,
  utimesSync,
} from 'halite/sdk/fs';

/** Content only: a file that is there keeps its mode, a new one gets the usual. */
function copyContent(from: string, to: string): void {
  const mode = statOf(to)?.mode ?? BigInt(0o666 & ~process.umask());
  copyFileSync(from, to);
  chmodSync(to, Number(mode & 0o7777n));
}

/** Puts the files of a folder into another that may be there already. Links to folders are left out. */
export function copyInto(from: string, to: string): void {
  if (!statOf(from)?.isDirectory()) return;
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source, target] = [joinPath(from, name), joinPath(to, name)];
    if (!statSync(source).isDirectory()) copyContent(source, target);
    else if (!lstatOf(source)?.isSymbolicLink()) copyInto(source, target);
  }
}

/** A new folder like another one, modes and times included. */
export function copyTree(from: string, to: string): void {
  const { atime, mtime, mode } = statSync(from);
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source, target] = [joinPath(from, name), joinPath(to, name)];
    const stats = statSync(source);
    if (stats.isDirectory()) copyTree(source, target);
    else {
      copyFileSync(source, target);
      utimesSync(target, stats.atime, stats.mtime);
    }
  }
  chmodSync(to, mode & 0o7777);
  utimesSync(to, atime, mtime);
}
