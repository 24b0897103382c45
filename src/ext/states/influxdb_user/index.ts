// State module `influxdb_user`: users of InfluxDB and their rights.
import {
  type ArgsOf,
  defineState,
  dictEntries,
  isDict,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  state,
} from 'halite/sdk';
import { plain } from '../shared/calls.ts';

const name = p.string({ doc: 'the user' });
const client_args = p.kwargs({ doc: 'influxdb_user, influxdb_password, influxdb_host, influxdb_port, …' });
const params = {
  name,
  passwd: p.string({ doc: 'the password, set when the user is made' }),
  admin: p.bool({ default: false, doc: 'an administrator' }),
  grants: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'database → read, write or all' }),
  client_args,
};
type Args = ArgsOf<typeof params>;

/** Whether the user is an administrator now is as wanted; false when it could not be set. */
async function setAdmin(args: Args, changes: PlainDict, ctx: StateContext): Promise<boolean> {
  const about = async (): Promise<boolean> =>
    isTruthy(plain(await ctx.callWith('influxdb.user_info', [args.name], args.client_args))['admin']);
  if ((await about()) === args.admin) return true;
  if (!ctx.test) {
    const fun = `influxdb.${args.admin ? 'grant' : 'revoke'}_admin_privileges`;
    await ctx.callWith(fun, [args.name], args.client_args);
    if ((await about()) !== args.admin) return false;
  }
  changes['Admin privileges'] = args.admin;
  return true;
}

async function setGrants(args: Args, changes: PlainDict, ctx: StateContext): Promise<void> {
  if (!isTruthy(args.grants) || !isDict(args.grants)) return;
  const now = plain(await ctx.callWith('influxdb.list_privileges', [args.name], args.client_args));
  for (const [key, value] of dictEntries(args.grants)) {
    const [database, privilege] = [pyStr(key), pyStr(value).toLowerCase()];
    if (now[database] === privilege) continue;
    if (!ctx.test && database in now)
      await ctx.callWith('influxdb.revoke_privilege', [database, 'all', args.name], args.client_args);
    changes[`Grant on database ${database} to user ${args.name}`] = privilege;
    if (!ctx.test) await ctx.callWith('influxdb.grant_privilege', [database, privilege, args.name], args.client_args);
  }
}

const present = state({
  doc: 'A user with rights.',
  examples: ['larry:\n  influxdb_user.present:\n    - passwd: secret\n    - grants:\n        telegraf: read'],
  params,
  async run(args, ctx) {
    const { name: user } = args;
    const changes = newDict();
    const there = isTruthy(await ctx.callWith('influxdb.user_exists', [user], args.client_args));
    if (!there) {
      if (ctx.test) return ctx.result({ result: null, comment: `User ${user} will be created` });
      const kwargs = { ...args.client_args, admin: args.admin };
      if (!(await ctx.callWith('influxdb.create_user', [user, args.passwd], kwargs)))
        return ctx.fail(`Failed to create user ${user}`);
    } else if (!(await setAdmin(args, changes, ctx))) return ctx.fail(`Failed to set admin privilege to user ${user}`);
    await setGrants(args, changes, ctx);
    // Salt says so only when there are grants as well.
    if (!there) {
      changes[user] = 'User created';
      return ctx.ok(`Created user ${user}`, { changes });
    }
    if (Object.keys(changes).length === 0) return ctx.ok(`User ${user} is present and up to date`);
    if (!ctx.test) return ctx.ok(`Updated user ${user}`, { changes });
    const list = Object.entries(changes).map(([key, value]) => `\n${key} => ${pyStr(value)}`);
    const comment = `User ${user} will be updated with the following changes:${list.join('')}`;
    return ctx.result({ result: null, comment });
  },
});

const absent = state({
  doc: 'A user who shall not be there.',
  examples: ['larry:\n  influxdb_user.absent'],
  params: { name, client_args },
  async run({ name: user, client_args: client }, ctx) {
    if (!isTruthy(await ctx.callWith('influxdb.user_exists', [user], client)))
      return ctx.ok(`User ${user} is not present`);
    return ctx.change(newDict([[user, 'removed']]), `Removed user ${user}`, {
      test: `User ${user} will be removed`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.callWith('influxdb.remove_user', [user], client))
          ? undefined
          : ctx.fail(`Failed to remove user ${user}`),
    });
  },
});

export default defineState({
  name: 'influxdb_user',
  doc: 'Users of InfluxDB and their rights.',
  functions: { present, absent },
});
