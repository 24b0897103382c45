// Roles of PostgreSQL: users and groups.
import { fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { defaultEncryption, storedPassword } from '../../shared/postgres/passwords.ts';
import { type Conn, conn, execute, ident, literal, parseCsv, query, type Row, runas } from './psql.ts';

const flags = ['superuser', 'inherits privileges', 'can create roles', 'can create databases'];
const allFlags = [...flags, 'can update system catalogs', 'can login', 'replication', 'connections'];

export async function serverVersion(at: Conn, ctx: ModuleContext): Promise<string> {
  const [row] = await query("SELECT setting FROM pg_catalog.pg_settings WHERE name = 'server_version'", at, ctx);
  return row?.['setting'] ?? '';
}

/** The query for roles; old servers have fewer or other columns. */
function roleQuery(version: string, withPassword: boolean): string {
  const number = Number.parseFloat(version);
  const columns = [
    'r.rolname AS "name"',
    'r.rolsuper AS "superuser"',
    'r.rolinherit AS "inherits privileges"',
    'r.rolcreaterole AS "can create roles"',
    'r.rolcreatedb AS "can create databases"',
    `${number >= 9.5 ? 'NULL' : 'r.rolcatupdate'} AS "can update system catalogs"`,
    'r.rolcanlogin AS "can login"',
    `${number >= 9.1 ? 'r.rolreplication' : 'NULL'} AS "replication"`,
    'r.rolconnlimit AS "connections"',
    '(SELECT array_agg(g.rolname) FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles g ON m.roleid = g.oid WHERE m.member = r.oid) AS "groups"',
    'r.rolvaliduntil::timestamp(0) AS "expiry time"',
    'r.rolconfig AS "defaults variables"',
    ...(withPassword ? ['a.rolpassword AS "password"'] : []),
  ];
  const join = withPassword ? ' LEFT JOIN pg_catalog.pg_authid a ON r.oid = a.oid' : '';
  return `SELECT ${columns.join(', ')} FROM pg_catalog.pg_roles r${join}`;
}

function roleOf(row: Row, withPassword: boolean): PlainDict {
  const truth = (text: string | undefined): Value => (text === 't' ? true : text === 'f' ? false : null);
  const expiry = row['expiry time'] ?? '';
  const groups = (row['groups'] ?? '').replace(/^\{|\}$/g, '');
  return newDict([
    ...allFlags.map((key): [string, Value] => [key, truth(row[key])]),
    ['expiry time', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(expiry) ? expiry : null],
    ['defaults variables', row['defaults variables'] ?? ''],
    ...(withPassword ? [['password', row['password'] ?? ''] as [string, Value]] : []),
    ['groups', parseCsv(groups)[0] ?? []],
  ]);
}

/** The roles by name; false when the query fails. */
async function roles(withPassword: boolean, at: Conn, ctx: ModuleContext): Promise<PlainDict | false> {
  const version = await serverVersion(at, ctx);
  if (version === '') return false;
  const rows = await query(roleQuery(version, withPassword), at, ctx);
  return newDict(rows.map((row) => [row['name'] ?? '', roleOf(row, withPassword)]));
}

async function role(name: string, withPassword: boolean, at: Conn, ctx: ModuleContext): Promise<PlainDict | null> {
  const all = await roles(withPassword, at, ctx);
  return all === false ? null : ((all[name] as PlainDict | undefined) ?? null);
}

/** The desired properties of a role; null means the server's default, or no change. */
interface RoleOptions {
  readonly createdb: Value;
  readonly createroles: Value;
  readonly inherit: Value;
  readonly login: Value;
  readonly connlimit?: Value;
  readonly encrypted: Value;
  readonly superuser: Value;
  readonly replication: Value;
  readonly rolepassword: Value;
  readonly valid_until?: Value;
  readonly groups: Value;
}

function passwordClause(name: string, { rolepassword, encrypted }: RoleOptions): string[] {
  if (typeof rolepassword === 'boolean') return [rolepassword ? 'PASSWORD' : 'NOPASSWORD'];
  if (rolepassword === null || rolepassword === '') return [];
  const method = encrypted ?? defaultEncryption;
  const stored = storedPassword(name, rolepassword, method);
  return [`${method ? '' : 'UN'}ENCRYPTED PASSWORD ${literal(stored)}`];
}

/** `CREATE ROLE … WITH INHERIT NOCREATEDB …` and the grants of groups. */
function statements(verb: string, name: string, options: RoleOptions, now: PlainDict | null): string[] {
  const flag = (value: Value, word: string): string[] => (value === null ? [] : [value ? word : `NO${word}`]);
  const { connlimit = null, valid_until: until = null } = options;
  const sameSuper = now !== null && Boolean(options.superuser) === Boolean(now['superuser']);
  const words = [
    ...flag(options.inherit, 'INHERIT'),
    ...flag(options.createdb, 'CREATEDB'),
    ...flag(options.createroles, 'CREATEROLE'),
    ...(sameSuper ? [] : flag(options.superuser, 'SUPERUSER')),
    ...flag(options.replication, 'REPLICATION'),
    ...flag(options.login, 'LOGIN'),
    ...(connlimit === null ? [] : [`CONNECTION LIMIT ${Math.trunc(Number(connlimit))}`]),
    ...passwordClause(name, options),
    ...(until === null || until === '' ? [] : [`VALID UNTIL ${literal(until)}`]),
  ];
  const list = Array.isArray(options.groups) ? options.groups.map(pyStr) : pyStr(options.groups ?? '').split(',');
  const grants = list.filter((group) => group !== '').map((group) => `GRANT ${ident(group.trim())} TO ${ident(name)}`);
  return [`${verb} ROLE ${ident(name)}${words.length > 0 ? ` WITH ${words.join(' ')}` : ''}`, ...grants];
}

async function create(name: string, kind: 'user' | 'group', options: RoleOptions, at: Conn, ctx: ModuleContext) {
  if ((await role(name, false, at, ctx)) !== null) return false;
  const wanted = { ...options, inherit: options.inherit ?? true, login: options.login ?? kind === 'user' };
  return execute(statements('CREATE', name, wanted, null), at, ctx);
}

async function update(name: string, options: RoleOptions, at: Conn, ctx: ModuleContext): Promise<boolean> {
  const now = await role(name, false, at, ctx);
  if (now === null) return false;
  return execute(statements('ALTER', name, options, now), at, ctx);
}

async function remove(name: string, at: Conn, ctx: ModuleContext): Promise<boolean> {
  if ((await role(name, false, at, ctx)) === null) return false;
  await execute(`DROP ROLE ${ident(name)}`, at, ctx);
  return (await role(name, false, at, ctx)) === null;
}

const name = p.string({ doc: 'the role' });
const username = p.string({ doc: 'the user' });
const groupname = p.string({ doc: 'the group' });
const withPassword = p.bool({ default: false, doc: 'with the stored password' });
const option = {
  createdb: p.truthy({ default: null, nullable: true, doc: 'may create databases' }),
  createroles: p.truthy({ default: null, nullable: true, doc: 'may create roles' }),
  inherit: p.truthy({ default: null, nullable: true, doc: 'inherits the rights of its groups' }),
  login: p.truthy({ default: null, nullable: true, doc: 'may log in' }),
  connlimit: p.scalar({ default: null, doc: 'maximum number of connections' }),
  encrypted: p.oneOf(['bool', 'string'], { default: null, doc: 'md5, scram-sha-256 or False' }),
  superuser: p.truthy({ default: null, nullable: true, doc: 'superuser' }),
  replication: p.truthy({ default: null, nullable: true, doc: 'may replicate' }),
  rolepassword: p.oneOf(['bool', 'string'], { default: null, doc: 'password of the role' }),
  valid_until: p.string({ default: null, falsy: null, doc: 'expiry of the password' }),
  groups: p.oneOf(['string', 'list'], { default: null, doc: 'groups it is in' }),
};
const { createdb, createroles, inherit, login, connlimit, encrypted, superuser, replication } = option;
const { rolepassword, valid_until, groups } = option;

export const roleFunctions = {
  user_list: fn({
    doc: 'The roles and their rights.',
    examples: ["salt '*' postgres.user_list"],
    params: { ...conn, runas, return_password: withPassword },
    run: (args, ctx) => roles(args.return_password, args, ctx),
  }),
  role_get: fn({
    doc: 'The rights of one role; empty when it does not exist.',
    examples: ["salt '*' postgres.role_get postgres"],
    params: { name, ...conn, runas, return_password: withPassword },
    run: (args, ctx) => role(args.name, args.return_password, args, ctx),
  }),
  user_exists: fn({
    doc: 'Whether there is a role of this name.',
    examples: ["salt '*' postgres.user_exists 'username'"],
    params: { name, ...conn, runas },
    run: async (args, ctx) => (await role(args.name, false, args, ctx)) !== null,
  }),
  user_create: fn({
    doc: 'Creates a user.',
    examples: ["salt '*' postgres.user_create 'username' rolepassword='secret'"],
    params: {
      username,
      ...conn,
      ...{ createdb, createroles, inherit, login, connlimit, encrypted, superuser, replication },
      ...{ rolepassword, valid_until, groups, runas },
    },
    run: (args, ctx) => create(args.username, 'user', args, args, ctx),
  }),
  user_update: fn({
    doc: 'Changes a user.',
    examples: ["salt '*' postgres.user_update 'username' createdb=True"],
    params: {
      username,
      ...conn,
      ...{ createdb, createroles, encrypted, superuser, inherit, login, connlimit, replication },
      ...{ rolepassword, valid_until, groups, runas },
    },
    run: (args, ctx) => update(args.username, args, args, ctx),
  }),
  user_remove: fn({
    doc: 'Removes a user.',
    examples: ["salt '*' postgres.user_remove 'username'"],
    params: { username, ...conn, runas },
    run: (args, ctx) => remove(args.username, args, ctx),
  }),
  group_create: fn({
    doc: 'Creates a group.',
    examples: ["salt '*' postgres.group_create 'groupname'"],
    params: {
      groupname,
      ...conn,
      ...{ createdb, createroles, encrypted, login, inherit, superuser, replication, rolepassword, groups, runas },
    },
    run: (args, ctx) => create(args.groupname, 'group', args, args, ctx),
  }),
  group_update: fn({
    doc: 'Changes a group.',
    examples: ["salt '*' postgres.group_update 'groupname' createdb=True"],
    params: {
      groupname,
      ...conn,
      ...{ createdb, createroles, encrypted, inherit, login, superuser, replication, rolepassword, groups, runas },
    },
    run: (args, ctx) => update(args.groupname, args, args, ctx),
  }),
  group_remove: fn({
    doc: 'Removes a group.',
    examples: ["salt '*' postgres.group_remove 'groupname'"],
    params: { groupname, ...conn, runas },
    run: (args, ctx) => remove(args.groupname, args, ctx),
  }),
};
