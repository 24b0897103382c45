// Functions of `git` for linked worktrees.

import { basename } from 'node:path';
import {
  commandError,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { rmSync, statSync } from 'halite/sdk/fs';
import { encoding, expandPath, gitText, ignore, lineList, options, who, words } from './run.ts';

const cwd = p.string({ doc: 'the checkout' });
const tail = { ...who, ignore_retcode: ignore, output_encoding: encoding };

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** One block of `git worktree list --porcelain`. */
async function worktree(
  block: string,
  place: string,
  user: string | null,
  ctx: ModuleContext,
): Promise<[string, PlainDict] | undefined> {
  const fields = new Map(
    lineList(block).map((line): [string, string] => {
      const at = line.indexOf(' ');
      return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
    }),
  );
  const [path, head] = [fields.get('worktree'), fields.get('HEAD')];
  if (path === undefined || head === undefined) return undefined;
  const detached = fields.has('detached');
  const tags = detached ? lineList(await gitText(['tag', '--points-at', head], { cwd: place, user }, ctx)) : [];
  return [
    path,
    newDict([
      ['stale', !isFolder(path)],
      ['HEAD', head],
      ['detached', detached],
      ['branch', detached ? null : (fields.get('branch') ?? '').replace(/^refs\/heads\//, '')],
      ...(tags.length > 0 ? [['tags', tags] as [string, Value]] : []),
    ]),
  ];
}

export const worktreeFunctions = {
  list_worktrees: fn({
    doc: 'The worktrees of a repository; with stale=True only those whose folder is missing, with all=True both.',
    examples: ['salt myminion git.list_worktrees /path/to/repo'],
    params: {
      cwd,
      stale: p.bool({ default: false, doc: 'only those whose folder is missing' }),
      ...who,
      output_encoding: encoding,
      kwargs: p.kwargs({ doc: 'all' }),
    },
    async run(args, ctx) {
      const all = Boolean(args.kwargs['all']);
      if (all && args.stale) throw commandError("'all' and 'stale' cannot both be set to True");
      const place = expandPath(args.cwd, args.user);
      const text = await gitText(['worktree', 'list', '--porcelain'], { cwd: place, user: args.user }, ctx);
      const found = newDict();
      for (const block of text.trim().split('\n\n')) {
        const entry = await worktree(block, place, args.user, ctx);
        if (entry && (all || entry[1]['stale'] === args.stale)) found[entry[0]] = entry[1];
      }
      return found;
    },
  }),
  worktree_add: fn({
    doc: 'Creates a worktree.',
    examples: ['salt myminion git.worktree_add /path/to/repo/main ../hotfix ref=origin/main'],
    params: {
      cwd,
      worktree_path: p.string({ doc: 'its folder' }),
      ref: p.string({ default: null, falsy: null, doc: 'revision to check out' }),
      reset_branch: p.truthy({ default: null, doc: 'reset an existing branch to it' }),
      force: p.truthy({ default: null, doc: 'also if the branch is checked out in another worktree' }),
      detach: p.bool({ default: false, doc: 'without a branch' }),
      ...options,
      ...tail,
      kwargs: p.kwargs({ doc: 'branch: its name; that of the folder without it' }),
    },
    run(args, ctx) {
      const branch = args.kwargs['branch'];
      if (branch && args.detach) throw invocationError("Only one of 'branch' and 'detach' is allowed");
      const how = args.detach
        ? ['--detach']
        : [
            args.reset_branch ? '-B' : '-b',
            branch ? pyStr(branch) : basename(args.worktree_path),
            ...(args.force ? ['--force'] : []),
          ];
      const command = [...words(args.git_opts), 'worktree', 'add', ...how, ...words(args.opts), args.worktree_path];
      return gitText(
        [...command, ...(args.ref ? [args.ref] : [])],
        { cwd: expandPath(args.cwd, args.user), user: args.user, merge: true },
        ctx,
      );
    },
  }),
  worktree_prune: fn({
    doc: 'Removes the records of worktrees whose folder is missing.',
    examples: ['salt myminion git.worktree_prune /path/to/repo dry_run=True'],
    params: {
      cwd,
      dry_run: p.bool({ default: false, doc: 'only report it' }),
      verbose: p.bool({ default: true, doc: 'print what was done' }),
      expire: p.string({ default: null, falsy: null, doc: 'only those older than that' }),
      ...options,
      ...tail,
    },
    run: (args, ctx) =>
      gitText(
        [
          ...words(args.git_opts),
          'worktree',
          'prune',
          ...(args.dry_run ? ['--dry-run'] : []),
          ...(args.verbose ? ['--verbose'] : []),
          ...(args.expire ? ['--expire', args.expire] : []),
          ...words(args.opts),
        ],
        { cwd: expandPath(args.cwd, args.user), user: args.user, merge: true },
        ctx,
      ),
  }),
  worktree_rm: fn({
    doc: 'Removes the folder of a worktree. git.worktree_prune removes its record.',
    examples: ['salt myminion git.worktree_rm /path/to/worktree'],
    params: { cwd, user: who.user, output_encoding: encoding },
    async run(args, ctx) {
      const place = expandPath(args.cwd, args.user);
      if (!isFolder(place)) throw commandError(`${place} does not exist`);
      if (!(await ctx.callWith('git.is_worktree', [place], { user: args.user })))
        throw commandError(`${place} is not a git worktree`);
      rmSync(place, { recursive: true, force: true });
      return true;
    },
  }),
};
