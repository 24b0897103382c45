// `file.copy` and `file.rename`: copy and move local files.

import { type ArgsOf, newDict, p, pyStr, type StateContext, type StateResult, state, type Value } from 'halite/sdk';
import {
  baseName,
  chmodSync,
  copyFileSync,
  cpSync,
  dirName,
  expandUser,
  joinPath,
  lchownSync,
  normalizeMode,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
} from 'halite/sdk/fs';
import {
  accountProblem,
  defaultUser,
  exists,
  expandVariables,
  groupOf,
  isDir,
  isLink,
  isRegular,
  lexists,
  lookAt,
  mainGroupOf,
  modeOf,
  ownerArgument,
  ownerOf,
} from '../../shared/file/facts.ts';
import { folderModeFor, makeParents, walk } from '../../shared/file/folders.ts';
import { hashOfFile } from '../../shared/file/hash-sums.ts';
import { gidOf, uidOf } from '../../shared/file/owner.ts';
import { setPerms } from '../../shared/file/perms.ts';
import * as common from './params.ts';

const params = {
  name: common.name,
  source: p.path({ doc: 'file or folder of this machine' }),
  force: p.bool({ default: false, doc: 'replace an existing path' }),
  makedirs: common.makedirs,
  preserve: p.bool({ default: false, doc: 'keep owner and mode of the source' }),
  user: common.user,
  group: common.group,
  mode: common.mode,
  dir_mode: p.scalar({ default: null, doc: 'permission bits of new folders' }),
  subdir: p.bool({ default: false, doc: 'into the folder of that name' }),
  kwargs: p.kwargs({ doc: 'accepted' }),
};
type Args = ArgsOf<typeof params>;

interface Wanted {
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
}

function wantedOf(source: string, args: Args, ctx: StateContext): Wanted {
  const stats = statSync(source);
  if (args.preserve) return { user: ownerOf(stats), group: groupOf(stats), mode: modeOf(stats) };
  const user = ownerArgument(args.user, args.kwargs, ctx) ?? defaultUser(ctx);
  return { user, group: args.group ?? mainGroupOf(user), mode: args.mode ?? modeOf(stats) };
}

function copyTree(source: string, name: string, wanted: Wanted): void {
  cpSync(source, name, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const [uid, gid] = [uidOf(wanted.user), gidOf(wanted.group)];
  if (uid === '' || gid === '') return;
  for (const { root, folders, files } of walk(name)) {
    for (const entry of [...folders, ...files]) lchownSync(joinPath(root, entry), uid, gid);
  }
}

async function applyCopy(
  name: string,
  source: string,
  wanted: Wanted,
  comment: string,
  args: Args,
  ctx: StateContext,
): Promise<StateResult> {
  const shown = expandUser(args.name);
  const fail = (problem: string): StateResult => ctx.fail(problem, { name: shown });
  if (lexists(name)) {
    try {
      rmSync(name, { recursive: true, force: true });
    } catch {
      return fail(`Failed to delete "${name}" in preparation for forced move`);
    }
  }
  const folder = dirName(name);
  if (!isDir(folder)) {
    if (!args.makedirs) return fail(`The target directory ${folder} is not present`);
    const mode = args.dir_mode ?? folderModeFor(pyStr(wanted.mode));
    await makeParents(name, { user: wanted.user, group: wanted.group, mode }, ctx);
  }
  try {
    if (isDir(source)) copyTree(source, name, wanted);
    else {
      copyFileSync(source, name);
      chmodSync(name, statSync(source).mode & 0o7777);
    }
  } catch {
    return fail(`Failed to copy "${source}" to "${name}"`);
  }
  const changes = newDict([[name, source]]);
  if (args.preserve) return ctx.ok(comment, { name: shown, changes });
  const done = await setPerms(name, wanted, ctx);
  Object.assign(changes, done.changes);
  return ctx.result({ name: shown, changes, result: done.ok, comment: [comment, ...done.problems].join('; ') });
}

export const copy = state({
  doc: 'A copy of a file or folder of this machine.',
  examples: ['/etc/example.conf:\n  file.copy:\n    - source: /usr/share/example/example.conf'],
  params,
  async run(args, ctx) {
    let name = expandUser(args.name);
    const source = expandUser(args.source);
    const shown = name;
    const fail = (problem: string): StateResult => ctx.fail(problem, { name: shown });
    if (!name) return fail('Must provide name to file.copy');
    if (!name.startsWith('/')) return fail(`Specified file ${name} is not an absolute path`);
    if (!exists(source)) return fail(`Source file "${source}" is not present`);
    const wanted = wantedOf(source, args, ctx);
    const account = args.preserve ? '' : accountProblem(wanted.user, wanted.group, ctx);
    if (account) return fail(account);
    let comment = `Copied "${source}" to "${name}"`;
    if (isDir(name) && args.subdir) name = joinPath(name, baseName(source));
    if (lexists(name)) {
      if (!args.force) return ctx.ok(`The target file "${name}" exists and will not be overwritten`, { name: shown });
      const identical =
        isRegular(name) && isRegular(source) && hashOfFile(name, 'sha256') === hashOfFile(source, 'sha256');
      if (identical) comment += ' - files are identical but force flag is set';
    }
    const done = await ctx.change(newDict([[name, source]]), comment, {
      test: `File "${source}" is set to be copied to "${name}"`,
      testChanges: newDict(),
      apply: () => applyCopy(name, source, wanted, comment, args, ctx),
    });
    return Object.assign(done, { name: shown });
  },
});

/** Renames; across file systems, copies and removes. */
function move(source: string, name: string): void {
  if (isLink(source)) {
    symlinkSync(readlinkSync(source), name);
    unlinkSync(source);
    return;
  }
  // Like mv: into an existing folder.
  const target = isDir(name) ? joinPath(name, baseName(source.replace(/\/+$/, ''))) : name;
  try {
    renameSync(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    cpSync(source, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    const stats = lookAt(source);
    if (stats) lchownSync(target, stats.uid, stats.gid);
    rmSync(source, { recursive: true });
  }
}

export const rename = state({
  doc: 'Moves a file or folder of this machine, if it still has its old path.',
  examples: ['/etc/new.conf:\n  file.rename:\n    - source: /etc/old.conf'],
  params: {
    name: common.name,
    source: p.path({ doc: 'the old path' }),
    force: p.bool({ default: false, doc: 'replace an existing path' }),
    makedirs: common.makedirs,
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  async run(args, ctx) {
    const name = expandVariables(expandUser(args.name));
    const source = expandVariables(expandUser(args.source));
    if (!name) return ctx.fail('Must provide name to file.rename', { name });
    if (!name.startsWith('/')) return ctx.fail(`Specified file ${name} is not an absolute path`, { name });
    if (!lexists(source)) return ctx.ok(`Source file "${source}" has already been moved out of place`, { name });
    if (lexists(name) && !args.force)
      return ctx.ok(`The target file "${name}" exists and will not be overwritten`, { name });
    const apply = async (): Promise<StateResult | undefined> => {
      if (lexists(name)) rmSync(name, { recursive: true, force: true });
      if (!isDir(dirName(name))) {
        if (!args.makedirs) return ctx.fail(`The target directory ${dirName(name)} is not present`, { name });
        await makeParents(name, { user: null, group: null, mode: normalizeMode(null) }, ctx);
      }
      try {
        move(source, name);
        return undefined;
      } catch {
        return ctx.fail(`Failed to move "${source}" to "${name}"`, { name });
      }
    };
    const done = await ctx.change(newDict([[name, source]]), `Moved "${source}" to "${name}"`, {
      test: `File "${source}" is set to be moved to "${name}"`,
      testChanges: newDict(),
      apply,
    });
    return Object.assign(done, { name });
  },
});
