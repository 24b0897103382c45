// `user.present`: a user with all its properties.
import {
  newDict,
  type PlainDict,
  pyEquals,
  pyRepr,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { isDir } from '../../shared/file/facts.ts';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';
import { type Asked, userChanges } from './changes.ts';
import { params, type UserArgs } from './params.ts';

const redacted = 'XXX-REDACTED-XXX';
const texts = (value: Value): string[] =>
  Array.isArray(value) ? value.map(pyStr) : typeof value === 'string' && value !== '' ? value.split(',') : [];

/** The hash of a clear-text password, with the user's present salt so that an equal password gives an equal hash. */
async function hashedPassword(args: UserArgs, ctx: StateContext): Promise<Value> {
  if (!args.password || !args.hash_password) return args.password;
  const now = pyStr(textKeyed(await ctx.call('shadow.info', args.name))['passwd'] ?? '');
  const algorithms: Readonly<Record<string, string>> = { '1': 'md5', '2a': 'blowfish', '5': 'sha256', '6': 'sha512' };
  const [, algorithm = '', salt, hash] = now.split('$');
  if (hash === undefined) return ctx.call('shadow.gen_password', pyStr(args.password));
  return ctx.callWith('shadow.gen_password', [pyStr(args.password)], {
    crypt_salt: salt ?? null,
    algorithm: algorithms[algorithm] ?? 'sha512',
  });
}

async function groupExists(name: string, ctx: StateContext): Promise<boolean> {
  return Object.keys(textKeyed(await ctx.call('group.info', name))).length > 0;
}

async function existing(names: readonly string[], ctx: StateContext): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) if (await groupExists(name, ctx)) found.push(name);
  return found;
}

/** `{'shell': '/bin/sh'}` as Salt prints it under test. */
function announcement(changes: PlainDict, missing: readonly string[]): string {
  const rows = Object.entries(changes).map(([key, value]) => `${key}: ${key === 'passwd' ? redacted : pyStr(value)}\n`);
  const pending = missing.length > 0 ? `groups (pending creation): ${missing.join(',')}\n` : '';
  return `The following user attributes are set to be changed:\n${rows.join('')}${pending}`;
}

/** Makes one kind of change after the other, in Salt's order. */
async function applyChanges(changes: PlainDict, asked: Asked, before: PlainDict, ctx: StateContext): Promise<void> {
  const { args, password } = asked;
  const { name } = args;
  if ('passwd' in changes && !args.empty_password) await ctx.call('shadow.set_password', name, pyStr(password));
  if (changes['empty_password']) await ctx.call('shadow.del_password', name);
  if ('password_lock' in changes)
    await ctx.call(changes['password_lock'] ? 'shadow.lock_password' : 'shadow.unlock_password', name);
  if ('date' in changes) await ctx.call('shadow.set_date', name, args.date);
  const missing = changes['homeDoesNotExist'];
  const home = missing ?? changes['home'];
  if (home !== undefined) await ctx.callWith('user.chhome', [name, home], { persist: args.persist_home });
  if (missing !== undefined && !isDir(pyStr(missing))) {
    await ctx.call('file.mkdir', missing, before['uid'] ?? null, before['gid'] ?? null, '0755');
  }
  for (const key of ['mindays', 'maxdays', 'inactdays', 'warndays', 'expire'] as const) {
    if (key in changes) await ctx.call(`shadow.set_${key}`, name, args[key]);
  }
  for (const key of ['uid', 'gid', 'shell', 'fullname', 'roomnumber', 'workphone', 'homephone', 'other']) {
    if (key in changes && (await hasFunction(ctx, `user.ch${key}`)))
      await ctx.call(`user.ch${key}`, name, changes[key] as Value);
  }
  if ('groups' in changes) await ctx.call('user.chgroups', name, changes['groups'] as Value, !args.remove_groups);
}

/** The actual changes, read from the system. */
function differences(before: PlainDict, after: PlainDict, secret: readonly string[]): PlainDict {
  const found = newDict();
  for (const [key, value] of Object.entries(after)) {
    if (!pyEquals(value, before[key] ?? null)) found[key] = secret.includes(key) ? redacted : value;
  }
  return found;
}

async function update(changes: PlainDict, asked: Asked, ctx: StateContext): Promise<StateResult> {
  const { args } = asked;
  const { name } = args;
  const hasShadow = await hasFunction(ctx, 'shadow.info');
  const shadowBefore = hasShadow ? textKeyed(await ctx.call('shadow.info', name)) : newDict();
  const before = textKeyed(await ctx.call('user.info', name));
  await applyChanges(changes, asked, before, ctx);
  const made = differences(before, textKeyed(await ctx.call('user.info', name)), []);
  if (hasShadow && shadowBefore['passwd'] !== asked.password) {
    Object.assign(made, differences(shadowBefore, textKeyed(await ctx.call('shadow.info', name)), ['passwd']));
  }
  const left = await userChanges({ ...asked, gid: args.gid }, true, ctx);
  if (left && Object.keys(left).length > 0) {
    if ('passwd' in left) left['passwd'] = redacted;
    return ctx.fail(`These values could not be changed: ${pyRepr(left)}`, { changes: made });
  }
  const comment = Object.keys(made).length > 0 ? `Updated user ${name}` : `User ${name} is present and up to date`;
  return ctx.ok(comment, { changes: made });
}

interface ShadowStep {
  readonly key: string;
  readonly set: string;
  readonly field: string;
  readonly words: string;
}
const shadowSteps: readonly ShadowStep[] = [
  { key: 'date', set: 'shadow.set_date', field: 'lstchg', words: 'last change date' },
  { key: 'mindays', set: 'shadow.set_mindays', field: 'min', words: 'minimum days' },
  { key: 'maxdays', set: 'shadow.set_maxdays', field: 'max', words: 'maximum days' },
  { key: 'inactdays', set: 'shadow.set_inactdays', field: 'inact', words: 'inactive days' },
  { key: 'warndays', set: 'shadow.set_warndays', field: 'warn', words: 'warn days' },
  { key: 'expire', set: 'shadow.set_expire', field: 'expire', words: 'expire days' },
];

/** Password and ages of a new user. */
async function setShadow(asked: Asked, result: StateResult, ctx: StateContext): Promise<void> {
  const { args, password } = asked;
  const { name } = args;
  const changes = result.changes as PlainDict;
  const failed = (what: string): void => {
    result.comment = `User ${name} created but failed to ${what}`;
    result.result = false;
  };
  const field = async (key: string): Promise<Value> => textKeyed(await ctx.call('shadow.info', name))[key] ?? null;
  if (password && !args.empty_password) {
    await ctx.call('shadow.set_password', name, pyStr(password));
    if ((await field('passwd')) !== password) failed(`set password to ${redacted}`);
    changes['password'] = redacted;
  }
  if (args.empty_password && !password) {
    await ctx.call('shadow.del_password', name);
    if ((await field('passwd')) !== '') failed('empty password');
    changes['password'] = '';
  }
  for (const step of shadowSteps) {
    const wanted = args[step.key as keyof UserArgs] as Value;
    if (wanted === null || (step.key !== 'date' && !wanted)) continue;
    await ctx.call(step.set, name, wanted);
    if (!pyEquals(await field(step.field), wanted)) failed(`set ${step.words} to ${pyStr(wanted)}`);
    changes[step.key] = wanted;
  }
}

async function create(asked: Asked, ctx: StateContext): Promise<StateResult> {
  const { args, groups, optionalGroups } = asked;
  const { name, uid, gid, home, shell, unique, system, fullname, roomnumber, workphone, homephone, other } = args;
  const { createhome, nologinit, loginclass, usergroup } = args;
  const all = [...(groups ?? []), ...(optionalGroups ?? [])];
  const person = { fullname, roomnumber, workphone, homephone, other };
  const order = {
    name,
    uid,
    gid,
    groups: all.length > 0 ? all : groups,
    home,
    shell,
    unique,
    system,
    ...person,
    createhome,
    nologinit,
    loginclass,
    usergroup,
  };
  const made = await ctx.callWith('user.add', [], newDict(Object.entries(order)));
  if (made !== true) return ctx.fail(typeof made === 'string' ? made : `Failed to create new user ${name}`);
  const changes = newDict(Object.entries(textKeyed(await ctx.call('user.info', name))));
  if (!createhome) changes['home'] = '';
  const result = ctx.ok(`New user ${name} created`, { changes });
  if (await hasFunction(ctx, 'shadow.info')) await setShadow(asked, result, ctx);
  return result;
}

async function run(args: UserArgs, ctx: StateContext): Promise<StateResult> {
  const { name } = args;
  const password = await hashedPassword(args, ctx);
  for (const field of [args.fullname, args.roomnumber, args.workphone]) {
    if (field !== null && pyStr(field).includes(',')) return ctx.fail(`Unsupported char ',' in ${pyStr(field)}`);
  }
  let groups = args.groups === null ? null : texts(args.groups);
  const there = groups ? await existing(groups, ctx) : [];
  const missing = (groups ?? []).filter((group) => !there.includes(group));
  if (missing.length > 0) {
    // Under test an earlier state may create them.
    if (!ctx.test) return ctx.fail(`The following group(s) are not present: ${missing.join(',')}`);
    groups = there;
  }
  const optionalGroups =
    texts(args.optional_groups).length > 0 ? await existing(texts(args.optional_groups), ctx) : null;
  const ownGroup = args.usergroup && (await ctx.call('file.group_to_gid', name)) !== '';
  const asked: Asked = { args, gid: ownGroup ? name : args.gid, groups, optionalGroups, password };
  let changes: PlainDict | undefined;
  try {
    changes = await userChanges(asked, false, ctx);
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(failureOf(error).message);
  }
  if (!changes) {
    const pending = missing.length > 0 ? ` (pending groups: ${missing.join(',')})` : '';
    return ctx.change(newDict(), '', {
      test: `User ${name} set to be added${pending}`,
      apply: () => create(asked, ctx),
    });
  }
  if (Object.keys(changes).length === 0) return ctx.ok(`User ${name} is present and up to date`);
  const needed = changes;
  return ctx.change(newDict(), '', { test: announcement(needed, missing), apply: () => update(needed, asked, ctx) });
}

export const present = state({
  doc: 'A user with its home, shell, groups and password.',
  examples: ['fred:\n  user.present:\n    - shell: /bin/zsh\n    - home: /home/fred\n    - groups:\n      - wheel'],
  params,
  run,
});
