// Functions of `file` that create, move, copy, link and remove paths.

import { randomUUID } from 'node:crypto';
import { commandError, fn, invocationError, newDict, p, pyInt, type Value } from 'halite/sdk';
import {
  baseName,
  copyFileSync,
  cpSync,
  dirName,
  expandUser,
  isAbsolutePath,
  isDirectory,
  joinPath,
  linkSync,
  lstatOf,
  mkdirSync,
  normalizeMode,
  normalPath,
  osText,
  pathExists,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statOf,
  symlinkSync,
  unlinkSync,
} from 'halite/sdk/fs';
import { changeMode, changeOwner } from '../../shared/file/owner.ts';
import { fileStats, realPath } from '../../shared/file/stats.ts';
import { copyInto, copyTree } from './copy-tree.ts';

const isLink = (path: string): boolean => lstatOf(path)?.isSymbolicLink() ?? false;

function makeLink(src: string, path: string, force: boolean, atomic: boolean): boolean {
  if (!isAbsolutePath(path)) throw invocationError(`Link path must be absolute: ${path}`);
  if (isLink(path)) {
    if (normalPath(readlinkSync(path)) === normalPath(src)) return true;
    if (!force && !atomic) throw commandError(`Found existing symlink: ${path}`);
  }
  if (pathExists(path) && !force && !atomic) throw commandError(`Existing path is not a symlink: ${path}`);
  try {
    if (atomic) {
      const draft = joinPath(dirName(path), `.${randomUUID()}`);
      symlinkSync(src, draft);
      try {
        renameSync(draft, path);
      } catch (error) {
        unlinkSync(draft);
        throw error;
      }
    } else {
      if (force && lstatOf(path)) unlinkSync(path);
      symlinkSync(src, path);
    }
    return true;
  } catch {
    throw commandError(`Could not create '${path}'`);
  }
}

function copy(src: string, dst: string, recurse: boolean, removeExisting: boolean): boolean {
  if (!isAbsolutePath(src)) throw invocationError('File path must be absolute.');
  if (!pathExists(src)) throw commandError(`No such file or directory '${src}'`);
  const { user, group, mode } = fileStats(src, true);
  const folders = isDirectory(dst) || isDirectory(src);
  if (folders && !recurse)
    throw invocationError('Cannot copy overwriting a directory without recurse flag set to true!');
  try {
    if (folders) {
      if (removeExisting) rmSync(dst, { recursive: true, force: true });
      (removeExisting ? copyTree : copyInto)(src, dst);
    } else copyFileSync(src, dst);
  } catch {
    throw commandError(`Could not copy '${src}' to '${dst}'`);
  }
  changeOwner(dst, user ?? null, group ?? null);
  changeMode(dst, mode ?? null);
  return true;
}

/** Like shutil.move: moves into an existing folder, and copies across filesystems. */
function move(src: string, dst: string): void {
  const target = isDirectory(dst) && !isLink(dst) ? joinPath(dst, baseName(src.replace(/\/+$/, ''))) : dst;
  try {
    renameSync(src, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    cpSync(src, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    rmSync(src, { recursive: true });
  }
}

function remove(path: string): boolean {
  if (!isAbsolutePath(path)) throw invocationError(`File path must be absolute: ${path}`);
  if (!lstatOf(path)) return false;
  try {
    rmSync(path, { recursive: isDirectory(path) && !isLink(path) });
    return true;
  } catch (error) {
    throw commandError(`Could not remove '${path}': ${osText(error, path)}`);
  }
}

/** Folders below a path, deepest first. */
function foldersBelow(path: string): string[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => [...foldersBelow(joinPath(path, entry.name)), joinPath(path, entry.name)]);
}

function removeEmpty(path: string, recurse: boolean, verbose: boolean, olderThan: Value): Value {
  if (!isAbsolutePath(path)) throw invocationError('File path must be absolute.');
  if (!isDirectory(path)) throw invocationError('A valid directory was not specified.');
  const limit = olderThan ? Date.now() / 1000 - pyInt(olderThan) * 86400 : undefined;
  const oldEnough = (folder: string): boolean =>
    limit === undefined || Number(statOf(folder)?.mtimeMs ?? 0n) / 1000 < limit;
  const deleted: string[] = [];
  const errors: Value[] = [];
  for (const folder of [...(recurse ? foldersBelow(path) : []), path].filter(oldEnough)) {
    try {
      rmdirSync(folder);
      deleted.push(folder);
    } catch (error) {
      errors.push([folder, osText(error, folder)]);
    }
  }
  const result = errors.length === 0 && (recurse || deleted.includes(path));
  return verbose
    ? newDict([
        ['deleted', deleted],
        ['errors', errors],
        ['result', result],
      ])
    : result;
}

interface NewFolder {
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
}

/** Creates a folder and its parents, each with the given owner and mode. */
export function makeFolders(path: string, about: NewFolder): void {
  const above = dirName(path.replace(/\/+$/, ''));
  if (above !== '' && above !== path && !pathExists(above)) makeFolders(above, about);
  mkdirSync(path);
  if (about.user !== null || about.group !== null) changeOwner(path, about.user ?? '', about.group);
  if (about.mode !== null) changeMode(path, normalizeMode(about.mode));
}

function makeParents(path: string, about: NewFolder): string | null {
  const folder = normalPath(dirName(path));
  if (isDirectory(folder)) return `Directory '${folder}' already exists`;
  if (pathExists(folder)) return `The path '${folder}' already exists and is not a directory`;
  if (!isAbsolutePath(folder)) {
    throw invocationError(
      `Recursive creation for path '${folder}' would result in an infinite loop. Please use an absolute path.`,
    );
  }
  makeFolders(folder, about);
  return null;
}

const path = p.path();
const ownerParams = {
  user: p.oneOf(['int', 'string'], { default: null }),
  group: p.oneOf(['int', 'string'], { default: null }),
  mode: p.string({ default: null }),
};

export const moveFunctions = {
  symlink: fn({
    doc: 'Creates a symbolic link.',
    examples: ["salt '*' file.symlink /path/to/file /path/to/link"],
    params: {
      src: p.path({ doc: 'what the link points to' }),
      path: p.path({ doc: 'the link' }),
      force: p.bool({ default: false, doc: 'replace an existing path' }),
      atomic: p.bool({ default: false, doc: 'replace it atomically' }),
    },
    run: (args) => makeLink(args.src, expandUser(args.path), args.force, args.atomic),
  }),
  link: fn({
    doc: 'Creates a hard link.',
    examples: ["salt '*' file.link /path/to/file /path/to/link"],
    params: { src: p.path(), path },
    run(args) {
      const src = expandUser(args.src);
      if (!isAbsolutePath(src)) throw invocationError('File path must be absolute.');
      try {
        linkSync(src, args.path);
        return true;
      } catch (error) {
        throw commandError(`Could not create '${args.path}': ${osText(error, src, args.path)}`);
      }
    },
  }),
  readlink: fn({
    doc: 'The target of a symbolic link; with canonicalize the real path.',
    examples: ["salt '*' file.readlink /path/to/link"],
    params: { path, canonicalize: p.bool({ default: false }) },
    run(args) {
      const target = expandUser(args.path).replace(
        /\$\{?(\w+)\}?/g,
        (whole, name: string) => process.env[name] ?? whole,
      );
      if (!isAbsolutePath(target)) throw invocationError(`Path to link must be absolute: ${target}`);
      if (!isLink(target)) throw invocationError(`A valid link was not specified: ${target}`);
      return args.canonicalize ? realPath(target) : readlinkSync(target);
    },
  }),
  rename: fn({
    doc: 'Renames a file or folder on one filesystem.',
    examples: ["salt '*' file.rename /path/to/src /path/to/dst"],
    params: { src: p.path(), dst: p.path() },
    run(args) {
      const [src, dst] = [expandUser(args.src), expandUser(args.dst)];
      if (!isAbsolutePath(src)) throw invocationError('File path must be absolute.');
      try {
        renameSync(src, dst);
        return true;
      } catch {
        throw commandError(`Could not rename '${src}' to '${dst}'`);
      }
    },
  }),
  move: fn({
    doc: 'Moves a file or folder, also to another filesystem.',
    examples: ["salt '*' file.move /path/to/src /path/to/dst"],
    params: { src: p.path(), dst: p.path(), disallow_copy_and_unlink: p.bool({ default: false, doc: 'rename only' }) },
    run(args, ctx) {
      if (args.disallow_copy_and_unlink) return ctx.call('file.rename', args.src, args.dst);
      const [src, dst] = [expandUser(args.src), expandUser(args.dst)];
      if (!isAbsolutePath(src)) throw invocationError('Source path must be absolute.');
      if (!isAbsolutePath(dst)) throw invocationError('Destination path must be absolute.');
      try {
        move(src, dst);
      } catch (error) {
        throw commandError(`Unable to move '${src}' to '${dst}': ${osText(error, pathExists(src) ? dst : src)}`);
      }
      return newDict([
        ['result', true],
        ['comment', `'${src}' moved to '${dst}'`],
      ]);
    },
  }),
  copy: fn({
    doc: 'Copies a file, or a folder with recurse. Owner and mode are kept.',
    examples: [
      "salt '*' file.copy /path/to/src /path/to/dst",
      "salt '*' file.copy /path/to/src_dir /path/to/dst_dir recurse=True",
    ],
    params: {
      src: p.path(),
      dst: p.path(),
      recurse: p.bool({ default: false }),
      remove_existing: p.bool({ default: false }),
    },
    run: (args) => copy(expandUser(args.src), expandUser(args.dst), args.recurse, args.remove_existing),
  }),
  remove: fn({
    doc: 'Removes a file or a folder with everything in it. False when there is nothing.',
    examples: ["salt '*' file.remove /tmp/foo"],
    params: { path, kwargs: p.kwargs() },
    run: (args) => remove(expandUser(args.path)),
  }),
  rmdir: fn({
    doc: 'Removes an empty folder; with recurse also empty folders inside.',
    examples: ["salt '*' file.rmdir /tmp/foo/"],
    params: {
      path,
      recurse: p.bool({ default: false }),
      verbose: p.bool({ default: false, doc: 'return what was removed' }),
      older_than: p.oneOf(['int', 'string'], {
        default: null,
        falsy: null,
        doc: 'only folders not changed for that many days',
      }),
    },
    run: (args) => removeEmpty(expandUser(args.path), args.recurse, args.verbose, args.older_than),
  }),
  mkdir: fn({
    doc: 'Creates a folder, and those above it when they are missing.',
    examples: ["salt '*' file.mkdir /opt/jetty/context"],
    params: { dir_path: p.path(), ...ownerParams },
    run(args) {
      const folder = normalPath(expandUser(args.dir_path));
      if (!isDirectory(folder)) makeFolders(folder, args);
      return true;
    },
  }),
  makedirs: fn({
    doc: 'Creates the folders above a path. A path that ends with a slash is a folder itself.',
    examples: ["salt '*' file.makedirs /opt/code/"],
    params: { path, ...ownerParams },
    run: (args) => makeParents(expandUser(args.path), args),
  }),
  makedirs_perms: fn({
    doc: 'Creates a folder and those above it with an owner and a mode.',
    examples: ["salt '*' file.makedirs_perms /opt/code"],
    params: {
      name: p.path(),
      user: p.oneOf(['int', 'string'], { default: null }),
      group: p.oneOf(['int', 'string'], { default: null }),
      mode: p.string({ default: '0755', nullable: true }),
    },
    run(args) {
      makeFolders(expandUser(args.name), args);
      return null;
    },
  }),
};
