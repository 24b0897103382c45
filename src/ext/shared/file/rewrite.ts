// Changes a file's content and keeps its owner, mode and, on request, its inode and a backup.

import { commandError, invocationError } from 'halite/sdk';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatOf,
  osText,
  readFileSync,
  renameSync,
  rmSync,
  statOf,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'halite/sdk/fs';

/** Salt's rule: no zero byte, and valid UTF-8 or mostly printable characters in the first block. */
export function isText(path: string): boolean {
  let block: Buffer;
  try {
    block = readFileSync(path).subarray(0, 512);
  } catch {
    return false;
  }
  if (block.includes(0)) return false;
  if (block.length === 0) return true;
  // The block may end inside a multi-byte character: errors in the last three bytes are ignored.
  const decoded = block.toString('utf8');
  if (!decoded.slice(0, -3).includes('\ufffd')) return true;
  const odd = block.filter((byte) => !((byte >= 32 && byte < 127) || [8, 9, 10, 12, 13].includes(byte)));
  return odd.length / block.length <= 0.3;
}

export function requireText(path: string): void {
  if (!isText(path)) throw invocationError(`Cannot perform string replacements on a binary file: ${path}`);
}

export interface RewriteOptions {
  /** Suffix of the backup's name; without it there is no backup. */
  readonly backup?: string;
  /** Write into the file itself instead of replacing it. */
  readonly keepInode?: boolean;
}

function copyWithAttributes(from: string, to: string): void {
  copyFileSync(from, to);
  const stats = statOf(from);
  if (!stats) return;
  chmodSync(to, Number(stats.mode) & 0o7777);
  utimesSync(to, Number(stats.atimeMs) / 1000, Number(stats.mtimeMs) / 1000);
}

export function rewrite(path: string, content: string | Uint8Array, options: RewriteOptions = {}): void {
  const stats = statOf(path);
  try {
    if (options.backup) copyWithAttributes(path, `${path}${options.backup}`);
    if (options.keepInode ?? true) {
      writeFileSync(path, content);
      return;
    }
    const draft = `${path}.${process.pid}.new`;
    writeFileSync(draft, content, { mode: stats ? Number(stats.mode) & 0o7777 : 0o644, flag: 'wx' });
    if (stats) {
      chownSync(draft, Number(stats.uid), Number(stats.gid));
      chmodSync(draft, Number(stats.mode) & 0o7777);
    }
    renameSync(draft, path);
  } catch (error) {
    throw commandError(`Exception: ${osText(error, path)}`);
  }
}

/** When the path was a link, the backup of its target gets a link of the same form beside it. */
export function linkBackup(link: string, target: string, backup: string): void {
  const place = `${link}${backup}`;
  if (lstatOf(place)) rmSync(place);
  symlinkSync(`${target}${backup}`, place);
}
