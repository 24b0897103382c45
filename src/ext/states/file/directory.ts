// `file.directory`: a folder with owner and mode, on request also for its content, and without unmanaged files.

import {
  type ArgsOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';
import { dirName, expandUser, joinPath, normalizeMode, renameSync, rmSync } from 'halite/sdk/fs';
import {
  accountProblem,
  inGroup,
  isDir,
  isLink,
  isRegular,
  lexists,
  lookAt,
  lookAtLink,
  modeOf,
  ownedBy,
  ownerArgument,
} from '../../shared/file/facts.ts';
import { makeFolder, type Walked, walk } from '../../shared/file/folders.ts';
import { gidOf, uidOf } from '../../shared/file/owner.ts';
import { setPerms } from '../../shared/file/perms.ts';
import { isIncluded } from '../shared/text.ts';
import { failureText } from './errors.ts';
import { keptFiles, relativeTo, removeAll, unwanted } from './keep.ts';
import * as common from './params.ts';

const params = {
  name: common.name,
  user: common.user,
  group: common.group,
  recurse: p.oneOf(['list', 'string'], {
    default: null,
    doc: 'what to enforce for the content: user, group, mode, ignore_files, ignore_dirs, silent',
  }),
  max_depth: p.scalar({ default: null, doc: 'how many levels down `recurse` goes' }),
  dir_mode: p.scalar({ default: null, doc: 'permission bits of folders' }),
  file_mode: p.scalar({ default: null, doc: 'permission bits of files, with `recurse: [mode]`' }),
  makedirs: common.makedirs,
  clean: p.bool({ default: false, doc: 'remove what no required state manages' }),
  require: p.oneOf(['list', 'dict', 'string'], {
    default: null,
    doc: 'states whose files are kept when the folder is cleaned',
  }),
  exclude_pat: p.scalar({
    default: null,
    doc: 'glob, or regular expression after `E@`, of names to keep when cleaning',
  }),
  follow_symlinks: p.bool({ default: false, doc: 'change what links point to' }),
  force: p.bool({ default: false, doc: 'replace a file or link of that name' }),
  backupname: p.scalar({ default: null, doc: 'where an existing file is moved to' }),
  allow_symlink: p.bool({ default: true, doc: 'accept a link to a folder' }),
  children_only: p.bool({ default: false, doc: 'do not change the folder itself' }),
  ...common.windowsParams,
  kwargs: p.kwargs({ doc: '`mode` is another word for `dir_mode`' }),
};
type Args = ArgsOf<typeof params>;

interface Work {
  readonly name: string;
  readonly user: Value;
  readonly group: Value;
  readonly dirMode: string | null;
  readonly fileMode: string | null;
  readonly args: Args;
}

const recurseTypes = ['user', 'group', 'mode', 'ignore_files', 'ignore_dirs', 'silent'];

function recurseSet(recurse: Value): Set<string> | { problem: string } {
  if (recurse === null || recurse === '' || (Array.isArray(recurse) && recurse.length === 0) || recurse === false)
    return new Set();
  if (!Array.isArray(recurse)) return { problem: '"recurse" must be formed as a list of strings' };
  if (recurse.some((item) => typeof item !== 'string' || !recurseTypes.includes(item))) {
    return { problem: `Types for "recurse" limited to ${recurseTypes.map((type) => `"${type}"`).join(', ')}.` };
  }
  const found = new Set(recurse as string[]);
  if (found.has('ignore_files') && found.has('ignore_dirs')) {
    return { problem: 'Must not specify "recurse" options "ignore_files" and "ignore_dirs" at the same time.' };
  }
  return found;
}

/** The differences of one path. */
function differs(path: string, user: Value, group: Value, mode: string | null, follow: boolean): PlainDict {
  const stats = (follow ? lookAt(path) : undefined) ?? lookAtLink(path);
  if (!stats) return newDict([['directory', 'new']]);
  const changes = newDict();
  if (!ownedBy(stats, user)) changes['user'] = user;
  if (!inGroup(stats, group)) changes['group'] = group;
  if (mode !== null && !stats.isSymbolicLink() && mode !== modeOf(stats)) changes['mode'] = mode;
  return changes;
}

/** The requested properties of the content, limited by `recurse`. */
interface Below {
  readonly user: Value;
  readonly group: Value;
  readonly dirMode: string | null;
  readonly fileMode: string | null;
  readonly files: boolean;
  readonly folders: boolean;
}

function belowOf(work: Work, types: Set<string>): Below {
  return {
    user: types.has('user') ? work.user : null,
    group: types.has('group') ? work.group : null,
    dirMode: types.has('mode') ? work.dirMode : null,
    fileMode: types.has('mode') ? work.fileMode : null,
    files: !types.has('ignore_files'),
    folders: !types.has('ignore_dirs'),
  };
}

function* pathsBelow(walked: readonly Walked[], below: Below): Generator<{ path: string; mode: string | null }> {
  for (const { root, folders, files } of walked) {
    if (below.files) for (const file of files) yield { path: joinPath(root, file), mode: below.fileMode };
    if (below.folders) for (const folder of folders) yield { path: joinPath(root, folder), mode: below.dirMode };
  }
}

interface Needed {
  readonly problem?: string;
  readonly changes: PlainDict;
  readonly walked: Walked[];
  readonly types: Set<string>;
}

/** All differences by path, in Salt's form. */
async function needed(work: Work, ctx: StateContext): Promise<Needed> {
  const { name, args } = work;
  const changes = newDict();
  const types = recurseSet(args.recurse);
  const wanted = types instanceof Set ? types : new Set<string>();
  const walked =
    wanted.size > 0 || args.clean ? [...walk(name, typeof args.max_depth === 'number' ? args.max_depth : null)] : [];
  if (!(types instanceof Set)) return { problem: types.problem, changes, walked, types: wanted };
  // As in Salt: properties that `recurse` does not name are not compared for the folder itself either.
  const below = wanted.size > 0 ? belowOf(work, wanted) : { user: work.user, group: work.group, dirMode: work.dirMode };
  if (wanted.size > 0) {
    for (const { path, mode } of pathsBelow(walked, below as Below)) {
      const change = differs(path, below.user, below.group, mode, args.follow_symlinks);
      if (Object.keys(change).length > 0) changes[path] = change;
    }
  }
  if (!args.children_only) {
    const change = differs(name, below.user, below.group, below.dirMode, args.follow_symlinks);
    if (Object.keys(change).length > 0) changes[name] = change;
  }
  if (args.clean) {
    const kept = new Set(await keptFiles(name, args.require, ctx));
    for (const { root, folders, files } of walked) {
      for (const entry of [...files, ...folders]) {
        const path = joinPath(root, entry);
        if (kept.has(path) || !isIncluded(relativeTo(path, name), null, args.exclude_pat)) continue;
        changes[path] = newDict([['removed', 'Removed due to clean']]);
      }
    }
  }
  if (!isDir(name)) changes[name] = newDict([['directory', 'new']]);
  return { changes, walked, types: wanted };
}

function announced(changes: PlainDict): string {
  const rows = Object.entries(changes).flatMap(([path, change]) =>
    Object.entries(change as PlainDict).map(([key, value]) => `${path}: ${key} - ${pyStr(value)}\n`),
  );
  return `The following files will be changed:\n${rows.join('')}`;
}

/** Removes a file or link in place of the folder. Returns a final result, or changes to report. */
function makeWay(work: Work, ctx: StateContext): StateResult | PlainDict {
  const { name, args } = work;
  const link = isLink(name);
  const inTheWay = isRegular(name) || (!args.allow_symlink && link) || (args.force && link);
  const changes = newDict();
  if (!inTheWay) return changes;
  if (args.backupname !== null) return moveAway(work, pyStr(args.backupname), ctx);
  const kind = isRegular(name) ? 'File' : link ? 'Symlink' : 'Directory';
  if (!args.force)
    return ctx.fail(`Specified location ${name} exists and is a ${isRegular(name) ? 'file' : 'symlink'}`, { name });
  // Making room is one step before the folder itself; its words go into the changes of that.
  if (!ctx.test) rmSync(name, { recursive: true, force: true });
  changes['forced'] = `${kind} ${ctx.test ? 'would be' : 'was'} forcibly replaced`;
  return changes;
}

function moveAway(work: Work, backup: string, ctx: StateContext): StateResult | PlainDict {
  const { name } = work;
  const changes = newDict();
  if (lexists(backup)) {
    if (!work.args.force) return ctx.fail(`File exists where the backup target ${backup} should go`, { name });
    // Under test the state ends here: what is made afterwards belongs to a path that is still taken.
    if (ctx.test) changes['forced'] = `Existing file at backup path ${backup} would be removed`;
    else rmSync(backup, { recursive: true, force: true });
  }
  if (!ctx.test) {
    renameSync(name, backup);
    return changes;
  }
  changes['backup'] = `${name} would be renamed to ${backup}`;
  changes[name] = newDict([['directory', 'new']]);
  return ctx.result({
    name,
    changes,
    result: null,
    comment: `${name} would be backed up and replaced with a new directory`,
  });
}

/** An error that prevents setting owners of the content. */
function recurseProblem(work: Work, types: Set<string>): string | undefined {
  const { user, group } = work;
  let problem: string | undefined;
  const rule = 'not specified, but configured as a target for recursive ownership management';
  if (types.has('user')) {
    if (user === null || user === '') problem = `user ${rule}`;
    else if (uidOf(user) === '') problem = `Failed to enforce ownership for user ${pyStr(user)} (user does not exist)`;
  }
  if (types.has('group')) {
    if (group === null || group === '') problem = `group ${rule}`;
    else if (gidOf(group) === '') problem = `Failed to enforce group ownership for group ${pyStr(group)}`;
  }
  return problem;
}

interface Tally {
  changes: PlainDict;
  ok: boolean;
  comments: string[];
  errors: string[];
}

async function enforceBelow(work: Work, plan: Needed, tally: Tally, ctx: StateContext): Promise<void> {
  const { types } = plan;
  const problem = recurseProblem(work, types);
  if (problem) {
    tally.ok = false;
    tally.comments = [problem];
  }
  const below = belowOf(work, types);
  if (types.has('silent')) tally.changes = newDict([['recursion', 'Changes silenced']]);
  for (const { path, mode } of pathsBelow(plan.walked, below)) {
    try {
      const done = await setPerms(
        path,
        { user: below.user, group: below.group, mode, follow: work.args.follow_symlinks },
        ctx,
      );
      Object.assign(tally.changes, done.changes);
      tally.comments.push(...done.problems);
      tally.ok &&= done.ok;
    } catch (error) {
      const text = failureText(error);
      if (!text.startsWith('Path not found')) tally.errors.push(text);
    }
  }
}

async function create(work: Work, changes: PlainDict, ctx: StateContext): Promise<StateResult> {
  const { name, user, group } = work;
  if (!isDir(dirName(name)) && !work.args.makedirs)
    return ctx.fail(`No directory to create ${name} in`, { name, changes });
  await makeFolder(name, { user, group, mode: work.dirMode }, ctx);
  if (!isDir(name)) return ctx.fail(`Failed to create directory ${name}`, { name, changes });
  return ctx.result({ name, changes, result: true, comment: '' });
}

async function enforce(work: Work, plan: Needed, changes: PlainDict, ctx: StateContext): Promise<StateResult> {
  const { name, args } = work;
  if (!isDir(name)) return create(work, changes, ctx);
  const tally: Tally = { changes, ok: true, comments: [], errors: [] };
  if (!args.children_only) {
    const done = await setPerms(
      name,
      { user: work.user, group: work.group, mode: work.dirMode, follow: args.follow_symlinks },
      ctx,
    );
    Object.assign(tally.changes, done.changes);
    tally.comments.push(...done.problems);
    tally.ok &&= done.ok;
  }
  if (plan.types.size > 0) await enforceBelow(work, plan, tally, ctx);
  let comment = tally.comments.join('; ');
  if (args.clean) {
    const removed = removeAll(unwanted(name, await keptFiles(name, args.require, ctx), args.exclude_pat));
    if (removed.length > 0) {
      tally.changes['removed'] = removed;
      comment = `Files cleaned from directory ${name}`;
    }
  }
  const changed = Object.keys(tally.changes).length > 0;
  if (!comment && args.children_only) comment = `Directory ${name}/* updated`;
  else if (!comment && changed) comment = `Directory ${name} updated`;
  if (!changed && tally.ok) comment = [`Directory ${name} is in the correct state`, comment].filter(Boolean).join('\n');
  if (tally.errors.length > 0) {
    comment += `\n\nThe following errors were encountered:\n${tally.errors.map((error) => `\n- ${error}`).join('')}`;
  }
  return ctx.result({ name, changes: tally.changes, result: tally.ok && tally.errors.length === 0, comment });
}

async function runDirectory(args: Args, ctx: StateContext): Promise<StateResult> {
  let name = expandUser(args.name);
  if (!name) return ctx.fail('Must provide name to file.directory', { name });
  const shown = name;
  if (name !== '/' && name.endsWith('/')) name = name.slice(0, -1);
  const fail = (problem: string): StateResult => ctx.fail(problem, { name: shown });
  if (args.max_depth !== null && args.clean) return fail('Cannot specify both max_depth and clean');
  const dirMode = args.dir_mode || (args.kwargs['mode'] ?? args.dir_mode);
  const user = ownerArgument(args.user, args.kwargs, ctx);
  const work: Work = {
    name,
    user,
    group: args.group,
    dirMode: normalizeMode(dirMode),
    fileMode: normalizeMode(args.file_mode || dirMode),
    args,
  };
  for (const mode of [work.dirMode, work.fileMode])
    if (mode !== null && !/^\d+$/.test(mode)) return fail(`Invalid Mode ${mode}`);
  const account = accountProblem(user, args.group, ctx);
  if (account) return fail(account);
  if (!name.startsWith('/')) return fail(`Specified file ${name} is not an absolute path`);
  const way = makeWay(work, ctx);
  if ('comment' in way && 'result' in way) return way as StateResult;
  const plan = await needed(work, ctx);
  if (plan.problem) return fail(plan.problem);
  const changes = Object.assign(newDict(), way, plan.changes);
  if (Object.keys(plan.changes).length === 0 && Object.keys(way).length === 0) {
    return ctx.ok(`The directory ${name} is in the correct state`, { name: shown });
  }
  // Under test Salt does not report that a link to a folder is replaced by a folder.
  const isNew =
    Object.keys(plan.changes).length === 0 ? newDict([[name, newDict([['directory', 'new']])]]) : plan.changes;
  const done = await ctx.change(changes, '', {
    test: announced(isNew),
    testChanges: Object.assign(newDict(), way, isNew),
    apply: () => enforce(work, plan, changes, ctx),
  });
  return Object.assign(done, { name: shown });
}

export const directory = state({
  doc: 'A folder with owner and mode.',
  examples: ["/srv/www:\n  file.directory:\n    - user: www-data\n    - mode: '0755'\n    - makedirs: true"],
  params,
  run: runDirectory,
});
