// What salt-cp sends: whole texts in one call, or files and folders in chunks.
import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readdirSync, readFileSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { newDict, type PlainDict } from '../../base/codec/value.ts';
import type { Terminal } from '../io.ts';
import { Exit } from '../main.ts';

/** Salt's exit code for a source that does not exist. */
const noSource = 42;

/** Like os.path.realpath: a path that does not exist stays unchanged. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/**
 * Contents by path, for `cp.recv`; folders need --chunked. Undefined when a file is not text: chunks can contain any
 * bytes.
 */
export function loadTexts(sources: readonly string[], io: Terminal): PlainDict | undefined {
  let texts = true;
  const files = newDict();
  for (const path of sources) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      io.out(
        `${path} is a directory, only files are supported in non-chunked mode. Use "--chunked" command line argument.\n`,
      );
      throw new Exit(1);
    }
    if (!stat?.isFile()) {
      io.err(`The referenced file, ${path} is not available.\n`);
      throw new Exit(noSource);
    }
    const content = readFileSync(path);
    texts &&= isUtf8(content);
    files[path] = content.toString('utf8');
  }
  return texts ? files : undefined;
}

export interface SourceTree {
  /** Path and mode of every file. */
  readonly files: ReadonlyMap<string, number>;
  readonly emptyFolders: readonly string[];
}

/** Everything below the sources. */
export function listTree(sources: readonly string[], io: Terminal): SourceTree {
  const files = new Map<string, number>();
  const emptyFolders = new Set<string>();
  const visit = (path: string): void => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) {
      io.err(`${path} does not exist\n`);
      throw new Exit(noSource);
    }
    if (!stat.isDirectory()) {
      files.set(path, stat.mode & 0o7777);
      return;
    }
    const names = readdirSync(path);
    if (names.length === 0) emptyFolders.add(path);
    for (const name of names) visit(join(path, name));
  };
  for (const source of sources) visit(source);
  return { files, emptyFolders: [...emptyFolders].sort() };
}

/** The path of a file on the minion. */
export function remotePath(path: string, sources: readonly string[], dest: string, destIsFolder: boolean): string {
  if (sources.includes(path)) return destIsFolder ? join(dest, basename(path)) : dest;
  for (const source of sources) {
    const inside = relative(source, path);
    if (!inside.startsWith(`..${sep}`) && inside !== '..') return join(dest, basename(source), inside);
  }
  return join(dest, basename(path));
}

/** The chunks of a file in the form of `cp.recv_chunked`; an empty file is one empty chunk. */
export function* chunksOf(path: string, size: number, compress: boolean): Iterable<string> {
  const fd = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(size);
    for (let first = true; ; first = false) {
      const length = readSync(fd, buffer, 0, size, null);
      if (length === 0 && !first) return;
      const chunk = buffer.subarray(0, length);
      yield (compress ? gzipSync(chunk) : chunk).toString('base64');
      if (length === 0) return;
    }
  } finally {
    closeSync(fd);
  }
}
