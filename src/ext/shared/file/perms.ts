// Compares owners, modes, attributes and security contexts of a path, and sets those that differ.

import { commandError, newDict, type PlainDict, pyStr, type StateContext, type Value } from 'halite/sdk';
import { chmodSync, normalizeMode } from 'halite/sdk/fs';
import { attributeChange, setAttributes } from './attributes.ts';
import { inGroup, lookAt, lookAtLink, modeOf, ownedBy } from './facts.ts';
import { changeMode, changeOwner, setMode } from './owner.ts';
import { applySelinux, type Selinux, selinuxChange } from './selinux.ts';

export interface PermsRequest {
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
  readonly attrs?: Value;
  readonly follow?: boolean;
  readonly selinux?: Selinux | undefined;
}

export interface PermsOutcome {
  readonly changes: PlainDict;
  /** Errors; empty on success. */
  readonly problems: string[];
  readonly ok: boolean;
  /** The mode before the change. */
  readonly oldMode: string;
}

function look(path: string, follow: boolean) {
  const stats = (follow ? lookAt(path) : undefined) ?? lookAtLink(path);
  if (!stats) throw commandError(`Path not found: ${path}`);
  return stats;
}

/** What differs from the request, without touching anything. */
export async function permsNeeded(path: string, request: PermsRequest, ctx: StateContext): Promise<PlainDict> {
  const { user, group } = request;
  const follow = request.follow ?? false;
  const mode = normalizeMode(request.mode);
  const stats = look(path, follow);
  const changes = newDict();
  if (!ownedBy(stats, user)) changes['user'] = user;
  if (!inGroup(stats, group)) changes['group'] = group;
  if (mode !== null && !stats.isSymbolicLink() && mode !== modeOf(stats)) changes['mode'] = mode;
  if (request.attrs && !stats.isDirectory() && !stats.isSymbolicLink()) {
    const attrs = await attributeChange(path, pyStr(request.attrs), ctx);
    if (attrs)
      changes['attrs'] = newDict([
        ['old', attrs.old],
        ['new', attrs.wanted],
      ]);
  }
  if (request.selinux) {
    const found = await selinuxChange(path, request.selinux, ctx);
    if (found && found !== 'unknown')
      changes['selinux'] = newDict([
        ['Old', found.old],
        ['New', found.new],
      ]);
  }
  return changes;
}

/** Sets owner and mode where they differ. Never called under test. */
export async function setPerms(path: string, request: PermsRequest, ctx: StateContext): Promise<PermsOutcome> {
  const { user, group } = request;
  const follow = request.follow ?? false;
  const mode = normalizeMode(request.mode);
  const own = lookAtLink(path);
  const isLink = own?.isSymbolicLink() ?? false;
  const before = own && !isLink ? own : look(path, follow);
  const changes = newDict();
  const problems: string[] = [];
  let ok = true;
  const [wrongUser, wrongGroup] = [!ownedBy(before, user), !inGroup(before, group)];
  if (wrongUser || wrongGroup) {
    try {
      const problem = changeOwner(
        path,
        user === '' ? null : (user ?? before.uid),
        group === '' ? null : group,
        isLink && !follow,
      );
      if (problem) {
        problems.push(problem);
        ok = false;
      } else if (!isLink) chmodSync(path, before.mode & 0o7777); // chown clears set-user-id.
    } catch {
      ok = false;
    }
  }
  const wrongMode = mode !== null && !(isLink && !follow) && mode !== modeOf(before);
  if (wrongMode) (isLink ? changeMode : setMode)(path, mode);
  const after = wrongUser || wrongGroup || wrongMode ? look(path, follow) : before;
  const note = (key: string, wrong: boolean, fine: boolean, value: Value): void => {
    if (fine) {
      if (wrong) changes[key] = value;
      return;
    }
    ok = false;
    problems.push(`Failed to change ${key} to ${pyStr(value)}`);
  };
  note('user', wrongUser, ownedBy(after, user), user);
  note('group', wrongGroup, inGroup(after, group), group);
  if (mode !== null && !(isLink && !follow)) note('mode', wrongMode, mode === modeOf(after), mode);
  if (request.attrs && !after.isDirectory() && !(isLink && !follow)) {
    const done = await setAttributes(path, pyStr(request.attrs), ctx);
    if (done?.change) changes['attrs'] = done.change;
    if (done?.problem) problems.push(done.problem);
    if (done?.problem) ok = false;
  }
  if (request.selinux) {
    const done = await applySelinux(path, request.selinux, ctx);
    if (done.change) changes['selinux'] = done.change;
    problems.push(...done.comments);
    ok &&= done.ok;
  }
  return { changes, problems, ok, oldMode: modeOf(before) };
}
