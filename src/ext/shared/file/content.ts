// Compares, diffs and writes new content of a file; writing is atomic.

import { basename, dirname, join } from 'node:path';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'halite/sdk/fs';
import { unifiedDiff } from 'halite/sdk/text';
import { lookAt } from './facts.ts';
import { looksLikeText, startBytes } from './looks-like-text.ts';

/** Content in memory, or in a file; the content of a small file is kept so that it is read only once. */
export type Content = { readonly bytes: Buffer } | { readonly path: string; readonly read?: Buffer | undefined };

const chunk = 1 << 20;

/** Files up to this size are read in one piece. */
const small = 1 << 16;

function sameFiles(a: string, b: string, size: number): boolean {
  if (size <= small) return readFileSync(a).equals(readFileSync(b));
  const [one, two] = [openSync(a, 'r'), openSync(b, 'r')];
  try {
    const [left, right] = [Buffer.allocUnsafe(chunk), Buffer.allocUnsafe(chunk)];
    for (;;) {
      const [x, y] = [readSync(one, left), readSync(two, right)];
      if (x !== y || left.compare(right, 0, y, 0, x) !== 0) return false;
      if (x === 0) return true;
    }
  } finally {
    closeSync(one);
    closeSync(two);
  }
}

const isExactly = (path: string, bytes: Buffer): boolean =>
  statSync(path).size === bytes.length && readFileSync(path).equals(bytes);

/** Whether a file already has the content. */
export function holds(path: string, content: Content): boolean {
  if ('bytes' in content) return isExactly(path, content.bytes);
  if (content.path === path) return true;
  if (content.read) return isExactly(path, content.read);
  const { size } = statSync(content.path);
  return statSync(path).size === size && sameFiles(path, content.path, size);
}

export const bytesOf = (content: Content): Buffer =>
  'bytes' in content ? content.bytes : (content.read ?? readFileSync(content.path));

function firstBytes(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(startBytes);
    return start.subarray(0, readSync(file, start, 0, startBytes, 0));
  } finally {
    closeSync(file);
  }
}

/** Only line feeds end lines; each line is decoded as UTF-8 or, if that fails, as Latin-1. */
export function byteLines(bytes: Buffer): string[] {
  const text = bytes.toString('utf8');
  if (!text.includes('\ufffd')) return text.split(/(?<=\n)/).filter((line) => line !== '');
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(10, at);
    const line = bytes.subarray(at, end < 0 ? bytes.length : end + 1);
    const decoded = line.toString('utf8');
    lines.push(Buffer.from(decoded, 'utf8').equals(line) ? decoded : line.toString('latin1'));
    at += line.length;
  }
  return lines;
}

/** The difference between a file and its new content, as Salt shows it. */
export function differenceOf(path: string, content: Content, show = true): string {
  if (!show) return '<show_changes=False>';
  const oldText = looksLikeText(firstBytes(path));
  const newText = looksLikeText('bytes' in content ? content.bytes : firstBytes(content.path));
  if (!oldText && !newText) return 'Replace binary file';
  if (!oldText) return 'Replace binary file with text file';
  if (!newText) return 'Replace text file with binary file';
  return unifiedDiff(byteLines(readFileSync(path)), byteLines(bytesOf(content)));
}

function stamp(now: Date): string {
  const [day, month, date, year] = now.toDateString().split(' ');
  const two = (part: number): string => String(part).padStart(2, '0');
  const micro = String(now.getTime() * 1000).slice(-6);
  return `${day}_${month}_${date}_${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}_${micro}_${year}`;
}

/** Keeps a copy of a file below the minion's cache, where `file.list_backups` finds it. */
function backUp(path: string, cachedir: string): void {
  const stats = statSync(path);
  const folder = join(cachedir, 'file_backup', dirname(path).slice(1));
  mkdirSync(folder, { recursive: true });
  const copy = join(folder, `${basename(path)}_${stamp(new Date())}`);
  copyFileSync(path, copy);
  chownSync(copy, stats.uid, stats.gid);
  chmodSync(copy, stats.mode & 0o7777);
}

export interface WriteOptions {
  /** `minion` and `both` keep a copy of the old file. */
  readonly backup: string;
  readonly cachedir: string;
  /** Permission bits of a file that was not there before. */
  readonly newMode: number;
  /** The file does not exist: the caller has just checked. */
  readonly absent?: boolean;
}

const privateMode = 0o600;

/** Creates a new file that other users cannot read yet. */
function writeNew(path: string, content: Content): void {
  if ('path' in content && !content.read && statSync(content.path).size > small) {
    copyFileSync(content.path, path, constants.COPYFILE_EXCL);
    chmodSync(path, privateMode);
  } else writeFileSync(path, bytesOf(content), { mode: privateMode, flag: 'wx' });
}

/** Writes the content: a temporary file in the same folder replaces the old one and gets its owner and mode. */
export function put(path: string, content: Content, options: WriteOptions): void {
  const old = options.absent ? undefined : lookAt(path);
  if (old && (options.backup === 'minion' || options.backup === 'both')) backUp(path, options.cachedir);
  const beside = join(dirname(path), `${basename(path).slice(0, 200)}.${Math.random().toString(36).slice(2, 14)}`);
  const mode = old ? old.mode & 0o7777 : options.newMode;
  let inPlace = false;
  try {
    writeNew(beside, content);
    if (old) chownSync(beside, old.uid, old.gid);
    if (mode !== privateMode) chmodSync(beside, mode);
    try {
      renameSync(beside, path);
      inPlace = true;
    } catch {
      // A file that is a mount point cannot be replaced, only written to.
      copyFileSync(beside, path);
    }
  } finally {
    if (!inPlace) rmSync(beside, { force: true });
  }
}
