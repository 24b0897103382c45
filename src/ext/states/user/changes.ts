// The differences between a user and the request.
import {
  commandError,
  listTexts,
  newDict,
  type PlainDict,
  pyEquals,
  pyStr,
  type StateContext,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { isDir } from '../../shared/file/facts.ts';
import { hasFunction, readable } from '../shared/calls.ts';
import type { UserArgs } from './params.ts';

/** The request, with groups and passwords resolved. */
export interface Asked {
  readonly args: UserArgs;
  readonly gid: Value;
  readonly groups: string[] | null;
  readonly optionalGroups: string[] | null;
  readonly password: Value;
}

const given = (value: Value): boolean => value !== null && value !== '' && value !== false;

const gidOfGroup = (name: Value, ctx: StateContext): Promise<Value> => ctx.call('file.group_to_gid', name);

/** Whether two lists of groups differ; names with the same id are equal. */
async function groupsDiffer(
  now: Set<string>,
  wanted: Set<string>,
  remove: boolean,
  ctx: StateContext,
): Promise<boolean> {
  const missing = [...wanted].filter((name) => !now.has(name));
  const extra = remove ? [...now].filter((name) => !wanted.has(name)) : [];
  const differing = [...missing, ...extra];
  if (differing.length === 0) return false;
  const ids = new Map<string, Value>();
  for (const name of new Set([...now, ...wanted]))
    ids.set(name, textKeyed(await ctx.call('group.info', name))['gid'] ?? null);
  return differing.some(
    (name) => ![...ids].some(([other, id]) => other !== name && pyEquals(id, ids.get(name) ?? null)),
  );
}

/** The groups to compare: without the primary group, the old primary group, the user's own group, and aliases of these. */
async function groupChange(user: PlainDict, asked: Asked, ctx: StateContext): Promise<string[] | undefined> {
  const { args, groups, optionalGroups } = asked;
  const now = new Set(listTexts(user['groups']));
  const wanted = new Set([...(groups ?? []), ...(optionalGroups ?? [])]);
  if (!args.remove_groups || (groups === null && !optionalGroups?.length)) for (const name of now) wanted.add(name);
  const main = pyStr(await ctx.call('file.gid_to_group', asked.gid ?? user['gid'] ?? null));
  const oldMain = pyStr(await ctx.call('file.gid_to_group', user['gid'] ?? null));
  const ids = new Map<string, Value>();
  for (const name of now) ids.set(name, await gidOfGroup(name, ctx));
  const alike = (name: string): string[] => {
    const id = ids.get(name);
    return id === undefined
      ? [name]
      : [name, ...[...ids].filter(([other, gid]) => other !== name && pyEquals(gid, id)).map(([other]) => other)];
  };
  if (now.has(main) || wanted.has(main)) {
    for (const name of alike(main)) {
      now.delete(name);
      wanted.delete(name);
    }
  }
  if (oldMain !== main && now.has(oldMain)) for (const name of alike(oldMain)) now.delete(name);
  if (now.has(args.name) && !wanted.has(args.name)) for (const name of alike(args.name)) now.delete(name);
  if (!(await groupsDiffer(now, wanted, args.remove_groups, ctx))) return undefined;
  return wanted.size > 0 || args.remove_groups ? [...wanted].sort() : undefined;
}

/** Password and its ages. */
async function shadowChanges(asked: Asked, change: PlainDict, ctx: StateContext): Promise<void> {
  const { args, password } = asked;
  if (!(await hasFunction(ctx, 'shadow.info')) || !(await hasFunction(ctx, 'shadow.default_hash'))) return;
  const shadow = textKeyed(await ctx.call('shadow.info', args.name));
  const now = pyStr(shadow['passwd'] ?? '');
  if (given(password) && !args.empty_password) {
    const isDefault = now === pyStr(await ctx.call('shadow.default_hash'));
    if ((isDefault || args.enforce_password) && now !== pyStr(password)) change['passwd'] = password;
  }
  if (args.empty_password && now !== '') change['empty_password'] = true;
  const ages: [keyof UserArgs & string, string][] = [
    ['date', 'lstchg'],
    ['mindays', 'min'],
    ['maxdays', 'max'],
    ['inactdays', 'inact'],
    ['warndays', 'warn'],
  ];
  for (const [key, field] of ages) {
    const wanted = args[key] as Value;
    if (wanted !== null && !pyEquals(shadow[field] ?? null, wanted)) change[key] = wanted;
  }
  if (given(args.expire) && args.expire !== 0 && !pyEquals(shadow['expire'] ?? null, args.expire))
    change['expire'] = args.expire;
  const locked = now.startsWith('!');
  if ((given(args.password_lock) && !locked) || (args.password_lock === false && locked))
    change['password_lock'] = args.password_lock;
}

async function gecosChanges(user: PlainDict, args: UserArgs, change: PlainDict, ctx: StateContext): Promise<void> {
  if (args.fullname !== null && pyStr(user['fullname'] ?? '') !== pyStr(args.fullname))
    change['fullname'] = pyStr(args.fullname);
  for (const key of ['roomnumber', 'workphone', 'homephone', 'other'] as const) {
    const wanted = args[key];
    if (wanted === null || !(await hasFunction(ctx, `user.ch${key}`))) continue;
    if (pyStr(user[key] ?? '') !== pyStr(wanted)) change[key] = pyStr(wanted);
  }
}

/** Every attribute that must change; undefined when there is no such user. Throws when a change is not allowed. */
export async function userChanges(asked: Asked, allowAll: boolean, ctx: StateContext): Promise<PlainDict | undefined> {
  const { args, gid } = asked;
  const user = textKeyed(await ctx.call('user.info', args.name));
  if (Object.keys(user).length === 0) return undefined;
  const change = newDict();
  if (given(args.uid) && args.uid !== 0 && !pyEquals(user['uid'] ?? null, args.uid)) change['uid'] = args.uid;
  if (gid !== null && !pyEquals(user['gid'] ?? null, gid) && !pyEquals(user['gid'] ?? null, await gidOfGroup(gid, ctx)))
    change['gid'] = gid;
  const groups = await groupChange(user, asked, ctx);
  if (groups) change['groups'] = groups;
  if (given(args.home) && user['home'] !== args.home) change['home'] = args.home;
  const home = given(args.home) ? args.home : (user['home'] ?? null);
  if (args.createhome && home !== null && !isDir(pyStr(home))) change['homeDoesNotExist'] = home;
  if (given(args.shell) && user['shell'] !== args.shell) change['shell'] = args.shell;
  await shadowChanges(asked, change, ctx);
  await gecosChanges(user, args, change, ctx);
  const errors: string[] = [];
  const refuse = (key: 'uid' | 'gid', wanted: Value): void => {
    const text = `Changing ${key} (${pyStr(user[key] ?? null)} -> ${pyStr(wanted)}) not permitted, set allow_${key}_change to True to force this change.`;
    errors.push(`${text} Note that this will not change file ownership.`);
  };
  if (!allowAll && !args.allow_uid_change && 'uid' in change) refuse('uid', args.uid);
  if (!allowAll && !args.allow_gid_change && 'gid' in change) refuse('gid', gid);
  if (errors.length > 0)
    throw commandError(
      `Encountered error checking for needed changes. Additional info follows:\n\n${readable(errors)}`,
    );
  return change;
}
