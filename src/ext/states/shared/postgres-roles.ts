// Users and groups of PostgreSQL are both roles; their states only differ in texts.
import {
  isDict,
  newDict,
  onlyReads,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { defaultEncryption, storedPassword, verifyPassword } from '../../shared/postgres/passwords.ts';

import { type DbArgs, dbArgs } from './postgres.ts';

export const roleParams = {
  createdb: p.scalar({ default: null, doc: 'may create databases' }),
  createroles: p.scalar({ default: null, doc: 'may create roles' }),
  encrypted: p.scalar({ default: null, doc: 'how the password is stored: md5, scram-sha-256 or False' }),
  superuser: p.scalar({ default: null, doc: 'superuser' }),
  replication: p.scalar({ default: null, doc: 'may replicate' }),
  inherit: p.scalar({ default: null, doc: 'inherits the rights of its groups' }),
  login: p.scalar({ default: null, doc: 'may log in' }),
  password: p.scalar({ default: null, doc: 'the password, or its stored form' }),
  refresh_password: p.scalar({ default: null, doc: 'set it without checking whether it is set' }),
  groups: p.oneOf(['string', 'list'], { default: null, doc: 'groups it is in' }),
};

interface RoleArgs extends DbArgs {
  readonly name: string;
  readonly createdb: Value;
  readonly createroles: Value;
  readonly encrypted: Value;
  readonly superuser: Value;
  readonly replication: Value;
  readonly inherit: Value;
  readonly login: Value;
  readonly password: Value;
  readonly default_password?: Value;
  readonly refresh_password: Value;
  readonly valid_until?: Value;
  readonly groups: Value;
}

const columns = {
  createdb: 'can create databases',
  inherit: 'inherits privileges',
  login: 'can login',
  createroles: 'can create roles',
  replication: 'replication',
  superuser: 'superuser',
} as const;

/** The time of a text, as the server interprets it. */
async function moment(text: string, at: PlainDict, ctx: StateContext): Promise<string | null> {
  const sql = `SELECT '${text.replaceAll("'", "''")}'::timestamp(0) as dt;`;
  const rows = await onlyReads(() => ctx.callWith('postgres.psql_query', [sql], at));
  const found = pyStr(textKeyed(Array.isArray(rows) ? rows[0] : undefined)['dt'] ?? '');
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(found) ? found : null;
}

/** Properties of a role that differ. */
async function differences(args: RoleArgs, now: PlainDict, password: string | null, at: PlainDict, ctx: StateContext) {
  const update = newDict();
  for (const [key, column] of Object.entries(columns) as [keyof typeof columns, string][]) {
    if (args[key] !== null && now[column] !== args[key]) update[key] = args[key];
  }
  if (password !== null) update['password'] = true;
  const until = args.valid_until ?? null;
  if (until !== null && (await moment(pyStr(until), at, ctx)) !== (now['expiry time'] ?? null))
    update['valid_until'] = until;
  if (args.groups !== null) {
    const wanted = Array.isArray(args.groups) ? args.groups.map(pyStr) : pyStr(args.groups).split(',');
    const has = Array.isArray(now['groups']) ? now['groups'] : [];
    const missing = wanted.filter((group) => !has.includes(group));
    if (missing.length > 0) update['groups'] = missing;
  }
  return update;
}

/** The password to set, as it is stored; null when there is none or it is set already. */
function passwordFor(args: RoleArgs, now: PlainDict | null): string | null {
  const password = args.password ?? (now === null ? (args.default_password ?? null) : null);
  if (password === null) return null;
  const method = args.encrypted ?? defaultEncryption;
  const stored = pyStr(now?.['password'] ?? '');
  if (now !== null && !args.refresh_password && verifyPassword(args.name, pyStr(password), stored, method)) return null;
  return storedPassword(args.name, password, method);
}

export function rolePresent(kind: 'user' | 'group', args: RoleArgs, ctx: StateContext): Promise<StateResult> {
  const at = dbArgs(args);
  const { name, createdb, createroles, superuser, login, inherit, replication, groups } = args;
  const label = kind === 'user' ? 'User' : 'Group';
  const verb = (found: PlainDict | null): string => (found === null ? 'create' : 'update');
  return resource(ctx, {
    async find() {
      const found = await ctx.callWith('postgres.role_get', [name], { return_password: !args.refresh_password, ...at });
      return isDict(found) ? textKeyed(found) : null;
    },
    compare: async (now): Promise<Value> =>
      now === null ? 'Present' : await differences(args, now, passwordFor(args, now), at, ctx),
    change: ({ found }) =>
      ctx.callWith(`postgres.${kind}_${verb(found)}`, [], {
        [kind === 'user' ? 'username' : 'groupname']: name,
        ...{ createdb, createroles, encrypted: args.encrypted ?? defaultEncryption },
        ...{ superuser, login, inherit, replication, groups },
        rolepassword: passwordFor(args, found),
        ...(kind === 'user' ? { valid_until: args.valid_until ?? null } : {}),
        ...at,
      }),
    changes: ({ difference }) => ({ [name]: difference }),
    testChanges: ({ found, difference }) => (found === null ? {} : { [name]: difference }),
    right: `${label} ${name} is already present`,
    would: ({ found }) => `${label} ${name} is set to be ${verb(found)}d`,
    done: ({ found }) => `The ${kind} ${name} has been ${verb(found)}d`,
    failed: ({ found }) => `Failed to ${verb(found)} ${kind} ${name}`,
  });
}
