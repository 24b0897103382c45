// State module `rabbitmq_user`: users of a message server, with tags and permissions.
import {
  type ArgsOf,
  defineState,
  dictEntries,
  isDict,
  isTruthy,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  type StateContext,
  state,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { isExpected, plain } from '../shared/calls.ts';

const params = {
  name: p.string({ doc: 'the user' }),
  password: p.string({ default: null, doc: 'the password' }),
  force: p.bool({ default: false, doc: 'set the password in any case' }),
  tags: p.oneOf(['list', 'string'], { default: null, doc: 'tags: a list, or text with spaces' }),
  perms: p.oneOf(['list', 'dict', 'string'], {
    default: [],
    nullable: true,
    doc: 'list of: virtual host → [configure, write, read]',
  }),
  runas: p.string({ default: null, doc: 'as this user' }),
};
type Args = ArgsOf<typeof params>;

const permissions = (values: Value): PlainDict => {
  const [configure = '', write = '', read = ''] = Array.isArray(values) ? values : [];
  return newDict(Object.entries({ configure, write, read }));
};

/** What is asked for: virtual host and permissions, one after another. */
const wantedPerms = (perms: Value): [string, PlainDict][] =>
  (Array.isArray(perms) ? perms : []).flatMap((item) =>
    isDict(item)
      ? dictEntries(item).map(([host, values]): [string, PlainDict] => [pyStr(host), permissions(values)])
      : [],
  );

async function setPassword(args: Args, changes: PlainDict, ctx: StateContext): Promise<void> {
  const as = newDict([['runas', args.runas]]);
  if (args.password === null) {
    if (!ctx.test) await ctx.callWith('rabbitmq.clear_password', [args.name], as);
    changes['password'] = newDict(Object.entries({ old: 'Removed password.', new: '' }));
  } else {
    if (!ctx.test) await ctx.callWith('rabbitmq.change_password', [args.name, args.password], as);
    changes['password'] = newDict(Object.entries({ old: '', new: 'Set password.' }));
  }
}

async function setTags(args: Args, changes: PlainDict, ctx: StateContext): Promise<void> {
  if (args.tags === null) return;
  const as = newDict([['runas', args.runas]]);
  const all = plain(await ctx.callWith('rabbitmq.list_users', [], as).catch(() => newDict()));
  const known = all[args.name];
  const current = (Array.isArray(known) ? known : [...pyStr(known ?? '')]).map(pyStr);
  const tags =
    typeof args.tags === 'string' ? args.tags.split(/\s+/).filter(Boolean) : (args.tags as Value[]).map(pyStr);
  const same = tags.every((tag) => current.includes(tag)) && current.every((tag) => tags.includes(tag));
  if (same) return;
  if (!ctx.test) await ctx.callWith('rabbitmq.set_user_tags', [args.name, tags], as);
  changes['tags'] = newDict(Object.entries({ old: current, new: tags }));
}

async function setPermissions(args: Args, changes: PlainDict, ctx: StateContext): Promise<void> {
  const as = newDict([['runas', args.runas]]);
  const existing = plain(await ctx.callWith('rabbitmq.list_user_permissions', [args.name], as));
  const wanted = wantedPerms(args.perms);
  if (wanted.every(([host, perms]) => host in existing && pyEquals(existing[host] as Value, perms))) return;
  for (const [host, perms] of wanted) {
    const { configure = '', write = '', read = '' } = perms;
    if (!ctx.test) await ctx.callWith('rabbitmq.set_permissions', [host, args.name, configure, write, read], as);
    if (!(host in existing)) changes['perms'] = newDict([['new', newDict([[host, perms]])]]);
    else if (!pyEquals(existing[host] as Value, perms)) {
      const before = plain(changes['perms']);
      changes['perms'] = newDict([
        ['old', newDict([...Object.entries(plain(before['old'])), ...Object.entries(plain(existing[host]))])],
        ['new', newDict([...Object.entries(plain(before['new'])), [host, perms]])],
      ]);
    }
  }
}

const present = state({
  doc: 'A user with password, tags and permissions.',
  examples: [
    "larry:\n  rabbitmq_user.present:\n    - password: secret\n    - tags: [monitoring]\n    - perms:\n      - '/': ['.*', '.*', '.*']",
  ],
  params,
  async run(args, ctx) {
    const { name, password, force, perms, tags } = args;
    const as = newDict([['runas', args.runas]]);
    const changes = newDict();
    try {
      const there = isTruthy(await ctx.callWith('rabbitmq.user_exists', [name], as));
      const stale =
        there && password !== null && !isTruthy(await ctx.callWith('rabbitmq.check_password', [name, password], as));
      if (there && !force && !stale && !isTruthy(perms) && !isTruthy(tags))
        return ctx.ok(`User '${name}' is already present.`);
      if (!there) {
        changes['user'] = newDict(Object.entries({ old: '', new: name }));
        if (ctx.test) return ctx.result({ result: null, comment: `User '${name}' is set to be created.`, changes });
        await ctx.callWith('rabbitmq.add_user', [name, password], as);
      } else if (force || stale) await setPassword(args, changes, ctx);
      await setTags(args, changes, ctx);
      await setPermissions(args, changes, ctx);
    } catch (error) {
      if (!isExpected(error)) throw error;
      return ctx.fail(`Error: ${messageOf(error)}`, { changes });
    }
    if (Object.keys(changes).length === 0) return ctx.ok(`'${name}' is already in the desired state.`);
    if (ctx.test) return ctx.result({ result: null, comment: `Configuration for '${name}' will change.`, changes });
    return ctx.ok(`'${name}' was configured.`, { changes });
  },
});

const absent = state({
  doc: 'A user who shall not be there.',
  examples: ['larry:\n  rabbitmq_user.absent'],
  params: { name: params.name, runas: params.runas },
  async run({ name, runas }, ctx) {
    const as = newDict([['runas', runas]]);
    try {
      if (!(await ctx.callWith('rabbitmq.user_exists', [name], as)))
        return ctx.ok(`The user '${name}' is not present.`);
      if (!ctx.test) await ctx.callWith('rabbitmq.delete_user', [name], as);
    } catch (error) {
      if (!isExpected(error)) throw error;
      return ctx.fail(`Error: ${messageOf(error)}`);
    }
    const changes = newDict([['name', newDict(Object.entries({ old: name, new: '' }))]]);
    return ctx.test
      ? ctx.result({ result: null, comment: `The user '${name}' will be removed.`, changes })
      : ctx.ok(`The user '${name}' was removed.`, { changes });
  },
});

export default defineState({
  name: 'rabbitmq_user',
  doc: 'Users of a message server, with tags and permissions.',
  available: () => which('rabbitmqctl') !== null || 'Command not found: rabbitmqctl',
  functions: { present, absent },
});
