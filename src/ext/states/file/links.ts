// `file.symlink` and `file.hardlink`.
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
  withForecast,
} from 'halite/sdk';
import {
  baseName,
  dirName,
  expandUser,
  joinPath,
  lchownSync,
  linkSync,
  normalizeMode,
  normalPath,
  osReason,
  osText,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'halite/sdk/fs';
import {
  defaultUser,
  exists,
  groupOf,
  isDir,
  isLink,
  isRegular,
  lexists,
  lookAt,
  lookAtLink,
  mainGroupOf,
  ownerArgument,
  ownerOf,
} from '../../shared/file/facts.ts';
import { makeParents } from '../../shared/file/folders.ts';
import { gidOf, uidOf } from '../../shared/file/owner.ts';
import { failureText } from './errors.ts';
import * as common from './params.ts';

interface Owner {
  readonly user: Value;
  readonly group: Value;
}

/** Present owner and group of the link itself. */
function ownersOf(path: string): Owner {
  const stats = lookAtLink(path);
  return stats ? { user: ownerOf(stats), group: groupOf(stats) } : { user: false, group: false };
}

const owned = (path: string, owner: Owner): boolean => {
  const stats = lookAtLink(path);
  return stats !== undefined && uidOf(owner.user) === stats.uid && gidOf(owner.group) === stats.gid;
};

function own(path: string, owner: Owner): boolean {
  const [uid, gid] = [uidOf(owner.user), gidOf(owner.group)];
  try {
    if (uid !== '' && gid !== '') lchownSync(path, uid, gid);
  } catch {
    // The comparison below reports it.
  }
  return owned(path, owner);
}

const pair = (owner: Owner): string => `${pyStr(owner.user)}:${pyStr(owner.group)}`;

/** Checks the arguments before any change; '' when they are correct. */
function preflight(name: string, owner: Owner, target?: string): string {
  const problems: string[] = [];
  if (uidOf(owner.user) === '') problems.push(`User ${pyStr(owner.user)} does not exist`);
  if (gidOf(owner.group) === '') problems.push(`Group ${pyStr(owner.group)} does not exist`);
  if (!name.startsWith('/')) problems.push(`Specified file ${name} is not an absolute path`);
  if (target !== undefined && !target.startsWith('/'))
    problems.push(`Specified target ${target} is not an absolute path`);
  return problems.join('. ') + (problems.length > 1 ? '.' : '');
}

const symlinkParams = {
  name: common.name,
  target: p.string({ doc: 'what the link points to' }),
  force: p.bool({ default: false, doc: 'replace a file or folder of that name' }),
  backupname: p.scalar({ default: null, doc: 'where an existing file or folder is moved to' }),
  makedirs: common.makedirs,
  user: common.user,
  group: common.group,
  mode: p.scalar({ default: null, doc: 'permission bits of new folders' }),
  win_owner: common.windowsParams.win_owner,
  win_perms: common.windowsParams.win_perms,
  win_deny_perms: common.windowsParams.win_deny_perms,
  win_inheritance: common.windowsParams.win_inheritance,
  atomic: p.bool({ default: false, doc: 'replace an existing path atomically' }),
  disallow_copy_and_unlink: p.bool({ default: false, doc: 'move a file only by renaming it' }),
  inherit_user_and_group: p.bool({ default: false, doc: 'a link that exists keeps its owner' }),
  kwargs: p.kwargs({ doc: 'accepted' }),
};
type LinkArgs = ArgsOf<typeof symlinkParams>;

interface LinkWork {
  readonly name: string;
  readonly target: string;
  readonly owner: Owner;
  readonly args: LinkArgs;
}

interface Forecast {
  readonly result: boolean | null;
  readonly comment: string;
  readonly changes: PlainDict;
}

/** The path of the backup, or an error. */
function backupPath(name: string, target: string, args: LinkArgs): { path: string } | { problem: string } {
  let path = pyStr(args.backupname ?? '');
  if (!path.startsWith('/')) {
    if (path !== baseName(path)) return { problem: `Backupname must be an absolute path or a file name: ${path}` };
    path = joinPath(dirName(normalPath(name)), path);
  }
  if (!lexists(path) || args.force) return { path };
  return { problem: `Symlink & backup dest exists and Force not set. ${name} -> ${target} - backup: ${path}` };
}

const folderRefusal = (name: string, args: LinkArgs): string =>
  args.atomic ? `Could not create '${name}'` : `[Errno 21] Is a directory: '${name}'`;

/** What would happen, with the texts of Salt's test mode. */
function forecast({ name, target, owner, args }: LinkWork): Forecast {
  if (!lexists(name)) {
    return {
      result: null,
      comment: `Symlink ${name} to ${target} is set for creation`,
      changes: newDict([['new', name]]),
    };
  }
  if (!isLink(name)) {
    const changes = newDict();
    // As in Salt, force and atomic remove files, not folders.
    if (isDir(name) && args.backupname === null && (args.force || args.atomic)) {
      return {
        result: false,
        comment: `Unable to create new symlink ${name} -> ${target}: ${folderRefusal(name, args)}`,
        changes,
      };
    }
    const backup = args.backupname === null ? undefined : backupPath(name, target, args);
    if (backup && 'problem' in backup) return { result: false, comment: backup.problem, changes };
    if (args.force || backup || args.atomic) {
      const comment = `The file or directory ${name} is set for removal to make way for a new symlink targeting ${target}`;
      return { result: null, comment, changes };
    }
    const comment = `File or directory exists where the symlink ${name} should be. Did you mean to use force?`;
    return { result: false, comment, changes };
  }
  if (normalPath(readlinkSync(name)) !== normalPath(target)) {
    return {
      result: null,
      comment: `Link ${name} target is set to be changed to ${target}`,
      changes: newDict([['change', name]]),
    };
  }
  if (owned(name, owner)) return { result: true, comment: `The symlink ${name} is present`, changes: newDict() };
  const now = pair(ownersOf(name));
  const comment = `The symlink ${name} is present, but the ownership of the symlink would be changed from ${now} to ${pair(owner)}`;
  return { result: null, comment, changes: newDict([['ownership', now]]) };
}

/** Moves an existing path to its backup; returns a text on failure. */
function moveAway({ name, target, args }: LinkWork): string | undefined {
  const backup = backupPath(name, target, args);
  if ('problem' in backup) return backup.problem;
  try {
    rmSync(backup.path, { recursive: true, force: true });
    renameSync(name, backup.path);
    return undefined;
  } catch (error) {
    const why = osText(error, backup.path);
    return `Unable to rename ${name} to backup ${backup.path} -> : Unable to move '${name}' to '${backup.path}': ${why}`;
  }
}

function makeLink({ name, target, args }: LinkWork): void {
  if (args.atomic) {
    const beside = `${name}.${process.pid}.halite-link`;
    symlinkSync(target, beside);
    try {
      renameSync(beside, name);
    } finally {
      rmSync(beside, { force: true });
    }
    return;
  }
  if (args.force && lexists(name)) unlinkSync(name);
  symlinkSync(target, name);
}

/** Handles a link that already has the right target. */
function keepLink({ name, owner }: LinkWork, ctx: StateContext): StateResult {
  if (owned(name, owner)) return ctx.ok(`Symlink ${name} is present and owned by ${pair(owner)}`, { name });
  if (!own(name, owner)) return ctx.fail(`Failed to set ownership of symlink ${name} to ${pair(owner)}`, { name });
  const changes = newDict([['ownership', pair(owner)]]);
  return ctx.ok(`Set ownership of symlink ${name} to ${pair(owner)}`, { name, changes });
}

function applyLink(work: LinkWork, ctx: StateContext): StateResult {
  const { name, target, owner, args } = work;
  if (isLink(name)) {
    if (normalPath(readlinkSync(name)) === normalPath(target)) return keepLink(work, ctx);
    if (!args.atomic) unlinkSync(name);
  } else if (exists(name)) {
    const kind = isRegular(name) ? 'File' : isDir(name) ? 'Directory' : 'File system entry';
    const problem =
      args.backupname !== null
        ? moveAway(work)
        : args.force || args.atomic
          ? undefined
          : `${kind} exists where the symlink ${name} should be`;
    if (problem) return ctx.fail(problem, { name });
  }
  try {
    if (isDir(name) && !isLink(name))
      return ctx.fail(`Unable to create new symlink ${name} -> ${target}: ${folderRefusal(name, args)}`, { name });
    makeLink(work);
  } catch (error) {
    return ctx.fail(`Unable to create new symlink ${name} -> ${target}: ${failureText(error)}`, { name });
  }
  const changes = newDict([['new', name]]);
  const comment = `Created new symlink ${name} -> ${target}`;
  if (owned(name, owner) || own(name, owner)) return ctx.ok(comment, { name, changes });
  return ctx.fail(`${comment}, but was unable to set ownership to ${pair(owner)}`, { name, changes });
}

function linkOwner(args: LinkArgs, name: string, ctx: StateContext): Owner {
  const now = args.inherit_user_and_group && isLink(name) ? ownersOf(name) : { user: null, group: null };
  const user = ownerArgument(args.user, args.kwargs, ctx) ?? now.user ?? defaultUser(ctx);
  return { user, group: args.group ?? now.group ?? mainGroupOf(user) };
}

export const symlink = state({
  doc: 'A symbolic link.',
  examples: ['/etc/grub2.conf:\n  file.symlink:\n    - target: /boot/grub2/grub.conf'],
  params: symlinkParams,
  async run(args, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.symlink', { name });
    const work: LinkWork = { name, target: args.target, owner: linkOwner(args, name, ctx), args };
    const problem = preflight(name, work.owner);
    if (problem) return ctx.fail(problem, { name });
    const plan = forecast(work);
    const folder = dirName(name);
    const missing = `Directory ${folder} for symlink is not present`;
    const more = isDir(folder) ? '' : args.makedirs ? `\n${folder} will be created` : `\n${missing}`;
    return withForecast(
      ctx,
      () => ctx.result({ name, changes: plan.changes, result: plan.result, comment: plan.comment + more }),
      async () => {
        if (more && !args.makedirs) return ctx.fail(missing, { name });
        if (more) await makeParents(name, { ...work.owner, mode: normalizeMode(args.mode) }, ctx);
        return applyLink(work, ctx);
      },
    );
  },
});

const sameFile = (a: string, b: string): boolean => {
  const [one, two] = [lookAtLink(a), lookAtLink(b)];
  return one !== undefined && two !== undefined && one.ino === two.ino && one.dev === two.dev;
};
const isHardlink = (path: string): boolean => (lookAtLink(path)?.nlink ?? 0) > 1;

function hardForecast(name: string, target: string, force: boolean): Forecast {
  const no = (comment: string): Forecast => ({ result: false, comment, changes: newDict() });
  if (!exists(target)) return no(`Target ${target} for hard link does not exist`);
  if (isDir(target)) return no(`Unable to hard link from directory ${target}`);
  if (isDir(name)) return no(`Unable to hard link to directory ${name}`);
  if (!exists(name)) {
    return {
      result: null,
      comment: `Hard link ${name} to ${target} is set for creation`,
      changes: newDict([['new', name]]),
    };
  }
  if (isHardlink(name)) {
    if (sameFile(name, target))
      return { result: true, comment: `The hard link ${name} is presently targetting ${target}`, changes: newDict() };
    return {
      result: null,
      comment: `Link ${name} target is set to be changed to ${target}`,
      changes: newDict([['change', name]]),
    };
  }
  if (!force) return no(`File or directory exists where the hard link ${name} should be. Did you mean to use force?`);
  const comment = `The file or directory ${name} is set for removal to make way for a new hard link targeting ${target}`;
  return { result: null, comment, changes: newDict() };
}

function linkHard(name: string, target: string, changes: PlainDict, ctx: StateContext): StateResult {
  const there = lookAt(name) !== undefined;
  try {
    if (there) rmSync(name);
    linkSync(target, name);
  } catch (error) {
    const what = there ? 'Unable to set target of hard link' : 'Unable to create new hard link';
    return ctx.fail(`${what} ${name} -> ${target}: ${osReason(error)}`, { name, changes });
  }
  changes['new'] = name;
  return ctx.ok(`${there ? 'Set target of hard link' : 'Created new hard link'} ${name} -> ${target}`, {
    name,
    changes,
  });
}

export const hardlink = state({
  doc: 'A second name for a file.',
  examples: ['/etc/grub.conf:\n  file.hardlink:\n    - target: /boot/grub2/grub.conf'],
  params: {
    name: common.name,
    target: p.string({ doc: 'the file that gets a second name' }),
    force: p.bool({ default: false, doc: 'replace a file of that name' }),
    makedirs: common.makedirs,
    user: common.user,
    group: common.group,
    dir_mode: p.scalar({ default: null, doc: 'permission bits of new folders' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  async run(args, ctx) {
    const name = expandUser(args.name);
    const { target, force } = args;
    if (!name) return ctx.fail('Must provide name to file.hardlink', { name });
    const user = ownerArgument(args.user, args.kwargs, ctx) ?? defaultUser(ctx);
    const owner = { user, group: args.group ?? mainGroupOf(user) };
    const problem = preflight(name, owner, target);
    if (problem) return ctx.fail(problem, { name });
    return withForecast(
      ctx,
      () => ctx.result({ name, ...hardForecast(name, target, force) }),
      async () => {
        if (isDir(name)) return ctx.fail(`Unable to hard link to directory ${name}`, { name });
        if (isDir(target)) return ctx.fail(`Unable to hard link from directory ${target}`, { name });
        if (!exists(target)) return ctx.fail(`Target ${target} for hard link does not exist`, { name });
        if (!isDir(dirName(name))) {
          if (!args.makedirs) return ctx.fail(`Directory ${dirName(name)} for hard link is not present`, { name });
          await makeParents(name, { ...owner, mode: normalizeMode(args.dir_mode) }, ctx);
        }
        const changes = newDict();
        if (isRegular(name) && !isHardlink(name)) {
          if (!force) return ctx.fail(`File exists where the hard link ${name} should be`, { name });
          rmSync(name);
          changes['forced'] = 'File for hard link was forcibly replaced';
        }
        if (isHardlink(name) && sameFile(name, target)) {
          return ctx.ok(`Target of hard link ${name} is already pointing to ${target}`, { name });
        }
        return linkHard(name, target, changes, ctx);
      },
    );
  },
});
