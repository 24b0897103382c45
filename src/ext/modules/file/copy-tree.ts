// Copies folders with their content; links are followed, as in Salt.
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

/** Copies only the content: an existing file keeps its mode, a new file gets the default mode. */
function copyContent(from: string, to: string): void {
  const mode = statOf(to)?.mode ?? BigInt(0o666 & ~process.umask());
  copyFileSync(from, to);
  chmodSync(to, Number(mode & 0o7777n));
}

/** Copies the files of a folder into another one, which may exist. Links to folders are skipped. */
export function copyInto(from: string, to: string): void {
  if (!statOf(from)?.isDirectory()) return;
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const [source, target] = [joinPath(from, name), joinPath(to, name)];
    if (!statSync(source).isDirectory()) copyContent(source, target);
    else if (!lstatOf(source)?.isSymbolicLink()) copyInto(source, target);
  }
}

/** Copies a folder to a new one, including modes and times. */
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
