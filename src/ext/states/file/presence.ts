// `file.absent`, `exists`, `missing`, `touch`, `pruned` and `tidied`: existence of files and folders.
import {
  asNumber,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
  withForecast,
} from 'halite/sdk';
import {
  dirName,
  expandUser,
  joinPath,
  pySeconds,
  readdirSync,
  rmdirSync,
  rmSync,
  type Stats,
  statOf,
} from 'halite/sdk/fs';
import { pyFloat, pyRegex } from 'halite/sdk/text';
import { isDir, isLink, isRegular, exists as isThere, lookAt, lookAtLink } from '../../shared/file/facts.ts';
import { makeParents } from '../../shared/file/folders.ts';
import { failureText } from './errors.ts';
import * as common from './params.ts';

const accepted = p.kwargs({ doc: 'accepted' });

export const absent = state({
  doc: 'A file, link or folder that must not exist.',
  examples: ['/etc/old.conf:\n  file.absent'],
  params: { name: common.name, kwargs: accepted },
  async run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.absent', { name });
    if (!name.startsWith('/')) return ctx.fail(`Specified file ${name} is not an absolute path`, { name });
    if (/^\/+$/.test(name)) return ctx.fail('Refusing to make "/" absent', { name });
    const kind =
      isRegular(name) || isLink(name) ? 'file' : isDir(name) ? 'directory' : lookAtLink(name) ? 'file' : undefined;
    if (!kind) return ctx.ok(`File ${name} is not present`, { name });
    const done = await ctx.change(newDict([['removed', name]]), `Removed ${kind} ${name}`, {
      test: `${kind === 'file' ? 'File' : 'Directory'} ${name} is set for removal`,
      apply() {
        try {
          rmSync(name, { recursive: true });
          return undefined;
        } catch (error) {
          return ctx.fail(kind === 'file' ? failureText(error) : `Failed to remove directory ${name}`, { name });
        }
      },
    });
    return Object.assign(done, { name });
  },
});

export const exists = state({
  doc: 'Fails when a path does not exist.',
  examples: ['/etc/passwd:\n  file.exists'],
  params: { name: common.name, kwargs: accepted },
  run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.exists', { name });
    if (!isThere(name)) return ctx.fail(`Specified path ${name} does not exist`, { name });
    return ctx.ok(`Path ${name} exists`, { name });
  },
});

export const missing = state({
  doc: 'Fails when a path exists.',
  examples: ['/etc/nologin:\n  file.missing'],
  params: { name: common.name, kwargs: accepted },
  run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.missing', { name });
    if (isThere(name)) return ctx.fail(`Specified path ${name} exists`, { name });
    return ctx.ok(`Path ${name} is missing`, { name });
  },
});

/** Salt compares texts: whole numbers never equal a time, which has a fraction. */
const timeDiffers = (wanted: Value, nanoseconds: bigint): boolean =>
  wanted !== null && pyStr(wanted) !== pyStr(pyFloat(pySeconds(nanoseconds)));

function touchForecast(name: string, atime: Value, mtime: Value, ctx: StateContext): StateResult {
  const stats = statOf(name);
  if (!stats)
    return ctx.result({
      name,
      result: null,
      changes: newDict([['new', name]]),
      comment: `File ${name} is set to be created`,
    });
  if (timeDiffers(atime, stats.atimeNs) || timeDiffers(mtime, stats.mtimeNs)) {
    return ctx.result({
      name,
      result: null,
      changes: newDict([['touched', name]]),
      comment: `Times set to be updated on file ${name}`,
    });
  }
  return ctx.ok(`File ${name} exists and has the correct times`, { name });
}

/** `touch` for other states, when the file to extend is missing. */
export async function touchFile(
  given: string,
  atime: Value,
  mtime: Value,
  makedirs: boolean,
  ctx: StateContext,
): Promise<StateResult> {
  const name = expandUser(given);
  if (!name) return ctx.fail('Must provide name to file.touch', { name });
  if (!name.startsWith('/')) return ctx.fail(`Specified file ${name} is not an absolute path`, { name });
  return withForecast(
    ctx,
    () => touchForecast(name, atime, mtime, ctx),
    async () => {
      if (makedirs) await makeParents(name, { user: null, group: null, mode: null }, ctx);
      if (!isDir(dirName(name))) return ctx.fail(`Directory not present to touch file ${name}`, { name });
      const old = lookAt(name);
      const done = await ctx.callWith('file.touch', [name, atime, mtime], {});
      if (done !== true) return ctx.fail('', { name });
      if (!old) return ctx.ok(`Created empty file ${name}`, { name, changes: newDict([['new', name]]) });
      const kind = old.isDirectory() ? 'directory' : 'file';
      return ctx.ok(`Updated times on ${kind} ${name}`, { name, changes: newDict([['touched', name]]) });
    },
  );
}

export const touch = state({
  doc: 'Creates an empty file, or sets the times of an existing one.',
  examples: ['/var/log/httpd/logrotate.empty:\n  file.touch'],
  params: {
    name: common.name,
    atime: p.scalar({ default: null, doc: 'time of the last read, in seconds since 1970' }),
    mtime: p.scalar({ default: null, doc: 'time of the last change' }),
    makedirs: common.makedirs,
  },
  run: (args, ctx) => touchFile(args.name, args.atime, args.mtime, args.makedirs, ctx),
});

const bytesOfUnit = 'bkmgtpezy';
/** `10M`, `1.5GB`, `4 KiB` in bytes; 0 for an invalid size. */
function sizeInBytes(size: Value): number {
  if (typeof size !== 'string') return asNumber(size) ?? 0;
  const match = /^([0-9.]*)\s*(.*)$/.exec(size.trim());
  const value = Number(match?.[1] || Number.NaN);
  const unit = (match?.[2] || 'b').toLowerCase();
  if (Number.isNaN(value) || !/^(b|[kmgtpezy](i?b)?)$/.test(unit)) return 0;
  const power = bytesOfUnit.indexOf(unit[0] as string);
  return Math.trunc(value * (/^[kmgtpezy]b$/.test(unit) ? 1000 ** power : 1024 ** power));
}

interface TidyArgs {
  readonly age: number;
  readonly size: Value;
  readonly matches: Value;
  readonly exclude: Value;
  readonly rmdirs: boolean;
  readonly rmlinks: boolean;
  readonly full_path_match: boolean;
  readonly followlinks: boolean;
  readonly time_comparison: Value;
  readonly age_size_logical_operator: string;
  readonly age_size_only: Value;
}

const dayOf = (time: Date): number => Math.floor((time.getTime() - time.getTimezoneOffset() * 60_000) / 86_400_000);

/** Whether a path is old or large enough. */
function oldOrLarge(stats: Stats, size: number, args: TidyArgs): boolean {
  const wanted = pyStr(args.time_comparison ?? '').toLowerCase();
  const time = wanted === 'ctime' ? stats.ctime : wanted === 'mtime' ? stats.mtime : stats.atime;
  const old = Math.abs(dayOf(new Date()) - dayOf(time)) >= args.age;
  const large = size >= sizeInBytes(args.size);
  const only = pyStr(args.age_size_only ?? '').toLowerCase();
  if (only === 'age') return old;
  if (only === 'size') return large;
  return args.age_size_logical_operator.toUpperCase() === 'AND' ? large && old : large || old;
}

const expressions = (value: Value): RegExp[] =>
  (Array.isArray(value) ? value : value === null ? [] : [value]).map((item) => pyRegex(pyStr(item)));

/** Paths to remove, deepest first. */
function toTidy(folder: string, args: TidyArgs): string[] {
  const wanted = args.matches === null ? [/^/] : expressions(args.matches);
  const unwanted = expressions(args.exclude);
  const fits = (text: string): boolean =>
    wanted.some((pattern) => pattern.test(text)) && !unwanted.some((pattern) => pattern.test(text));
  const found: string[] = [];
  const look = (root: string): void => {
    const entries = readdirSync(root).map((entry) => ({ entry, path: joinPath(root, entry) }));
    const folders = entries.filter(({ path }) => isDir(path));
    for (const { path } of folders) if (args.followlinks || !isLink(path)) look(path);
    for (const { entry, path } of [...entries.filter((item) => !folders.includes(item)), ...folders]) {
      const link = isLink(path);
      const stats = link ? lookAtLink(path) : lookAt(path);
      if (!stats) continue;
      const allowed = link ? args.rmlinks : stats.isDirectory() ? args.rmdirs : true;
      const size = link || stats.isDirectory() ? 0 : stats.size;
      if (allowed && oldOrLarge(stats, size, args) && fits(args.full_path_match ? path : entry)) found.push(path);
    }
  };
  look(folder);
  return found;
}

export const tidied = state({
  doc: 'Removes files of a folder that are old, large or have certain names.',
  examples: ['/var/tmp/cache:\n  file.tidied:\n    - age: 7\n    - matches:\n      - .*\\.tmp'],
  params: {
    name: common.name,
    age: p.float({ default: 0, doc: 'minimum age in days' }),
    matches: p.oneOf(['list', 'string'], {
      default: null,
      doc: 'regular expressions for names; all names when left out',
    }),
    rmdirs: p.bool({ default: false, doc: 'also folders' }),
    size: p.scalar({ default: 0, nullable: true, doc: 'minimum size, such as `10M`' }),
    exclude: p.oneOf(['list', 'string'], { default: null, doc: 'regular expressions for names to keep' }),
    full_path_match: p.bool({ default: false, doc: 'compare the whole path instead of the name' }),
    followlinks: p.bool({ default: false, doc: 'enter folders that links point to' }),
    time_comparison: p.scalar({ default: 'atime', nullable: true, doc: 'atime, mtime or ctime' }),
    age_size_logical_operator: p.string({ default: 'OR', doc: 'AND: both old and large' }),
    age_size_only: p.scalar({ default: null, doc: '`age` or `size`: only that counts' }),
    rmlinks: p.bool({ default: true, doc: 'also links' }),
    kwargs: accepted,
  },
  async run(args, ctx) {
    const name = expandUser(args.name);
    if (!name.startsWith('/')) return ctx.fail(`Specified file ${name} is not an absolute path`, { name });
    if (!isDir(name)) return ctx.fail(`${name} does not exist or is not a directory.`, { name });
    const found = toTidy(name, args);
    if (found.length === 0) return ctx.ok(`Nothing to remove from directory ${name}`, { name });
    const changes: PlainDict = newDict([['removed', found]]);
    const done = await ctx.change(changes, `Removed ${found.length} files or directories from directory ${name}`, {
      test: `${name} is set for tidy`,
      apply() {
        for (const path of found) rmSync(path, { recursive: true, force: true });
      },
    });
    return Object.assign(done, { name });
  },
});

/** Removes empty folders, deepest first; returns those removed and those that failed. */
function prune(
  folder: string,
  recurse: boolean,
  olderThan: number | null,
): { deleted: string[]; errors: [string, string][] } {
  const [deleted, errors]: [string[], [string, string][]] = [[], []];
  const remove = (path: string): void => {
    const stats = lookAt(path);
    if (olderThan !== null && stats && stats.mtimeMs > Date.now() - olderThan * 86_400_000) return;
    try {
      rmdirSync(path);
      deleted.push(path);
    } catch (error) {
      errors.push([path, failureText(error)]);
    }
  };
  const look = (root: string): void => {
    for (const entry of readdirSync(root)) {
      const path = joinPath(root, entry);
      if (!isDir(path) || isLink(path)) continue;
      look(path);
      remove(path);
    }
  };
  if (recurse) look(folder);
  remove(folder);
  return { deleted, errors };
}

export const pruned = state({
  doc: 'Removes an empty folder, on request also all empty folders in it.',
  examples: ['/srv/empty:\n  file.pruned:\n    - recurse: true'],
  params: {
    name: common.name,
    recurse: p.bool({ default: false, doc: 'also the folders in it' }),
    ignore_errors: p.bool({ default: false, doc: 'folders that are not empty are not a failure' }),
    older_than: p.scalar({ default: null, doc: 'only folders not changed for this many days' }),
  },
  run(args, ctx) {
    const name = expandUser(args.name);
    const recurse = args.recurse || args.ignore_errors;
    if (!isDir(name)) return ctx.ok(`Directory ${name} is not present`, { name });
    const changes = newDict([['deleted', name]]);
    const foreseen = (): StateResult =>
      ctx.result({ name, result: null, changes, comment: `Directory ${name} is set for removal` });
    return withForecast(ctx, foreseen, async () => {
      const { deleted, errors } = prune(
        name,
        recurse,
        args.older_than === null ? null : (asNumber(args.older_than) ?? 0),
      );
      const removed = newDict([['deleted', recurse ? deleted.sort() : name]]);
      if (errors.length === 0 || (args.ignore_errors && deleted.length > 0)) {
        const comment = recurse ? `Recursively removed empty directories under ${name}` : `Removed directory ${name}`;
        return ctx.ok(deleted.length > 0 ? comment : '', { name, changes: deleted.length > 0 ? removed : newDict() });
      }
      return ctx.fail(`Failed to remove directory ${name}`, {
        name,
        changes: newDict([
          ['deleted', deleted],
          ['errors', errors],
        ]),
      });
    });
  },
});
