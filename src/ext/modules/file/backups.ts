// Functions of `file` for the backups of files that states changed.

import { dirname, join } from 'node:path';
import { dictOf, fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import {
  baseName,
  chmod,
  chown,
  copyFile,
  copyFileSync,
  dirName,
  expandUser,
  isDirectory,
  isFile,
  listDir,
  mkdir,
  osText,
  rmSync,
  statOf,
} from 'halite/sdk/fs';
import { strftime } from 'halite/sdk/time';

interface Backup {
  readonly base: string;
  readonly micros: string;
  readonly time: Date;
  readonly location: string;
}

const root = (ctx: ModuleContext): string => join(pyStr(ctx.opts['cachedir'] ?? ''), 'file_backup');
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const stamp =
  /^(.*)_(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)_([A-Z][a-z]{2})_(\d{2})_(\d{2}):(\d{2}):(\d{2})_(\d{1,6})_(\d{4})$/;

function parse(folder: string, name: string): Backup | undefined {
  const match = stamp.exec(name);
  const month = months.indexOf(match?.[2] ?? '');
  if (!match || month < 0) return undefined;
  const [day = 0, hour = 0, minute = 0, second = 0] = match.slice(3, 7).map(Number);
  const micros = (match[7] as string).padEnd(6, '0');
  const time = new Date(Number(match[8]), month, day, hour, minute, second, Math.floor(Number(micros) / 1000));
  return { base: match[1] as string, micros, time, location: join(folder, name) };
}

function entry(backup: Backup): PlainDict {
  return newDict([
    ['Backup Time', strftime(backup.time, `%a %b %d %Y %H:%M:%S.${backup.micros}`)],
    ['Size', Number(statOf(backup.location)?.size ?? 0)],
    ['Location', backup.location],
  ]);
}

function backupsIn(folder: string): Backup[] {
  const names = isDirectory(folder) ? listDir(folder).filter((name) => isFile(join(folder, name))) : [];
  return names
    .flatMap((name) => parse(folder, name) ?? [])
    .sort((a, b) => b.time.getTime() - a.time.getTime() || (a.micros < b.micros ? 1 : -1));
}

const folderOf = (path: string, ctx: ModuleContext): string => join(root(ctx), dirName(path).slice(1));
const limitOf = (limit: string | null): number =>
  /^\d+$/.test(pyStr(limit)) ? Number(pyStr(limit)) : Number.POSITIVE_INFINITY;
const numbered = (list: readonly Backup[]): Value =>
  dictOf(list.map((backup, index) => [index, entry(backup)] as const));

function backupsOf(path: string, ctx: ModuleContext): Backup[] {
  return backupsIn(folderOf(path, ctx)).filter((backup) => backup.base === baseName(path));
}

/** Copies the present file; the name of the copy contains the time. */
async function keep(path: string, ctx: ModuleContext): Promise<void> {
  const stats = statOf(path);
  if (!stats) return;
  const micros = String(Date.now() * 1000).slice(-6);
  const target = join(
    folderOf(path, ctx),
    `${baseName(path)}_${strftime(new Date(), `%a_%b_%d_%H:%M:%S_${micros}_%Y`)}`,
  );
  await mkdir(dirname(target), { recursive: true });
  await copyFile(path, target);
  await chown(target, Number(stats.uid), Number(stats.gid));
  await chmod(target, Number(stats.mode) & 0o7777);
}

/** The backup with that number, or an error about the number. */
function chosen(path: string, id: string, ctx: ModuleContext): Backup | PlainDict {
  const refuse = (comment: string): PlainDict =>
    newDict([
      ['result', false],
      ['comment', comment],
    ]);
  if (!/^-?(0|[1-9]\d*)$/.test(pyStr(id))) return refuse(`Invalid backup_id '${pyStr(id)}'`);
  return backupsOf(path, ctx)[Number(pyStr(id))] ?? refuse(`backup_id '${pyStr(id)}' does not exist for ${path}`);
}
const isBackup = (value: Backup | PlainDict): value is Backup => 'micros' in value;
const outcome = (result: boolean, comment: string): PlainDict =>
  newDict([
    ['result', result],
    ['comment', comment],
  ]);

function listOf(name: string) {
  return fn({
    doc: 'The backups of a file, newest first.',
    examples: [`salt '*' file.${name} /foo/bar/baz.txt`],
    params: { path: p.path(), limit: p.string({ default: null }) },
    run: (args, ctx) => numbered(backupsOf(expandUser(args.path), ctx).slice(0, limitOf(args.limit))),
  });
}
function deleteOf(name: string) {
  return fn({
    doc: 'Removes a backup by its number in file.list_backups.',
    examples: [`salt '*' file.${name} /var/cache/salt/minion/file_backup/home/foo/bar/baz.txt 0`],
    params: { path: p.path(), backup_id: p.string() },
    run(args, ctx): PlainDict {
      const backup = chosen(expandUser(args.path), args.backup_id, ctx);
      if (!isBackup(backup)) return backup;
      try {
        rmSync(backup.location);
        return outcome(true, `Successfully removed ${backup.location}`);
      } catch (error) {
        return outcome(false, `Unable to remove ${backup.location}: ${osText(error, backup.location)}`);
      }
    },
  });
}

export const backupFunctions = {
  list_backups: listOf('list_backups'),
  list_backup: listOf('list_backup'),
  list_backups_dir: fn({
    doc: 'The backups of all files in a folder.',
    examples: ["salt '*' file.list_backups_dir /foo/bar/baz/"],
    params: { path: p.path(), limit: p.string({ default: null }) },
    run(args, ctx) {
      const found = new Map<string, Backup[]>();
      for (const backup of backupsIn(folderOf(expandUser(args.path), ctx))) {
        found.set(backup.base, [...(found.get(backup.base) ?? []), backup]);
      }
      return dictOf(
        [...found].sort().map(([base, list]) => [base, numbered(list.slice(0, limitOf(args.limit)))] as const),
      );
    },
  }),
  restore_backup: fn({
    doc: 'Restores a backup, after making a backup of the present file.',
    examples: ["salt '*' file.restore_backup /foo/bar/baz.txt 0"],
    params: { path: p.path(), backup_id: p.string() },
    async run(args, ctx): Promise<PlainDict> {
      const path = expandUser(args.path);
      const backup = chosen(path, args.backup_id, ctx);
      if (!isBackup(backup)) return backup;
      await keep(path, ctx);
      try {
        copyFileSync(backup.location, path);
        return outcome(true, `Successfully restored ${backup.location} to ${path}`);
      } catch (error) {
        return outcome(false, `Unable to restore ${backup.location} to ${path}: ${osText(error, path)}`);
      }
    },
  }),
  delete_backup: deleteOf('delete_backup'),
  remove_backup: deleteOf('remove_backup'),
};
