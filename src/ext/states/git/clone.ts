// `git.cloned`, `git.present` and `git.detached`: a clone, an empty repository, a checkout of one commit.

import {
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { existsSync, joinPath, readdirSync, rmSync } from 'halite/sdk/fs';
import { isDir, isRegular } from '../../shared/file/facts.ts';
import { withAuth } from '../../shared/git/auth-url.ts';
import { failureText } from '../file/errors.ts';
import { failureOf } from '../shared/calls.ts';
import { makeRoom } from './latest.ts';
import { Checkout, failed, gitError, https, identities, identity, output_encoding, sentences, who } from './shared.ts';

export const cloned = state({
  doc: 'A clone of a repository; it is not updated later.',
  examples: ['https://github.com/example/app.git:\n  git.cloned:\n    - target: /srv/app'],
  params: {
    name: p.string({ doc: 'address of the repository' }),
    target: p.scalar({ nullable: true, doc: 'folder of the clone' }),
    branch: p.scalar({ default: null, doc: 'branch to check out' }),
    ...who,
    identity,
    ...https,
    output_encoding,
  },
  async run(args, ctx) {
    if (args.target === null) return ctx.fail("'target' argument is required");
    const target = pyStr(args.target);
    if (!target.startsWith('/')) return ctx.fail("'target' path must be absolute");
    const branch = args.branch === null ? null : pyStr(args.branch);
    if (branch === '') return ctx.fail("Invalid 'branch' argument");
    const { user, password, https_user, https_pass } = args;
    const git = new Checkout(target, { user, password, output_encoding: args.output_encoding }, ctx);
    if (!existsSync(target)) {
      const says = (what: string): string =>
        `${args.name} ${what} to ${target}${branch === null ? '' : ` with branch '${branch}'`}`;
      return ctx.change(newDict([['new', `${args.name} => ${target}`]]), says('cloned'), {
        test: says('would be cloned'),
        async apply() {
          try {
            await git.call('clone', [args.name], {
              opts: branch === null ? null : ['--branch', branch],
              identity: args.identity,
              https_user,
              https_pass,
            });
            return undefined;
          } catch (error) {
            return ctx.fail(`Clone failed: ${gitError(error)}`);
          }
        },
      });
    }
    try {
      await git.call('status');
    } catch (error) {
      return ctx.fail(failureOf(error).message);
    }
    const already = `Repository already exists at ${target}`;
    if (branch === null) return ctx.ok(already);
    const current = await git.text('current_branch');
    if (current === branch) return ctx.ok(`${already} and is checked out to branch '${branch}'`);
    return ctx.change(
      newDict([
        [
          'branch',
          newDict([
            ['old', current],
            ['new', branch],
          ]),
        ],
      ]),
      `Branch changed to '${branch}'`,
      {
        test: `Branch would be changed to '${branch}'`,
        async apply() {
          const known = (await git.attempt('rev_parse', [branch])) !== null;
          try {
            await git.call('checkout', [known ? branch : `origin/${branch}`], { opts: known ? null : ['-b', branch] });
            return undefined;
          } catch (error) {
            return ctx.fail(`Failed to change branch to '${branch}': ${failureOf(error).message}`);
          }
        },
      },
    );
  },
});

export const present = state({
  doc: 'A repository that exists, empty if it is new.',
  examples: ['/srv/git/app.git:\n  git.present'],
  params: {
    name: p.path({ doc: 'folder of the repository' }),
    force: p.bool({ default: false, doc: 'remove the content of the folder' }),
    bare: p.bool({ default: true, doc: 'without working files' }),
    template: p.scalar({ default: null, doc: 'folder to copy into it' }),
    separate_git_dir: p.scalar({ default: null, doc: 'the folder of the repository itself' }),
    shared: p.scalar({ default: null, doc: 'sharing of write access' }),
    ...who,
    output_encoding,
  },
  async run(args, ctx) {
    const { name, bare, template, separate_git_dir, shared, user, password } = args;
    const git = new Checkout(name, { user, password, output_encoding: args.output_encoding }, ctx);
    const kind = bare ? 'bare ' : '';
    const changes = newDict();
    if (isDir(name)) {
      if (
        bare
          ? isRegular(joinPath(name, 'HEAD'))
          : isDir(joinPath(name, '.git')) || Boolean(await git.call('is_worktree'))
      )
        return ctx.ok('');
      if (args.force) {
        if (ctx.test) {
          const comment = `Target directory ${name} exists. Since force=True, the contents of ${name} would be deleted, and a ${kind}repository would be initialized in its place.`;
          return ctx.result({
            result: null,
            comment,
            changes: newDict([
              ['new', name],
              ['forced init', true],
            ]),
          });
        }
        rmSync(name, { recursive: true, force: true });
        changes['forced init'] = true;
      } else if (readdirSync(name).length > 0) {
        const advice =
          "Set the 'force' option to True to remove this directory's contents and proceed with initializing a repository";
        return ctx.fail(`Target '${name}' exists, is non-empty, and is not a git repository. ${advice}`);
      }
    }
    changes['new'] = name;
    const comments = [
      `Initialized ${kind}repository in ${name}`,
      ...(template ? [`Template directory set to ${pyStr(template)}`] : []),
      ...(separate_git_dir ? [`Gitdir set to ${pyStr(separate_git_dir)}`] : []),
    ];
    return ctx.change(changes, sentences(comments), {
      test: `New ${kind}repository would be created`,
      apply: () => git.call('init', [], { bare, template, separate_git_dir, shared }),
    });
  },
});

interface DetachedArgs {
  readonly name: string;
  readonly remote: string;
  readonly fetch_remote: boolean;
  readonly hard_reset: boolean;
  readonly submodules: boolean;
  readonly force_checkout: boolean;
  readonly force_clone: boolean;
  readonly https_user: Value;
  readonly https_pass: Value;
}

interface DetachedWork {
  readonly args: DetachedArgs;
  readonly rev: string;
  readonly isHash: boolean;
  readonly keys: string[] | null;
  readonly git: Checkout;
  readonly comments: string[];
  readonly changes: PlainDict;
}

/** Clones, or sets the address of the remote. Returns what is checked out, or a final result. */
async function prepare(
  work: DetachedWork,
  ctx: StateContext,
): Promise<{ local: string | null; known: boolean } | StateResult> {
  const { args, git, rev, comments, changes } = work;
  const { name, remote } = args;
  const announce = (comment: string): StateResult => ctx.result({ result: null, comment });
  if (!isDir(joinPath(git.target, '.git')) && !(isDir(git.target) && (await git.call('is_worktree')))) {
    const blocked = makeRoom(name, git.target, args.force_clone, false, changes, ctx);
    if (blocked) return blocked;
    // Each step needs what the one before has done: under test the first that would change something is all that can be told.
    if (ctx.test) return announce(`Repository ${name} would be cloned to ${git.target}`);
    const opts = ['--no-checkout', ...(remote === 'origin' ? [] : ['--origin', remote])];
    try {
      await git.call('clone', [name], {
        opts,
        identity: work.keys,
        https_user: args.https_user,
        https_pass: args.https_pass,
        saltenv: ctx.saltenv,
      });
    } catch (error) {
      return failed(gitError(error), comments, ctx, changes);
    }
    comments.push(`${name} cloned to ${git.target}`);
    return { local: null, known: false };
  }
  const local = await git.attempt('revision');
  if (work.isHash) return { local, known: (await git.attempt('describe', [rev])) !== null };
  const now = textKeyed(textKeyed(await git.call('remotes', [], { redact_auth: false }))[remote])['fetch'];
  if (now === undefined || !pyStr(now).includes(name)) {
    if (ctx.test) return announce(`Remote ${remote} would be set to ${name}`);
    await git.call('remote_set', [], { url: name, remote, https_user: args.https_user, https_pass: args.https_pass });
    comments.push(`Remote ${remote} updated from '${now === undefined ? 'None' : pyStr(now)}' to '${name}'`);
  }
  return { local, known: false };
}

/** The commit to check out. */
async function wantedCommit(work: DetachedWork, ctx: StateContext): Promise<string | StateResult> {
  const { git, rev, args } = work;
  if (work.isHash) return (await git.attempt('describe', [rev])) ? rev : ctx.fail(`Revision '${rev}' does not exist`);
  try {
    const refs = textKeyed(
      await ctx.callWith('git.remote_refs', [git.target], {
        identity: work.keys,
        https_user: args.https_user,
        https_pass: args.https_pass,
        ignore_retcode: false,
      }),
    );
    const found = refs[`refs/remotes/${args.remote}/${rev}`] ?? refs[`refs/tags/${rev}`];
    return found === undefined ? ctx.fail(`Revision '${rev}' does not exist`) : pyStr(found);
  } catch (error) {
    return ctx.fail(`Failed to list refs for ${args.remote}: ${gitError(error)}`);
  }
}

/** Fetches every branch and tag; returns a result on failure. */
async function fetchAll({ args, git, keys, comments, changes }: DetachedWork, ctx: StateContext) {
  const { remote } = args;
  const refspecs = [`refs/heads/*:refs/remotes/${remote}/*`, '+refs/tags/*:refs/tags/*'];
  try {
    const options = { remote, force: true, refspecs, identity: keys, saltenv: ctx.saltenv };
    const got = textKeyed(await git.call('fetch', [], options));
    if (Object.keys(got).length > 0) comments.push(`Remote ${remote} was fetched, resulting in updated refs`);
    return undefined;
  } catch (error) {
    return failed(`Fetch failed:\n\n${failureOf(error).message}`, comments, ctx, changes);
  }
}

/** Each step depends on the one before: under test the first step that would change something is reported. */
async function detach(work: DetachedWork, ctx: StateContext): Promise<StateResult> {
  const { args, git, comments, changes } = work;
  const ready = await prepare(work, ctx);
  if ('comment' in ready) return ready as StateResult;
  const { local, known } = ready as { local: string | null; known: boolean };
  const announce = (comment: string, made: PlainDict = newDict()): StateResult =>
    ctx.result({ result: null, comment, changes: made });
  if (!known && args.fetch_remote) {
    // As in prepare: the first step that would change something ends the state under test.
    if (ctx.test) return announce(`Repository remote ${args.remote} would be fetched`);
    const problem = await fetchAll(work, ctx);
    if (problem) return problem;
  }
  const commit = await wantedCommit(work, ctx);
  if (typeof commit !== 'string') return commit;
  if (args.hard_reset) {
    if (ctx.test) return announce(`Hard reset to HEAD would be performed on ${git.target}`);
    await git.call('reset', [], { opts: ['--hard', 'HEAD'] });
    comments.push('Repository was reset to HEAD before checking out revision');
  }
  let now: string | null = null;
  if (commit !== local) {
    if (ctx.test)
      return announce(
        `Commit ID ${commit} would be checked out at ${git.target}`,
        newDict([
          [
            'HEAD',
            newDict([
              ['old', local],
              ['new', commit],
            ]),
          ],
        ]),
      );
    await git.call('checkout', [commit], { force: args.force_checkout });
    comments.push(`Commit ID ${commit} was checked out at ${git.target}`);
    now = await git.attempt('revision');
  }
  // Nobody knows before whether a submodule would change.
  if (args.submodules && !ctx.test) {
    await git.call('submodule', ['update'], { opts: ['--init', '--recursive'], identity: work.keys });
    comments.push('Submodules were updated');
  }
  if (now === null) comments.push('Already checked out at correct revision');
  else
    changes['HEAD'] = newDict([
      ['old', local],
      ['new', now],
    ]);
  return ctx.ok(sentences(comments), { changes });
}

export const detached = state({
  doc: 'A checkout of one commit with a detached HEAD.',
  examples: ['https://github.com/example/app.git:\n  git.detached:\n    - rev: v1.2\n    - target: /srv/app'],
  params: {
    name: p.string({ doc: 'address of the repository' }),
    rev: p.scalar({ nullable: true, doc: 'branch, tag or SHA1' }),
    target: p.scalar({ nullable: true, doc: 'folder of the checkout' }),
    remote: p.string({ default: 'origin', doc: 'name of the remote' }),
    ...who,
    force_clone: p.bool({ default: false, doc: 'empty a folder that is not a checkout' }),
    force_checkout: p.bool({ default: false, doc: 'discard changes' }),
    fetch_remote: p.bool({ default: true, doc: 'fetch first' }),
    hard_reset: p.bool({ default: false, doc: 'discard changes first' }),
    submodules: p.bool({ default: false, doc: 'also submodules' }),
    identity,
    ...https,
    output_encoding,
    kwargs: p.kwargs({ doc: 'nothing else is accepted' }),
  },
  async run(args, ctx) {
    if (!args.rev) return ctx.fail(`'${pyStr(args.rev)}' is not a valid value for the 'rev' argument`);
    if (!args.target) return ctx.fail(`'${pyStr(args.rev)}' is not a valid value for the 'target' argument`);
    const [target, given] = [pyStr(args.target), pyStr(args.rev)];
    if (!target.startsWith('/')) return ctx.fail(`Target '${target}' is not an absolute path`);
    const keys = await identities(args.identity, 'Identity', ctx);
    if (keys && 'problem' in keys) return ctx.fail(keys.problem);
    if (isRegular(target)) return ctx.fail(`Target '${target}' exists and is a regular file, cannot proceed`);
    try {
      withAuth(args.name, args.https_user, args.https_pass);
    } catch (error) {
      return ctx.fail(failureText(error));
    }
    const isHash = given.length <= 40 && /^[0-9a-fA-F]+$/.test(given);
    const git = new Checkout(
      target,
      { user: args.user, password: args.password, output_encoding: args.output_encoding },
      ctx,
    );
    return detach(
      { args, rev: isHash ? given.toLowerCase() : given, isHash, keys, git, comments: [], changes: newDict() },
      ctx,
    );
  },
});
