// Users and groups of PostgreSQL are both roles; their states differ in words.
import { isDict, newDict, type PlainDict, p, pyStr, type StateContext, type StateResult, type Value } from 'halite/sdk';
import { defaultEncryption, storedPassword, verifyPassword } from '../../shared/postgres/passwords.ts';

import { plain } from './calls.ts';
import { type DbArgs, dbArgs } from './postgres.ts';

export const roleParams = {
  createdb: p.any({ default: null, doc: 'may make databases' }),
  createroles: p.any({ default: null, doc: 'may make roles' }),
  encrypted: p.any({ default: null, doc: 'how the password is stored: md5, scram-sha-256 or False' }),
  superuser: p.any({ default: null, doc: 'may do anything' }),
  replication: p.any({ default: null, doc: 'may replicate' }),
  inherit: p.any({ default: null, doc: 'has the rights of its groups' }),
  login: p.any({ default: null, doc: 'may log in' }),
  password: p.any({ default: null, doc: 'the password, or what is stored of it' }),
  refresh_password: p.any({ default: null, doc: 'set it without looking whether it is set' }),
  groups: p.any({ default: null, doc: 'groups it is in' }),
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

/** The moment a text means, as the server reads it. */
async function moment(text: string, at: PlainDict, ctx: StateContext): Promise<string | null> {
  const sql = `SELECT '${text.replaceAll("'", "''")}'::timestamp(0) as dt;`;
  const rows = await ctx.callWith('postgres.psql_query', [sql], at);
  const found = pyStr(plain(Array.isArray(rows) ? rows[0] : undefined)['dt'] ?? '');
  return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(found) ? found : null;
}

/** What of a role is not as wanted. */
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

export async function rolePresent(kind: 'user' | 'group', args: RoleArgs, ctx: StateContext): Promise<StateResult> {
  const at = dbArgs(args);
  const { name, createdb, createroles, superuser, login, inherit, replication, groups } = args;
  const found = await ctx.callWith('postgres.role_get', [name], { return_password: !args.refresh_password, ...at });
  const now = isDict(found) ? plain(found) : null;
  const password = passwordFor(args, now);
  const update = now === null ? newDict() : await differences(args, now, password, at, ctx);
  const [label, mode] = [kind === 'user' ? 'User' : 'Group', now === null ? 'create' : 'update'];
  const differs = Object.keys(update).length > 0;
  if (now !== null && !differs) return ctx.ok(`${label} ${name} is already present`);
  const changes = newDict([[name, differs ? update : 'Present']]);
  return ctx.change(changes, `The ${kind} ${name} has been ${mode}d`, {
    test: `${label} ${name} is set to be ${mode}d`,
    testChanges: differs ? changes : newDict(),
    async apply() {
      const encrypted = args.encrypted ?? defaultEncryption;
      const done = await ctx.callWith(`postgres.${kind}_${mode}`, [], {
        [kind === 'user' ? 'username' : 'groupname']: name,
        ...{ createdb, createroles, encrypted, superuser, login, inherit, replication, groups },
        rolepassword: password,
        ...(kind === 'user' ? { valid_until: args.valid_until ?? null } : {}),
        ...at,
      });
      return done ? undefined : ctx.fail(`Failed to ${mode} ${kind} ${name}`);
    },
  });
}
