// State module `rabbitmq_user`: users of a message server, with tags and permissions.
import {
  type ArgsOf,
  type ChangeSet,
  type Changes,
  changeSet,
  defineState,
  dictEntries,
  isDict,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  resource,
  type StateContext,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';

const params = {
  name: p.string({ doc: 'the user' }),
  password: p.string({ default: null, doc: 'the password' }),
  force: p.bool({ default: false, doc: 'always set the password' }),
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

/** The requested permissions by virtual host, in order. */
const wantedPerms = (perms: Value): [string, PlainDict][] =>
  (Array.isArray(perms) ? perms : []).flatMap((item) =>
    isDict(item)
      ? dictEntries(item).map(([host, values]): [string, PlainDict] => [pyStr(host), permissions(values)])
      : [],
  );

async function setPassword({ name, password, runas }: Args, set: ChangeSet, ctx: StateContext): Promise<void> {
  await set.part({
    changes: {
      password: password === null ? { old: 'Removed password.', new: '' } : { old: '', new: 'Set password.' },
    },
    change: () =>
      password === null
        ? ctx.callWith('rabbitmq.clear_password', [name], { runas })
        : ctx.callWith('rabbitmq.change_password', [name, password], { runas }),
  });
}

async function setTags(args: Args, set: ChangeSet, ctx: StateContext): Promise<void> {
  if (args.tags === null) return;
  const as = newDict([['runas', args.runas]]);
  const all = textKeyed(await ctx.callWith('rabbitmq.list_users', [], as).catch(() => newDict()));
  const known = all[args.name];
  const current = (Array.isArray(known) ? known : [...pyStr(known ?? '')]).map(pyStr);
  const tags =
    typeof args.tags === 'string' ? args.tags.split(/\s+/).filter(Boolean) : (args.tags as Value[]).map(pyStr);
  const same = tags.every((tag) => current.includes(tag)) && current.every((tag) => tags.includes(tag));
  if (same) return;
  await set.part({
    changes: { tags: { old: current, new: tags } },
    change: () => ctx.callWith('rabbitmq.set_user_tags', [args.name, tags], as),
  });
}

async function setPermissions(args: Args, set: ChangeSet, ctx: StateContext): Promise<void> {
  const as = newDict([['runas', args.runas]]);
  const existing = textKeyed(await ctx.callWith('rabbitmq.list_user_permissions', [args.name], as));
  const wanted = wantedPerms(args.perms);
  if (wanted.every(([host, perms]) => host in existing && pyEquals(existing[host] as Value, perms))) return;
  for (const [host, perms] of wanted) {
    const { configure = '', write = '', read = '' } = perms;
    const before = textKeyed(set.changes['perms']);
    const now = existing[host];
    const changes: Changes =
      now === undefined
        ? { perms: { new: { [host]: perms } } }
        : pyEquals(now, perms)
          ? {}
          : {
              perms: {
                old: { ...textKeyed(before['old']), ...textKeyed(now) },
                new: { ...textKeyed(before['new']), [host]: perms },
              },
            };
    await set.part({
      changes,
      change: () => ctx.callWith('rabbitmq.set_permissions', [host, args.name, configure, write, read], as),
    });
  }
}

const present = state({
  doc: 'A user with password, tags and permissions.',
  examples: [
    "larry:\n  rabbitmq_user.present:\n    - password: secret\n    - tags: [monitoring]\n    - perms:\n      - '/': ['.*', '.*', '.*']",
  ],
  params,
  run(args, ctx) {
    const { name, password, force, perms, tags } = args;
    const as = newDict([['runas', args.runas]]);
    return changeSet(ctx, {
      async each(set) {
        const there = isTruthy(await ctx.callWith('rabbitmq.user_exists', [name], as));
        const stale =
          there && password !== null && !isTruthy(await ctx.callWith('rabbitmq.check_password', [name, password], as));
        if (there && !force && !stale && !isTruthy(perms) && !isTruthy(tags)) {
          set.comments.push(`User '${name}' is already present.`);
          return;
        }
        if (!there) {
          await set.part({
            changes: { user: { old: '', new: name } },
            change: () => ctx.callWith('rabbitmq.add_user', [name, password], as),
            would: `User '${name}' is set to be created.`,
          });
          // A user who does not exist yet has neither tags nor permissions.
          if (ctx.test) return;
        } else if (force || stale) await setPassword(args, set, ctx);
        await setTags(args, set, ctx);
        await setPermissions(args, set, ctx);
      },
      right: `'${name}' is already in the desired state.`,
      would: `Configuration for '${name}' will change.`,
      done: `'${name}' was configured.`,
      error: (message) => `Error: ${message}`,
    });
  },
});

const absent = state({
  doc: 'A user who must not exist.',
  examples: ['larry:\n  rabbitmq_user.absent'],
  params: { name: params.name, runas: params.runas },
  run: ({ name, runas }, ctx) =>
    resource(ctx, {
      find: () => ctx.callWith('rabbitmq.user_exists', [name], { runas }),
      wanted: false,
      change: () => ctx.callWith('rabbitmq.delete_user', [name], { runas }),
      changes: { name: { old: name, new: '' } },
      right: `The user '${name}' is not present.`,
      would: `The user '${name}' will be removed.`,
      done: `The user '${name}' was removed.`,
      error: (message) => `Error: ${message}`,
    }),
});

export default defineState({
  name: 'rabbitmq_user',
  doc: 'Users of a message server, with tags and permissions.',
  available: () => which('rabbitmqctl') !== null || 'Command not found: rabbitmqctl',
  functions: { present, absent },
});
