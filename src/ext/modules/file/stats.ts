// Functions of `file` that describe a path.

import { join } from 'node:path';
import { commandError, fn, invocationError, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import {
  accessSync,
  baseName,
  constants,
  dirName,
  expandUser,
  globPaths,
  isAbsolutePath,
  isDirectory,
  isFile,
  joinPath,
  listDir,
  lstatOf,
  normalPath,
  pySeconds,
  readdir,
  realpathSync,
  stat,
  statfsSync,
  statOf,
} from 'halite/sdk/fs';
import { pyFloat } from 'halite/sdk/text';
import { fileStats } from '../../shared/file/stats.ts';
import { hashFile } from './hashes.ts';
import { mountFlags } from './mount-flags.ts';

function linkStats(path: string): PlainDict {
  const stats = lstatOf(path);
  if (!stats) return newDict();
  return newDict([
    ['st_atime', pyFloat(pySeconds(stats.atimeNs))],
    ['st_ctime', pyFloat(pySeconds(stats.ctimeNs))],
    ['st_gid', Number(stats.gid)],
    ['st_mode', Number(stats.mode)],
    ['st_mtime', pyFloat(pySeconds(stats.mtimeNs))],
    ['st_nlink', Number(stats.nlink)],
    ['st_size', Number(stats.size)],
    ['st_uid', Number(stats.uid)],
  ]);
}

const accessModes: Readonly<Record<string, number>> = {
  f: constants.F_OK,
  r: constants.R_OK,
  w: constants.W_OK,
  x: constants.X_OK,
};

function canAccess(path: string, mode: Value): boolean {
  if (!isAbsolutePath(path)) throw invocationError('Path to link must be absolute.');
  const bits = typeof mode === 'number' ? mode : accessModes[pyStr(mode)];
  if (bits === undefined || !Object.values(accessModes).includes(bits))
    throw invocationError('Invalid mode specified.');
  try {
    accessSync(path, bits);
    return true;
  } catch {
    return false;
  }
}

/** Bytes of all files below a path, each counted once. */
async function diskUsage(path: string): Promise<number> {
  if (isFile(path)) return Number(statOf(path)?.size ?? 0);
  const seen = new Set<number>();
  let total = 0;
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const stats = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    if (!stats || stats.isDirectory() || seen.has(stats.ino)) continue;
    seen.add(stats.ino);
    total += stats.size;
  }
  return total;
}

const path = p.path();
const question = (doc: string, name: string, check: (path: string) => boolean) =>
  fn({ doc, examples: [`salt '*' file.${name} /path`], params: { path }, run: (args) => check(expandUser(args.path)) });

export const statFunctions = {
  file_exists: question('Whether a file is there (a link is followed).', 'file_exists', isFile),
  directory_exists: question('Whether a folder is there (a link is followed).', 'directory_exists', isDirectory),
  path_exists_glob: question('Whether any path fits a glob.', 'path_exists_glob', (glob) => globPaths(glob).length > 0),
  is_link: question(
    'Whether a path is a symbolic link.',
    'is_link',
    (target) => lstatOf(target)?.isSymbolicLink() ?? false,
  ),
  is_hardlink: fn({
    doc: 'Whether a file has more than one name; empty when it does not exist.',
    examples: ["salt '*' file.is_hardlink /path"],
    params: { path },
    run(args) {
      const stats = lstatOf(expandUser(args.path));
      return stats ? stats.nlink > 1n : newDict();
    },
  }),
  stats: fn({
    doc: 'Owner, group, mode, times, size, type and real path of a file.',
    examples: ["salt '*' file.stats /etc/passwd"],
    params: {
      path,
      hash_type: p.string({ default: null, doc: 'also the hash of the content, by this algorithm' }),
      follow_symlinks: p.bool({ default: true }),
    },
    async run(args) {
      const target = expandUser(args.path);
      const found = fileStats(target, args.follow_symlinks);
      if (!args.hash_type) return found;
      const { type, target: real, ...first } = found;
      const sum = await hashFile(target, args.hash_type);
      return newDict([...Object.entries(first), ['sum', sum], ['type', type ?? ''], ['target', real ?? '']]);
    },
  }),
  lstat: fn({
    doc: 'The status of a path itself, links not followed; empty when there is nothing.',
    examples: ["salt '*' file.lstat /path/to/file"],
    params: { path },
    run(args) {
      const target = expandUser(args.path);
      if (!isAbsolutePath(target)) throw invocationError('Path to file must be absolute.');
      return linkStats(target);
    },
  }),
  statvfs: fn({
    doc: 'Blocks and files of the filesystem of a path.',
    examples: ["salt '*' file.statvfs /path/to/file"],
    params: { path },
    run(args) {
      const target = expandUser(args.path);
      if (!isAbsolutePath(target)) throw invocationError('File path must be absolute.');
      try {
        const found = statfsSync(target);
        return newDict([
          ['f_bavail', found.bavail],
          ['f_bfree', found.bfree],
          ['f_blocks', found.blocks],
          ['f_bsize', found.bsize],
          ['f_favail', found.ffree],
          ['f_ffree', found.ffree],
          ['f_files', found.files],
          ['f_flag', mountFlags(realpathSync(target))],
          ['f_frsize', found.bsize],
          ['f_namemax', 255],
        ]);
      } catch {
        throw commandError(`Could not statvfs '${target}'`);
      }
    },
  }),
  access: fn({
    doc: 'Whether this minion may use a path: f (it exists), r, w or x.',
    examples: ["salt '*' file.access /path/to/file f", "salt '*' file.access /path/to/file x"],
    params: { path, mode: p.oneOf(['int', 'string']) },
    run: (args) => canAccess(expandUser(args.path), args.mode),
  }),
  readdir: fn({
    doc: 'The names in a folder, with `.` and `..`.',
    examples: ["salt '*' file.readdir /path/to/dir/"],
    params: { path },
    run(args) {
      const target = expandUser(args.path);
      if (!isAbsolutePath(target)) throw invocationError('Dir path must be absolute.');
      if (!isDirectory(target)) throw invocationError('A valid directory was not specified.');
      return ['.', '..', ...listDir(target)];
    },
  }),
  diskusage: fn({
    doc: 'Bytes of all files below a path.',
    examples: ["salt '*' file.diskusage /path/to/check"],
    params: { path },
    run: (args) => diskUsage(args.path),
  }),
  basename: fn({
    doc: 'The last part of a path.',
    examples: ["salt '*' file.basename 'test/test.config'"],
    params: { path },
    inline: true,
    run: (args) => baseName(args.path),
  }),
  dirname: fn({
    doc: 'A path without its last part.',
    examples: ["salt '*' file.dirname 'test/path/filename.config'"],
    params: { path },
    inline: true,
    run: (args) => dirName(args.path),
  }),
  join: fn({
    doc: 'Joins parts to a path; an absolute part discards the parts before it.',
    examples: ["salt '*' file.join '/' 'usr' 'local' 'bin'"],
    params: { args: p.rest() },
    inline: true,
    run({ args }) {
      const [first, ...rest] = args.map(pyStr);
      if (first === undefined) throw invocationError("join() missing 1 required positional argument: 'a'");
      return joinPath(first, ...rest);
    },
  }),
  normpath: fn({
    doc: 'A path without `.`, `..` and doubled slashes.',
    examples: ["salt '*' file.normpath 'a/b/c/..'"],
    params: { path },
    inline: true,
    run: (args) => normalPath(args.path),
  }),
  pardir: fn({
    doc: 'The name of the parent folder: two dots.',
    examples: ["salt '*' file.pardir"],
    inline: true,
    run: () => '..',
  }),
};
