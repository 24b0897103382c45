// Unpacks ZIP files without an external program.

import { dirname, join } from 'node:path';
import { commandError } from 'halite/sdk';
import {
  chmodSync,
  closeSync,
  constants,
  isInside,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'halite/sdk/fs';
import { checkMembers, type Member } from './check.ts';
import { type ZipEntry, ZipFile } from './zip-file.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const typeBits = 0o170000;
const kinds = new Map<number, Member['kind']>([
  [0, 'file'],
  [0o100000, 'file'],
  [0o040000, 'dir'],
  [0o120000, 'link'],
]);
/** The maximum size of a link's content, which is its target. */
const longestTarget = 4096;

function kindOf(entry: ZipEntry): Member['kind'] {
  const kind = kinds.get(entry.mode & typeBits) ?? 'special';
  return kind === 'file' && entry.name.endsWith('/') ? 'dir' : kind;
}

/** The members of a ZIP file that are not excluded; links with their targets. */
export function zipMembers(zip: ZipFile, excludes: readonly string[], password: string | undefined): Member[] {
  return zip.entries
    .filter(({ name }) => !excludes.includes(name))
    .map((entry) => {
      const kind = entry.size > longestTarget && kindOf(entry) === 'link' ? 'special' : kindOf(entry);
      const target = kind === 'link' ? zip.content(entry, password).toString('utf8') : undefined;
      return { name: entry.name, kind, target, size: entry.size, mode: entry.mode & 0o7777 };
    });
}

function writeNew(path: string, content: Buffer): void {
  rmSync(path, { force: true });
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
  try {
    writeFileSync(file, content);
  } finally {
    closeSync(file);
  }
}

/** Creates the folder of a member; refuses a link that was created there after the check. */
function folderFor(dest: string, folder: string, name: string): void {
  mkdirSync(folder, { recursive: true });
  if (!isInside(realpathSync(dest), realpathSync(folder)))
    throw commandError(`'${name}' lies outside of the destination`);
}

/** Unpacks everything or, when a member leads outside, nothing; returns the names. */
export function unzip(
  path: string,
  dest: string,
  excludes: readonly string[],
  password: string | undefined,
  perms: boolean,
): string[] {
  const zip = new ZipFile(path);
  try {
    checkMembers(path, zipMembers(zip, excludes, password), dest);
    const done: string[] = [];
    mkdirSync(dest, { recursive: true });
    for (const entry of zip.entries) {
      if (excludes.includes(entry.name)) continue;
      done.push(entry.name);
      const target = join(dest, entry.name);
      const kind = kindOf(entry);
      folderFor(dest, kind === 'dir' ? target : dirname(target), entry.name);
      if (kind === 'link') {
        const content = zip.content(entry, password).toString('utf8');
        rmSync(target, { force: true });
        symlinkSync(content, target);
        continue;
      }
      if (kind === 'file') writeNew(target, zip.content(entry, password));
      // Set-user-id and set-group-id bits are not taken from the archive.
      if (perms && (entry.mode & 0o777) !== 0) chmodSync(target, entry.mode & 0o777);
    }
    return done;
  } finally {
    zip.close();
  }
}
