// State module `influxdb_user`: users of InfluxDB and their rights.
import {
  type ArgsOf,
  type ChangeSet,
  changeSet,
  defineState,
  dictEntries,
  isDict,
  isTruthy,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  state,
  textKeyed,
} from 'halite/sdk';

const name = p.string({ doc: 'the user' });
const client_args = p.kwargs({ doc: 'influxdb_user, influxdb_password, influxdb_host, influxdb_port, …' });
const params = {
  name,
  passwd: p.string({ doc: 'the password, set when the user is created' }),
  admin: p.bool({ default: false, doc: 'an administrator' }),
  grants: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'database → read, write or all' }),
  client_args,
};
type Args = ArgsOf<typeof params>;

/** Sets the administrator flag if needed; false when that failed. */
async function setAdmin({ name, admin, client_args }: Args, set: ChangeSet, ctx: StateContext): Promise<boolean> {
  const isAdmin = async (): Promise<boolean> =>
    isTruthy(textKeyed(await ctx.callWith('influxdb.user_info', [name], client_args))['admin']);
  if ((await isAdmin()) === admin) return true;
  return set.part({
    changes: { 'Admin privileges': admin },
    async change() {
      await ctx.callWith(`influxdb.${admin ? 'grant' : 'revoke'}_admin_privileges`, [name], client_args);
      return (await isAdmin()) === admin;
    },
    failed: `Failed to set admin privilege to user ${name}`,
  });
}

async function setGrants({ name, grants, client_args }: Args, set: ChangeSet, ctx: StateContext): Promise<void> {
  if (!isTruthy(grants) || !isDict(grants)) return;
  const now = textKeyed(await ctx.callWith('influxdb.list_privileges', [name], client_args));
  for (const [key, value] of dictEntries(grants)) {
    const [database, privilege] = [pyStr(key), pyStr(value).toLowerCase()];
    if (now[database] === privilege) continue;
    await set.part({
      changes: { [`Grant on database ${database} to user ${name}`]: privilege },
      async change() {
        if (database in now) await ctx.callWith('influxdb.revoke_privilege', [database, 'all', name], client_args);
        await ctx.callWith('influxdb.grant_privilege', [database, privilege, name], client_args);
      },
    });
  }
}

const present = state({
  doc: 'A user with rights.',
  examples: ['larry:\n  influxdb_user.present:\n    - passwd: secret\n    - grants:\n        telegraf: read'],
  params,
  run(args, ctx) {
    const { name: user, client_args: client } = args;
    const listed = (changes: PlainDict): string[] =>
      Object.entries(changes).map(([key, value]) => `\n${key} => ${pyStr(value)}`);
    return changeSet(ctx, {
      async each(set) {
        if (isTruthy(await ctx.callWith('influxdb.user_exists', [user], client))) {
          if (await setAdmin(args, set, ctx)) await setGrants(args, set, ctx);
          return;
        }
        const made = await set.part({
          change: () => ctx.callWith('influxdb.create_user', [user, args.passwd], { ...client, admin: args.admin }),
          would: `User ${user} will be created`,
          done: `Created user ${user}`,
          failed: `Failed to create user ${user}`,
        });
        // The grants of a user who does not exist yet cannot be queried.
        if (!made || ctx.test) return;
        await setGrants(args, set, ctx);
        set.changes[user] = 'User created';
      },
      right: `User ${user} is present and up to date`,
      would: (changes) => `User ${user} will be updated with the following changes:${listed(changes).join('')}`,
      done: `Updated user ${user}`,
      hidden: true,
    });
  },
});

const absent = state({
  doc: 'A user who must not exist.',
  examples: ['larry:\n  influxdb_user.absent'],
  params: { name, client_args },
  run: ({ name: user, client_args: client }, ctx) =>
    resource(ctx, {
      find: () => ctx.callWith('influxdb.user_exists', [user], client),
      wanted: false,
      change: () => ctx.callWith('influxdb.remove_user', [user], client),
      changes: () => ({ [user]: 'removed' }),
      right: `User ${user} is not present`,
      would: `User ${user} will be removed`,
      done: `Removed user ${user}`,
      failed: `Failed to remove user ${user}`,
    }),
});

export default defineState({
  name: 'influxdb_user',
  doc: 'Users of InfluxDB and their rights.',
  functions: { present, absent },
});
