// Updates an existing checkout to the requested revision: fetch, fast-forward or reset, tracking branch, tags.
import { newDict, pyStr, type StateContext, type StateResult, textKeyed, type Value, withForecast } from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { withoutPassword } from '../../shared/file/urls.ts';
import {
  announced,
  forecast,
  forecastRemote,
  type Local,
  notFastForward,
  otherBranch,
  type Plan,
  upToDate,
} from './forecast.ts';
import { failed, gitError, sameRev, sentences, short, trackingChange } from './shared.ts';
import type { Work } from './work.ts';

async function lookAtCheckout(work: Work, ctx: StateContext): Promise<Local | StateResult> {
  const { git, rev, branch, bare } = work;
  const branches = await git.list('list_branches');
  const tags = await git.list('list_tags');
  const localRev = await git.attempt('revision');
  const localBranch = await git.attempt('current_branch');
  if (!bare && rev.sha === null && localRev !== null)
    return ctx.fail('Remote repository is empty, cannot update from a non-empty to an empty repository');
  let [baseRev, baseBranch] = [localRev, localBranch];
  if (otherBranch(branch, localBranch)) {
    if (!branches.includes(branch)) baseRev = rev.sha;
    else {
      baseBranch = branch;
      try {
        baseRev = await git.text('rev_parse', [`${branch}^{commit}`]);
      } catch (error) {
        return failed(`Unable to get position of local branch '${branch}': ${gitError(error)}`, work.comments, ctx);
      }
    }
  }
  const remotes = textKeyed(await git.call('remotes', [], { redact_auth: false }));
  const dirty = !bare && Boolean(await git.call('diff', ['HEAD']).catch(() => ''));
  return {
    branches,
    tags,
    rev: localRev,
    branch: localBranch,
    baseRev,
    baseBranch,
    remotes,
    same: sameRev(localRev, rev.sha, rev.kind),
    dirty,
  };
}

/** Whether the requested commit exists locally; a result when a tag was moved. */
async function hasRemoteRev(work: Work, local: Local, ctx: StateContext): Promise<boolean | StateResult> {
  const { rev, git, remote, args } = work;
  if (rev.kind === 'sha1' && local.baseRev !== null && rev.sha !== null && local.baseRev.startsWith(rev.sha))
    return true;
  if (rev.sha === null || (await git.attempt('rev_parse', [`${rev.sha}^{commit}`])) === null) return false;
  if (rev.kind === 'sha1') return true;
  if (rev.kind === 'branch')
    return remote in local.remotes && (await git.attempt('rev_parse', [rev.upstream || ''])) === rev.sha;
  if (!local.tags.includes(rev.rev)) return false;
  const tagged = await git.attempt('rev_parse', [`${rev.rev}^{commit}`]);
  if (tagged === rev.sha) return true;
  if (args.force_reset) return false;
  return ctx.fail(
    `'${rev.rev}' is a tag, but the remote SHA1 for this tag (${short(rev.sha)}) doesn't match the local SHA1 (${short(tagged)}). Set 'force_reset' to True to force this update.`,
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase();

/** The commit exists locally, but HEAD must not move. */
function staysBehind(work: Work, local: Local, ctx: StateContext): StateResult | undefined {
  const { rev, args, branch } = work;
  if (local.same || args.update_head || (branch !== null && branch !== local.branch)) return undefined;
  const place = rev.rev === 'HEAD' ? capital(rev.place) : rev.place;
  return ctx.ok(
    `${place} is already present and local HEAD (${short(local.rev)}) does not match, but update_head=False. HEAD has not been updated locally.`,
    { changes: work.changes },
  );
}

/** New and removed tags of the remote. True when something must be fetched. */
async function compareTags(work: Work, local: Local, warnings: string[]): Promise<boolean> {
  const { git, remote, args, changes, comments } = work;
  const refs = textKeyed(
    await git.call('ls_remote', [], { remote, opts: '--tags', identity: work.identity, ignore_retcode: true }),
  );
  const there = new Set(
    Object.keys(refs)
      .filter((ref) => !ref.includes('^{}'))
      .map((ref) => ref.replace('refs/tags/', '')),
  );
  const fresh = [...there].filter((tag) => !local.tags.includes(tag));
  const gone = local.tags.filter((tag) => !there.has(tag));
  if (fresh.length > 0) changes['new_tags'] = fresh.sort(compareText);
  const deleted: string[] = [];
  for (const tag of args.sync_tags ? gone : []) {
    try {
      await git.call('tag', [tag], { opts: '-d' });
      deleted.push(tag);
    } catch (error) {
      warnings.push(`Failed to remove local tag '${tag}':\n\n${gitError(error)}\n\n`);
    }
  }
  if (deleted.length > 0) {
    changes['deleted_tags'] = deleted;
    comments.push(`The following tags were removed from the local checkout: ${deleted.join(', ')}`);
  }
  return fresh.length > 0 || gone.length > 0;
}

/** Fetches; returns a result when that or a later step fails. */
async function fetchRev(work: Work, plan: Plan, ctx: StateContext): Promise<StateResult | undefined> {
  const { git, name, rev, args, comments, changes } = work;
  try {
    const got = textKeyed(
      await git.call('fetch', [], {
        remote: work.remote,
        force: args.force_fetch,
        refspecs: work.refspecs,
        identity: work.identity,
        saltenv: ctx.saltenv,
      }),
    );
    if (Object.keys(got).length > 0) comments.push(`${name} was fetched, resulting in updated refs`);
  } catch (error) {
    const lead =
      "Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due to not being able to fast-forward. Output of the fetch command follows:";
    return failed(`${lead}\n\n${gitError(error)}`, comments, ctx, changes);
  }
  try {
    await git.text('rev_parse', [`${rev.sha}^{commit}`]);
  } catch (error) {
    return ctx.fail(`Fetch did not successfully retrieve rev '${rev.rev}' from ${name}: ${gitError(error)}`, {
      changes,
    });
  }
  const behind = staysBehind(work, plan.local, ctx);
  if (behind) return behind;
  plan.fastForward =
    plan.local.baseRev === null
      ? true
      : Boolean(await git.call('merge_base', [], { refs: [plan.local.baseRev, rev.sha as Value], is_ancestor: true }));
  const refused =
    (plan.fastForward === false && args.force_reset === false) ||
    (plan.fastForward && plan.local.dirty && args.force_reset === false);
  return refused ? notFastForward(work, plan.local, ctx) : undefined;
}

async function switchBranch(work: Work, local: Local, ctx: StateContext): Promise<StateResult | undefined> {
  const { git, rev, args, branch, comments, changes } = work;
  if (!otherBranch(branch, local.branch)) return undefined;
  if (local.dirty && !args.force_checkout) {
    return ctx.fail(
      `Local branch '${local.branch}' has uncommitted changes. Set 'force_checkout' to True to discard them and proceed.`,
      { changes },
    );
  }
  const isNew = !local.branches.includes(branch);
  const start = isNew ? (rev.rev === 'HEAD' ? rev.sha : rev.upstream || rev.rev) : branch;
  await git.call('checkout', [start as Value], { force: args.force_checkout, opts: isNew ? ['-b', branch] : [] });
  comments.push(
    isNew
      ? `New branch '${branch}' was checked out, with ${rev.place} as a starting point`
      : `'${start}' was checked out`,
  );
  return undefined;
}

/** Moves the checkout to the commit. */
async function move(work: Work, plan: Plan, ctx: StateContext): Promise<StateResult | undefined> {
  const { git, rev, args, comments, changes } = work;
  const { local } = plan;
  if (plan.fastForward === false) {
    await git.call('reset', [], { opts: ['--hard', rev.sha as Value] });
    changes['forced update'] = true;
    if (local.dirty) comments.push('Uncommitted changes were discarded');
    comments.push(`Repository was hard-reset to ${rev.place}`);
  } else if (plan.fastForward && local.dirty && args.force_reset !== false) {
    await git.call('discard_local_changes');
    comments.push('Uncommitted changes were discarded');
  }
  const track = trackingChange(plan.upstream, rev.upstream, work.branch, local.branches);
  if (track) {
    await git.call('branch', [], { opts: track.opts });
    comments.push(`Tracking branch was ${track.done}`);
  }
  if (!plan.fastForward || sameRev(local.baseRev, rev.sha, rev.kind)) return undefined;
  if (!rev.upstream && rev.rev !== 'HEAD') {
    await git.call('reset', [], { opts: ['--hard', rev.rev] });
    comments.push(`Repository was reset to ${rev.rev} (fast-forward)`);
    return undefined;
  }
  if (!(await git.attempt('symbolic_ref', ['HEAD'], { opts: ['--quiet'] })))
    return failed('Unable to fast-forward, HEAD is detached', comments, ctx, changes);
  await git.call('merge', [], { rev: rev.sha, opts: ['--ff-only'] });
  comments.push(`Repository was fast-forwarded to ${rev.place}`);
  return undefined;
}

/** Decides whether it is a fast-forward, if that is known before fetching. */
async function planUpdate(work: Work, local: Local, ctx: StateContext): Promise<Plan | StateResult> {
  const { rev, git, args } = work;
  const has = await hasRemoteRev(work, local, ctx);
  if (typeof has !== 'boolean') return has;
  let fastForward: boolean | undefined = local.dirty && args.force_reset !== 'remote-changes' ? false : undefined;
  if (has) {
    const behind = staysBehind(work, local, ctx);
    if (behind) return behind;
    if (fastForward === undefined) {
      fastForward =
        local.baseRev === null
          ? true
          : Boolean(await git.call('merge_base', [], { refs: [local.baseRev, rev.sha as Value], is_ancestor: true }));
    }
  }
  if (fastForward === false && args.force_reset === false) return notFastForward(work, local, ctx);
  const upstream =
    local.baseBranch === null
      ? null
      : await git.attempt('rev_parse', [`${local.baseBranch}@{upstream}`], { opts: ['--abbrev-ref'] });
  const fetchUrl = work.remote in local.remotes ? pyStr(textKeyed(local.remotes[work.remote])['fetch'] ?? '') : null;
  return { local, hasRev: has, fastForward, upstream, fetchUrl };
}

async function updateBare(work: Work, ctx: StateContext): Promise<StateResult | undefined> {
  const { git, target, args, comments } = work;
  return withForecast(
    ctx,
    () => upToDate(work, [`Bare repository at ${target} would be fetched`], false, ctx),
    async () => {
      try {
        const got = textKeyed(
          await git.call('fetch', [], {
            remote: work.remote,
            force: args.force_fetch,
            refspecs: work.refspecs,
            identity: work.identity,
            saltenv: ctx.saltenv,
          }),
        );
        comments.push(
          `Bare repository at ${target} was fetched${Object.keys(got).length > 0 ? ', resulting in updated refs' : ''}`,
        );
        return undefined;
      } catch (error) {
        const lead =
          "Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due to not being able to fast-forward. Output of the fetch command follows:";
        return failed(`${lead}\n\n${gitError(error)}`, comments, ctx);
      }
    },
  );
}

const update = (work: Work, plan: Plan, warnings: string[], ctx: StateContext): Promise<StateResult | undefined> =>
  withForecast<StateResult | undefined>(
    ctx,
    () => (work.fetchUrl === plan.fetchUrl ? forecast(work, plan, ctx) : forecastRemote(work, plan, ctx)),
    () => carryOut(work, plan, warnings, ctx),
  );

async function carryOut(
  work: Work,
  plan: Plan,
  warnings: string[],
  ctx: StateContext,
): Promise<StateResult | undefined> {
  const { git, name, remote, args, comments, changes, rev } = work;
  if (work.fetchUrl !== plan.fetchUrl) {
    await git.call('remote_set', [], { url: name, remote, https_user: args.https_user, https_pass: args.https_pass });
    if (plan.fetchUrl === null) {
      comments.push(`Remote '${remote}' set to ${withoutPassword(work.fetchUrl)}`);
      changes['new'] = `${name} => ${remote}`;
    } else
      comments.push(
        `Remote '${remote}' changed from ${withoutPassword(plan.fetchUrl)} to ${withoutPassword(work.fetchUrl)}`,
      );
  }
  if (plan.local.branch === null && trackingChange(plan.upstream, rev.upstream, work.branch, plan.local.branches)) {
    const advice =
      "If you are unable to fix the remote repository, you can work around this by setting the 'branch' argument (which will ensure that the named branch is created if it does not already exist).";
    const lead =
      'Cannot set/unset upstream tracking branch, local HEAD refers to nonexistent branch. This may have been caused by cloning a remote repository for which the default branch was renamed or deleted.';
    return failed(`${lead} ${advice}`, comments, ctx, changes);
  }
  if (await compareTags(work, plan.local, warnings)) plan.hasRev = false;
  const done =
    (plan.hasRev ? undefined : await fetchRev(work, plan, ctx)) ??
    (await switchBranch(work, plan.local, ctx)) ??
    (await move(work, plan, ctx));
  if (done) return done;
  if (!args.submodules) return undefined;
  try {
    await git.call('submodule', ['update'], {
      opts: ['--init', '--recursive'],
      identity: work.identity,
      saltenv: ctx.saltenv,
    });
    return undefined;
  } catch (error) {
    return failed(`Failed to update submodules: ${gitError(error)}`, comments, ctx, changes);
  }
}

export async function updateCheckout(work: Work, ctx: StateContext): Promise<StateResult> {
  const { args, target, rev, git, comments, changes } = work;
  const local = await lookAtCheckout(work, ctx);
  if (!('branches' in local) || 'comment' in local) return local as StateResult;
  const here = local as Local;
  if (here.dirty && here.same) {
    if (args.force_reset !== true) return upToDate(work, comments, true, ctx);
    // Under test the state ends here: applied, the reset is one of the steps that follow.
    if (ctx.test) {
      changes['forced update'] = true;
      return announced(
        work,
        `${target} is up-to-date, but with uncommitted changes. Since 'force_reset' is set to True, these local changes would be reset. To only reset when there are changes in the remote repository, set 'force_reset' to 'remote-changes'.`,
        ctx,
      );
    }
  }
  const plan = await planUpdate(work, here, ctx);
  if (!('hasRev' in plan)) return plan as StateResult;
  const warnings: string[] = [];
  const done =
    rev.sha !== null
      ? await update(work, plan as Plan, warnings, ctx)
      : work.bare
        ? await updateBare(work, ctx)
        : undefined;
  if (done) return done;
  const now = await git.attempt('revision');
  if (!work.bare && !sameRev(now, rev.sha, rev.kind))
    return failed('Failed to update repository', comments, ctx, changes);
  let result: StateResult;
  if (now === here.rev) result = upToDate(work, comments, false, ctx);
  else {
    changes['revision'] = newDict([
      ['old', here.rev],
      ['new', now],
    ]);
    result = ctx.ok(sentences(comments), { changes });
  }
  if (warnings.length > 0) result['warnings'] = warnings;
  return result;
}
