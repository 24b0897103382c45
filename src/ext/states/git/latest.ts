// `git.latest`: a checkout at the newest state of a branch, at a tag or at a commit.

import {
  newDict,
  type PlainDict,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { joinPath, readdirSync, rmSync } from 'halite/sdk/fs';
import { isDir, isRegular } from '../../shared/file/facts.ts';
import { withAuth } from '../../shared/git/auth-url.ts';
import { failureText } from '../file/errors.ts';
import { type LatestArgs, params } from './latest-params.ts';
import { Checkout, failed, gitError, identities, resolveRev, sameRev, sentences, trackingChange } from './shared.ts';
import { updateCheckout } from './update.ts';
import type { Work } from './work.ts';

function argumentProblem(args: LatestArgs): string | undefined {
  const extra = Object.keys(args.kwargs).filter((key) => !key.startsWith('__'));
  if (extra.length > 0)
    return `The following keyword arguments are not valid: ${extra.map((key) => `${key}=${pyStr(args.kwargs[key] as Value)}`).join(', ')}`;
  if (!args.remote) return "'remote' argument is required";
  if (!args.target) return "'target' argument is required";
  if (!args.rev) return `'${pyStr(args.rev)}' is not a valid value for the 'rev' argument`;
  if (args.force_reset !== true && args.force_reset !== false && args.force_reset !== 'remote-changes')
    return "'force_reset' must be one of True, False, or 'remote-changes'";
  if (!pyStr(args.target).startsWith('/')) return `target '${pyStr(args.target)}' is not an absolute path`;
  if (isRegular(pyStr(args.target)))
    return `Target '${pyStr(args.target)}' exists and is a regular file, cannot proceed`;
  if (pyStr(args.rev) !== 'HEAD' && (args.bare || args.mirror))
    return "'rev' is not compatible with the 'mirror' and 'bare' arguments";
  return undefined;
}

/** The branch the remote HEAD stands on. */
function defaultOf(refs: PlainDict): string | null {
  const head = refs['HEAD'];
  const found =
    head === undefined
      ? undefined
      : Object.entries(refs).find(([ref, sha]) => ref.startsWith('refs/heads/') && sha === head);
  return found ? found[0].slice('refs/heads/'.length) : null;
}

async function remoteRefs(args: LatestArgs, identity: Value, ctx: StateContext): Promise<PlainDict> {
  const { user, password, https_user, https_pass, output_encoding } = args;
  const who = { user, password, identity, https_user, https_pass };
  const how = { heads: false, tags: false, ignore_retcode: false, saltenv: ctx.saltenv, output_encoding };
  return textKeyed(await ctx.callWith('git.remote_refs', [args.name], { ...how, ...who }));
}

async function planWork(args: LatestArgs, ctx: StateContext): Promise<Work | StateResult> {
  const problem = argumentProblem(args);
  if (problem) return ctx.fail(problem);
  const keys = await identities(args.identity, 'identity', ctx);
  if (keys && 'problem' in keys) return ctx.fail(keys.problem);
  const { name } = args;
  let fetchUrl: string;
  try {
    fetchUrl = withAuth(name, args.https_user, args.https_pass);
  } catch (error) {
    return ctx.fail(failureText(error));
  }
  const [target, remote] = [pyStr(args.target), pyStr(args.remote)];
  const { user, password, output_encoding } = args;
  let refs: PlainDict;
  try {
    refs = await remoteRefs(args, keys, ctx);
  } catch (error) {
    return ctx.fail(`Failed to check remote refs: ${gitError(error)}`);
  }
  const bare = args.bare || args.mirror;
  const rev = resolveRev(pyStr(args.rev), remote, refs, bare);
  if (args.depth !== null && rev.kind !== 'branch' && rev.kind !== 'tag') {
    return ctx.fail("When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote repository");
  }
  if (rev.sha === null && !bare && rev.rev !== 'HEAD')
    return ctx.fail(`No revision matching '${rev.rev}' exists in the remote repository`);
  const heads = `refs/heads/${args.refspec_branch}:refs/remotes/${remote}/${args.refspec_branch}`;
  return {
    args,
    name,
    target,
    branch: args.branch === null ? null : pyStr(args.branch),
    remote,
    rev,
    refs,
    defaultBranch: defaultOf(refs),
    fetchUrl,
    identity: keys,
    refspecs: args.fetch_tags ? [heads, `+refs/tags/${args.refspec_tag}:refs/tags/${args.refspec_tag}`] : [],
    bare,
    git: new Checkout(target, { user, password, output_encoding }, ctx),
    comments: [],
    changes: newDict(),
  };
}

/** Empties an existing folder; returns a result when that is not allowed, or under test. */
export function makeRoom(
  name: string,
  target: string,
  force: boolean,
  announce: boolean,
  changes: PlainDict,
  ctx: StateContext,
): StateResult | undefined {
  if (!isDir(target)) return undefined;
  const inside = readdirSync(target);
  if (!force) {
    if (inside.length === 0) return undefined;
    const what =
      "Set the 'force_clone' option to True to remove this directory's contents and proceed with cloning the remote repository";
    return ctx.fail(`Target '${target}' exists, is non-empty and is not a git repository. ${what}`);
  }
  // Under test the state ends here: applied, the clone that follows is the state.
  if (ctx.test) {
    const comment = `Target directory ${target} exists. Since force_clone=True, the contents of ${target} would be deleted, and ${name} would be cloned into this directory.`;
    return ctx.result({
      result: null,
      comment,
      changes: announce
        ? newDict([
            ['forced clone', true],
            ['new', `${name} => ${target}`],
          ])
        : newDict(),
    });
  }
  const errors: string[] = [];
  for (const entry of inside) {
    try {
      rmSync(joinPath(target, entry), { recursive: true, force: true });
    } catch (error) {
      errors.push(`  ${joinPath(target, entry)}\n    ${failureText(error)}`);
    }
  }
  if (errors.length > 0) return ctx.fail(`Unable to remove\n${errors.join('\n')}`);
  changes['forced clone'] = true;
  return undefined;
}

/** Checks out the requested revision after a clone. Returns a result on failure. */
async function settleClone(work: Work, ctx: StateContext): Promise<StateResult | undefined> {
  const { branch, remote, rev, git, comments, changes } = work;
  if (rev.sha === null) {
    if (rev.rev === 'HEAD') return undefined;
    return failed(
      `Repository was cloned but is empty, so ${remote}/${rev.rev} cannot be checked out`,
      comments,
      ctx,
      changes,
    );
  }
  if (rev.kind === 'tag' && !(await git.list('list_tags')).includes(rev.rev))
    return failed(`Revision '${rev.rev}' does not exist in clone`, comments, ctx, changes);
  if (branch !== null && !(await git.list('list_branches')).includes(branch)) {
    const start = rev.rev === 'HEAD' ? rev.sha : rev.upstream || rev.rev;
    await git.call('checkout', [start], { opts: ['-b', branch] });
    comments.push(`Branch '${branch}' checked out, with ${rev.place} as a starting point`);
  }
  const localRev = await git.attempt('revision');
  const localBranch = await git.attempt('current_branch');
  if (localBranch === null && !('HEAD' in work.refs)) {
    const advice =
      "If you are unable to fix the remote repository, you can work around this by setting the 'branch' argument (which will ensure that the named branch is created if it does not already exist).";
    return failed(
      `Remote HEAD refers to a ref that does not exist. This can happen when the default branch on the remote repository is renamed or deleted. ${advice}`,
      comments,
      ctx,
      changes,
    );
  }
  if (!sameRev(localRev, rev.sha, rev.kind)) {
    await git.call('reset', [], { opts: ['--hard', rev.sha] });
    comments.push(`Repository was reset to ${rev.place}`);
  }
  const upstream = await git.attempt('rev_parse', [`${localBranch}@{upstream}`], { opts: ['--abbrev-ref'] });
  const track = trackingChange(upstream, rev.upstream, branch, await git.list('list_branches'));
  if (track) {
    await git.call('branch', [], { opts: track.opts });
    comments.push(`Tracking branch was ${track.done}`);
  }
  return undefined;
}

async function clone(work: Work, ctx: StateContext): Promise<StateResult> {
  const { args, name, target, remote, rev, git, comments, changes } = work;
  const blocked = makeRoom(name, target, args.force_clone, true, changes, ctx);
  if (blocked) return blocked;
  // Under test nothing is there to compare the steps that follow with.
  if (ctx.test)
    return ctx.result({
      result: null,
      comment: `Repository ${name} would be cloned to ${target}`,
      changes: newDict([['new', `${name} => ${target}`]]),
    });
  const kind = args.mirror ? ['--mirror'] : work.bare ? ['--bare'] : [];
  const opts = [
    ...kind,
    ...(remote === 'origin' ? [] : ['--origin', remote]),
    ...(args.depth === null ? [] : ['--depth', pyStr(args.depth), '--branch', rev.rev]),
  ];
  const { https_user, https_pass } = args;
  try {
    await git.call('clone', [name], { opts, identity: work.identity, https_user, https_pass, saltenv: ctx.saltenv });
  } catch (error) {
    return failed(`Clone failed: ${gitError(error)}`, comments, ctx, changes);
  }
  changes['new'] = `${name} => ${target}`;
  comments.push(`${name} cloned to ${target}${args.mirror ? ' as mirror' : work.bare ? ' as bare repository' : ''}`);
  if (!work.bare) {
    const problem = await settleClone(work, ctx);
    if (problem) return problem;
  }
  if (args.submodules && rev.sha !== null) {
    try {
      await git.call('submodule', ['update'], { opts: ['--init', '--recursive'], identity: work.identity });
    } catch (error) {
      return failed(`Failed to update submodules: ${gitError(error)}`, comments, ctx, changes);
    }
  }
  const now = await git.attempt('revision');
  if (now !== null)
    changes['revision'] = newDict([
      ['old', null],
      ['new', now],
    ]);
  return ctx.ok(sentences(comments), { changes });
}

async function run(args: LatestArgs, ctx: StateContext): Promise<StateResult> {
  const work = await planWork(args, ctx);
  if (!('refspecs' in work)) return work as StateResult;
  const ready = work as Work;
  const isCheckout =
    isDir(joinPath(ready.target, ready.bare ? 'refs' : '.git')) ||
    (isDir(ready.target) && Boolean(await ready.git.call('is_worktree')));
  try {
    return isCheckout ? await updateCheckout(ready, ctx) : await clone(ready, ctx);
  } catch (error) {
    return failed(gitError(error), ready.comments, ctx, ready.changes);
  }
}

export const latest = state({
  doc: 'A checkout at the newest state of a branch, at a tag or at a commit.',
  examples: ['https://github.com/example/app.git:\n  git.latest:\n    - rev: main\n    - target: /srv/app'],
  params,
  run,
});
