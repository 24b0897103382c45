// Reads a folder of this master completely: every file with the digest of its content, and what cannot be exchanged.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isTreePath, type Manifest, mostEntries, mostFileBytes, type TreeFile, type TreeFolder } from './manifest.ts';

export interface ReadTree extends Manifest {
  /** Links, devices, names that are no text, and files that are too large: each with its reason. */
  readonly unfit: readonly string[];
}

const mostUnfit = 100;

export async function readTree(root: string, signal?: AbortSignal): Promise<ReadTree> {
  const files: TreeFile[] = [];
  const folders: TreeFolder[] = [];
  const unfit: string[] = [];
  const leave = (path: string, why: string): void => {
    if (unfit.length < mostUnfit) unfit.push(`${path} ${why}`);
  };
  const walk = async (below: string): Promise<void> => {
    for await (const entry of await opendir(join(root, below))) {
      signal?.throwIfAborted();
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      // The history of a checkout is its own.
      if (entry.name === '.git') continue;
      if (!isTreePath(path)) leave(JSON.stringify(path), 'is no usable name');
      else if (files.length + folders.length >= mostEntries) return leave(path, `is one of more than ${mostEntries}`);
      else if (entry.isDirectory()) {
        folders.push({ path, mode: (await lstat(join(root, path))).mode & 0o777 });
        await walk(path);
      } else if (entry.isSymbolicLink()) leave(path, 'is a link');
      else if (!entry.isFile()) leave(path, 'is no plain file');
      else {
        const file = await readFileFacts(join(root, path));
        if (file.size > mostFileBytes) leave(path, `is larger than ${mostFileBytes / (1024 * 1024)} MB`);
        else files.push({ path, ...file });
      }
    }
  };
  await walk('');
  const byPath = (a: { path: string }, b: { path: string }): number => (a.path < b.path ? -1 : 1);
  return { files: files.sort(byPath), folders: folders.sort(byPath), unfit };
}

type Facts = Omit<TreeFile, 'path'>;

/** A file that is too large is not read. */
export async function readFileFacts(path: string, { sync = false } = {}): Promise<Facts> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size, mode, mtimeMs } = await handle.stat();
    const facts = { size, mode: mode & 0o777, mtimeMs: Math.max(0, Math.round(mtimeMs)) };
    if (size > mostFileBytes) return { ...facts, digest: '' };
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(256 * 1024);
    let read = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, read);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      read += bytesRead;
    }
    if (sync) await handle.datasync();
    return { ...facts, size: read, digest: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}

export interface TreeChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** What has to change in a tree so that it is the wanted one. */
export function changesOf(now: ReadTree, wanted: Manifest): TreeChanges {
  const have = new Map(now.files.map((file) => [file.path, file]));
  const want = new Set(wanted.files.map(({ path }) => path));
  const [haveFolders, wantFolders] = [now, wanted].map(({ folders }) => new Set(folders.map(({ path }) => `${path}/`)));
  const missing = (of: Set<string>, from: Set<string>): string[] => [...of].filter((path) => !from.has(path));
  const folders = { have: haveFolders ?? new Set<string>(), want: wantFolders ?? new Set<string>() };
  return {
    added: [
      ...wanted.files.filter(({ path }) => !have.has(path)).map(({ path }) => path),
      ...missing(folders.want, folders.have),
    ],
    changed: wanted.files
      .filter(({ path, digest, mode }) => {
        const file = have.get(path);
        return file && (file.digest !== digest || file.mode !== mode);
      })
      .map(({ path }) => path),
    removed: [
      ...now.files.filter(({ path }) => !want.has(path)).map(({ path }) => path),
      ...missing(folders.have, folders.want),
      ...now.unfit,
    ],
  };
}

export const isUnchanged = ({ added, changed, removed }: TreeChanges): boolean =>
  added.length + changed.length + removed.length === 0;
