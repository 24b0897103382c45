// Owner and group of the unpacked files.
import { type PlainDict, pyStr, type StateContext, type StateResult, textKeyed } from 'halite/sdk';
import { joinPath, lchownSync } from 'halite/sdk/fs';
import { isDir, lookAtLink } from '../../shared/file/facts.ts';
import { gidOf, uidOf } from '../../shared/file/owner.ts';
import { type Contents, listed } from './compare.ts';
import type { Args, Work } from './plan-work.ts';

interface Owned {
  readonly missing: string[];
  readonly failed: string[];
}

export async function enforceOwner(
  work: Work,
  contents: Contents,
  changes: PlainDict,
  ctx: StateContext,
): Promise<Owned> {
  const { args, name } = work;
  const [missing, failed]: [string[], string[]] = [[], []];
  if (!args.user && !args.group) return { missing, failed };
  const only = args.enforce_ownership_on === null ? undefined : pyStr(args.enforce_ownership_on);
  const dirs = only === undefined ? contents.top_level_dirs : isDir(only) ? [only] : [];
  const files =
    only === undefined ? [...contents.top_level_files, ...contents.top_level_links] : isDir(only) ? [] : [only];
  const recurse = [...(args.user ? ['user'] : []), ...(args.group ? ['group'] : [])];
  for (const dir of dirs) {
    const path = joinPath(name, dir);
    if (!isDir(path)) {
      missing.push(path);
      continue;
    }
    const done = await ctx.state('file.directory', { name: path, user: args.user, group: args.group, recurse });
    if (Object.keys(textKeyed(done.changes)).length > 0) changes['updated ownership'] = true;
    if (done.result === false) failed.push(path);
  }
  const [uid, gid] = [args.user ? uidOf(args.user) : '', args.group ? gidOf(args.group) : ''];
  for (const file of files) {
    const path = joinPath(name, file);
    const stats = lookAtLink(path);
    if (!stats) {
      missing.push(path);
      failed.push(path);
      continue;
    }
    if ((uid === '' || uid === stats.uid) && (gid === '' || gid === stats.gid)) continue;
    try {
      // One of many files: the loop compares them in both modes.
      if (!ctx.test) lchownSync(path, uid === '' ? stats.uid : uid, gid === '' ? stats.gid : gid);
      changes['updated ownership'] = true;
    } catch {
      failed.push(file);
    }
  }
  // Under test missing files are not unpacked yet.
  return ctx.test ? { missing: [], failed: failed.filter((path) => !missing.includes(path)) } : { missing, failed };
}

export function addOwnerNotes(result: StateResult, owned: Owned, args: Args): void {
  const lead = '\n\nWhile trying to enforce user/group ownership, ';
  if (owned.missing.length > 0) {
    if (!args.if_missing) result.result = false;
    result.comment += listed(`${lead}the following paths were missing:`, owned.missing);
  }
  if (owned.failed.length > 0) {
    result.result = false;
    result.comment += listed(`${lead}Salt was unable to change ownership on the following paths:`, owned.failed);
  }
}
