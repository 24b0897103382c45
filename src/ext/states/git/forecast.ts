// Predicts the effects of an update of a checkout: plans, refusals and texts of test mode.
import { newDict, type PlainDict, type StateContext, type StateResult } from 'halite/sdk';
import { withoutPassword } from '../../shared/file/urls.ts';
import { failed, sentences, short } from './shared.ts';
import type { Work } from './work.ts';

/** The present checkout. */
export interface Local {
  readonly branches: string[];
  readonly tags: string[];
  readonly rev: string | null;
  readonly branch: string | null;
  /** The commit the update starts from, and the branch it is on. */
  readonly baseRev: string | null;
  readonly baseBranch: string | null;
  readonly remotes: PlainDict;
  readonly same: boolean;
  readonly dirty: boolean;
}

export const otherBranch = (branch: string | null, local: string | null): branch is string =>
  branch !== null && branch !== local;

export function upToDate(work: Work, actions: readonly string[], dirty: boolean, ctx: StateContext): StateResult {
  let comment = `Repository ${work.target} is up-to-date`;
  if (dirty) comment += ", but with uncommitted changes. Set 'force_reset' to True to purge uncommitted changes.";
  // Salt says it in two ways.
  if (actions.length > 0) comment += `\n\nChanges ${ctx.test ? 'that would be ' : ''}made: ${sentences(actions)}`;
  return ctx.ok(comment, { changes: work.changes });
}

/** Why an update that is no fast-forward is refused. */
export function notFastForward(work: Work, local: Local, ctx: StateContext): StateResult {
  const { rev, branch } = work;
  let hint = '';
  if (branch === null && rev.rev !== 'HEAD' && local.branch !== rev.rev) {
    hint = ` The desired rev (${rev.rev}) differs from the name of the local branch (${local.branch}), if the desired rev is a branch name then a forced update could possibly be avoided by setting the 'branch' argument to '${rev.rev}' instead.`;
  } else if (
    branch === null &&
    rev.rev === 'HEAD' &&
    work.defaultBranch !== null &&
    local.branch !== work.defaultBranch
  ) {
    const main = work.defaultBranch;
    hint = ` The default remote branch (${main}) differs from the local branch (${local.branch}). This could be caused by changing the default remote branch, or if the local branch was manually changed. Rather than forcing an update, it may be advisable to set the 'branch' argument to '${main}' instead. To ensure that this state follows the '${main}' branch instead of the remote HEAD, set the 'rev' argument to '${main}'.`;
  }
  const [pre, post] = [short(local.baseRev), short(rev.sha)];
  const move = local.dirty && pre !== post ? `from ${pre} to ${post}` : `to ${post}`;
  const after = otherBranch(branch, local.branch) ? ` (after checking out local branch '${branch}')` : '';
  const why = local.dirty ? 'there are uncommitted changes' : 'this is not a fast-forward merge';
  const also = local.dirty ? " (or 'remote-changes')" : '';
  const discard = local.dirty ? ' and discard these changes' : '';
  return failed(
    `Repository would be updated ${move}${after}, but ${why}. Set 'force_reset' to True${also} to force this update${discard}.${hint}`,
    work.comments,
    ctx,
    work.changes,
  );
}

export interface Plan {
  readonly local: Local;
  hasRev: boolean;
  /** undefined: not known before something is fetched. */
  fastForward: boolean | undefined;
  readonly upstream: string | null;
  readonly fetchUrl: string | null;
}

export const announced = (work: Work, comment: string, ctx: StateContext): StateResult =>
  ctx.result({ result: null, comment, changes: work.changes });

/** The effects of a new address of the remote. */
export function forecastRemote(work: Work, plan: Plan, ctx: StateContext): StateResult {
  const { rev, remote, args, changes } = work;
  const { local } = plan;
  const old = plan.fetchUrl === null ? 'None' : withoutPassword(plan.fetchUrl);
  const actions = [`Remote '${remote}' would be changed from ${old} to ${withoutPassword(work.fetchUrl)}`];
  if (!plan.hasRev) actions.push('Remote would be fetched');
  if (!local.same && args.update_head) {
    changes['revision'] = newDict([
      ['old', local.rev],
      ['new', rev.sha],
    ]);
    if (plan.fastForward === false) changes['forced update'] = true;
    const how = plan.fastForward === false ? 'hard-reset' : plan.fastForward ? 'fast-forwarded' : 'updated';
    actions.push(`Repository would be ${how} to ${short(rev.sha)}`);
  }
  if (Object.keys(changes).length > 0) return announced(work, sentences(actions), ctx);
  return !local.same && !args.update_head ? ctx.ok(sentences(actions)) : upToDate(work, actions, false, ctx);
}

export function forecast(work: Work, plan: Plan, ctx: StateContext): StateResult {
  const { rev, remote, args, branch, changes } = work;
  const { local, upstream } = plan;
  const actions: string[] = plan.hasRev ? [] : [`Remote '${remote}' would be fetched`];
  const moves = otherBranch(branch, local.branch);
  if (!local.same && (args.update_head || moves))
    changes['revision'] = newDict([
      ['old', local.rev],
      ['new', rev.sha],
    ]);
  if (moves && !local.branches.includes(branch)) {
    actions.push(`New branch '${branch}' would be checked out, with ${rev.place} as a starting point`);
    if (rev.upstream) actions.push(`Tracking branch would be set to ${rev.upstream}`);
  } else if (moves) {
    const how = plan.fastForward === false ? 'hard-reset' : plan.fastForward ? 'fast-forwarded' : 'updated';
    actions.push(`Branch '${branch}' would be checked out and ${how} to ${short(rev.sha)}`);
  } else if (!local.same && args.update_head) {
    const how =
      plan.fastForward === true ? 'fast-forwarded' : args.force_reset && plan.hasRev ? 'hard-reset' : 'updated';
    actions.push(`Repository would be ${how} from ${short(local.rev)} to ${short(rev.sha)}`);
  } else if (!local.same)
    actions.push(
      `Local HEAD (${short(local.rev)}) does not match ${rev.place} but update_head=False, HEAD would not be updated locally`,
    );
  if (!upstream && rev.upstream) actions.push(`Tracking branch would be set to ${rev.upstream}`);
  else if (upstream && rev.upstream === false) actions.push('Tracking branch would be unset');
  else if (rev.upstream && upstream !== rev.upstream)
    actions.push(`Tracking branch would be updated to ${rev.upstream}`);
  if (Object.keys(changes).length > 0) return announced(work, sentences(actions), ctx);
  return !local.same && !args.update_head && actions.length > 0
    ? ctx.ok(sentences(actions))
    : upToDate(work, actions, false, ctx);
}
