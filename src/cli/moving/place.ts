// Puts files in place so that there is always a way back: first a backup of everything that will change, with a list of
// it, then each file by renaming. A run that was interrupted is continued under the same backup.
import {
  closeSync,
  constants,
  copyFileSync,
  createReadStream,
  existsSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open as openFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HaliteError } from '../../base/errors/index.ts';
import { flushNow, replaceFileNow } from '../../base/util/replace-file.ts';
import { hashOf } from './sources/folder.ts';

/** A file as it shall be; without content it shall not exist. */
export interface Change {
  readonly path: string;
  readonly content?: { readonly file: string; readonly sha256: string };
  readonly mode: number;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

export interface Saved {
  readonly path: string;
  /** The copy in the backup, and its facts; null for a file that did not exist. */
  readonly before: {
    readonly copy: string;
    readonly sha256: string;
    readonly mode: number;
    readonly uid: number;
    readonly gid: number;
  } | null;
  /** What was put there; null for a file that was removed. */
  readonly after: string | null;
}

export interface BackupList {
  readonly version: 1;
  /** What was done: `clone of ssh://old`. */
  readonly what: string;
  readonly state: 'placing' | 'done';
  readonly files: readonly Saved[];
}

export const backupFolder = (cachedir: string): string => join(cachedir, 'backup');
const listFile = 'list.json';

/** `2026-11-18T19-35-13Z`; sorts by time. */
const timeName = (now = new Date()): string =>
  now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');

export function readBackup(folder: string): BackupList {
  const file = join(folder, listFile);
  try {
    const list = JSON.parse(readFileSync(file, 'utf8')) as BackupList;
    if (list.version !== 1 || !Array.isArray(list.files)) throw new Error('it has another form');
    return list;
  } catch (error) {
    throw new HaliteError('config.missing', `${folder} is not a backup of a move: ${String(error)}`);
  }
}

/** Backups that have a list, oldest first. */
export function backups(cachedir: string): string[] {
  const folder = backupFolder(cachedir);
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names.filter((name) => existsSync(join(folder, name, listFile)));
}

/** The part of the changes that is not in place yet. */
export async function missing(changes: readonly Change[]): Promise<Change[]> {
  const open: Change[] = [];
  for (const change of changes) {
    const stat = statSync(change.path, { throwIfNoEntry: false });
    if (!change.content) {
      if (stat) open.push(change);
      continue;
    }
    const same =
      stat?.isFile() === true &&
      (stat.mode & 0o777) === change.mode &&
      (!change.owner || stat.uid === change.owner.uid) &&
      (await hashOf(change.path)) === change.content.sha256;
    if (!same) open.push(change);
  }
  return open;
}

export interface Placed {
  /** The folder of the backup; undefined when nothing had to change. */
  readonly backup: string | undefined;
  readonly added: number;
  readonly replaced: number;
  readonly removed: number;
}

/** Makes all changes. With the same `what`, a run that was interrupted goes on with its own backup. */
export async function place(cachedir: string, what: string, changes: readonly Change[]): Promise<Placed> {
  const unfinished = backups(cachedir)
    .map((name) => join(backupFolder(cachedir), name))
    .filter((folder) => {
      const list = readBackup(folder);
      return list.state === 'placing' && list.what === what;
    })
    .at(-1);
  const open = await missing(changes);
  if (open.length === 0 && unfinished === undefined) return { backup: undefined, added: 0, replaced: 0, removed: 0 };
  const folder = unfinished ?? newBackup(cachedir);
  const known = unfinished === undefined ? [] : readBackup(unfinished).files;
  const saved = [...known];
  for (const change of open) {
    const old = known.findIndex(({ path }) => path === change.path);
    const after = change.content?.sha256 ?? null;
    if (old === -1) saved.push(await save(folder, saved.length, change.path, after));
    else saved[old] = { ...(known[old] as Saved), after };
  }
  const write = (state: BackupList['state']): void => {
    const list: BackupList = { version: 1, what, state, files: saved };
    replaceFileNow(join(folder, listFile), `${JSON.stringify(list, undefined, 1)}\n`);
    flushNow(folder);
  };
  write('placing');
  for (const change of open) await put(change);
  await flushAll(open.filter(({ content }) => content).map(({ path }) => path));
  write('done');
  const count = (test: (item: Saved) => boolean): number => saved.filter(test).length;
  return {
    backup: folder,
    added: count(({ before, after }) => before === null && after !== null),
    replaced: count(({ before, after }) => before !== null && after !== null),
    removed: count(({ before, after }) => before !== null && after === null),
  };
}

function newBackup(cachedir: string): string {
  const parent = backupFolder(cachedir);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const time = timeName();
  for (let more = 1; ; more++) {
    const folder = join(parent, more === 1 ? time : `${time}.${more}`);
    try {
      mkdirSync(join(folder), { mode: 0o700 });
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

async function save(folder: string, number: number, path: string, after: string | null): Promise<Saved> {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return { path, before: null, after };
  if (!stat.isFile()) throw new HaliteError('path.refused', `${path} is not a file: move it away first`);
  const copy = `${String(number).padStart(6, '0')}-${basename(path).slice(0, 60)}`;
  copyFileSync(path, join(folder, copy));
  flushNow(join(folder, copy));
  return {
    path,
    before: { copy, sha256: await hashOf(path), mode: stat.mode & 0o777, uid: stat.uid, gid: stat.gid },
    after,
  };
}

/** Many at a time: the file system writes them together. */
async function flushAll(paths: readonly string[]): Promise<void> {
  for (let at = 0; at < paths.length; at += 64) {
    const some = paths.slice(at, at + 64).map(async (path) => {
      const handle = await openFile(path, 'r');
      await handle.sync().finally(() => handle.close());
    });
    await Promise.all(some);
  }
}

async function put({ path, content, mode, owner }: Change): Promise<void> {
  if (!content) return rm(path, { force: true });
  makeFolders(dirname(path), owner, (mode & 0o077) === 0 ? 0o700 : 0o755);
  const draft = join(dirname(path), `.halite-moving-${content.sha256.slice(0, 16)}`);
  try {
    // One of a run that was killed.
    rmSync(draft, { force: true });
    // By the open file: the owner of the folder could put a link in the place of the draft.
    const out = await openFile(draft, 'wx', 0o600);
    try {
      await writeFile(out, createReadStream(content.file));
      if (owner) await out.chown(owner.uid, owner.gid);
      await out.chmod(mode);
    } finally {
      await out.close();
    }
    await rename(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Missing folders; those of keys are the owner's alone, as the master makes them. */
function makeFolders(folder: string, owner: Change['owner'], mode: number): void {
  if (existsSync(folder)) return;
  makeFolders(dirname(folder), owner, mode);
  mkdirSync(folder, { mode: /\/pki(\/|$)/.test(folder) ? 0o700 : mode });
  if (owner) chownFolder(folder, owner);
}

function chownFolder(folder: string, { uid, gid }: { uid: number; gid: number }): void {
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchownSync(handle, uid, gid);
  } finally {
    closeSync(handle);
  }
}

/** A list that another user has made could name any file of the system. */
function refuseOthers(folder: string): void {
  const stat = lstatSync(folder);
  if (stat.isDirectory() && (stat.uid === 0 || stat.uid === process.geteuid?.())) return;
  const whose = stat.isDirectory() ? `belongs to the user with the id ${stat.uid}` : 'is not a folder';
  throw new HaliteError('path.refused', `${folder} ${whose}: its list is not trusted. Nothing was changed`, {
    hint: 'Look at list.json there; if it is right, make root the owner, or run the command as that user.',
  });
}

/** Puts everything back as it was before; what was there in between is in a backup of its own. */
export async function restore(cachedir: string, name: string): Promise<Placed> {
  const known = backups(cachedir);
  if (!known.includes(name))
    throw new HaliteError('config.missing', `There is no backup ${name} in ${backupFolder(cachedir)}`, {
      hint: known.length > 0 ? `There are: ${known.join(', ')}` : 'There is none at all.',
    });
  const folder = join(backupFolder(cachedir), name);
  refuseOthers(backupFolder(cachedir));
  refuseOthers(folder);
  const changes = readBackup(folder).files.map(({ path, before }): Change => {
    if (before === null) return { path, mode: 0o600 };
    const { copy, sha256, mode, uid, gid } = before;
    const owner = process.geteuid?.() === 0 ? { uid, gid } : undefined;
    return { path, content: { file: join(folder, copy), sha256 }, mode, owner };
  });
  return place(cachedir, `restore of ${name}`, changes);
}
