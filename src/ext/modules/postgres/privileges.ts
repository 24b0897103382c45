// Privileges on objects of PostgreSQL: read from its access lists, granted and revoked.
import { fn, invocationError, type ModuleContext, newDict, type PlainDict, p, pyStr } from 'halite/sdk';
import { type Conn, conn, execute, ident, literal, query, runas } from './psql.ts';

const letters: Readonly<Record<string, string>> = {
  a: 'INSERT',
  C: 'CREATE',
  D: 'TRUNCATE',
  c: 'CONNECT',
  t: 'TRIGGER',
  r: 'SELECT',
  U: 'USAGE',
  T: 'TEMPORARY',
  w: 'UPDATE',
  X: 'EXECUTE',
  x: 'REFERENCES',
  d: 'DELETE',
  m: 'MAINTAIN',
};
const possible: Readonly<Record<string, string>> = {
  table: 'arwdDxtm',
  tablespace: 'C',
  language: 'U',
  sequence: 'rwU',
  schema: 'UC',
  database: 'CTc',
  function: 'X',
};
/** Exists only on servers since 17, so ALL does not require it. */
const recent = 'MAINTAIN';

interface Target {
  readonly name: string;
  readonly type: string;
  /** The schema. */
  readonly prepend: string;
}

const isAll = ({ name, type }: Target): boolean =>
  (type === 'table' || type === 'sequence') && name.toUpperCase() === 'ALL';

/** Access list and owner of the object, or of all objects of this type in the schema. */
function aclQuery(target: Target): string {
  const { name, type, prepend } = target;
  const owner = (column: string): string => `pg_catalog.pg_get_userbyid(${column}) AS owner`;
  const inSchema = 'JOIN pg_catalog.pg_namespace n ON n.oid =';
  const which = isAll(target) ? '' : ` AND c.relname = ${literal(name)}`;
  const classes = (kinds: string): string =>
    `SELECT c.relacl AS name, ${owner('c.relowner')} FROM pg_catalog.pg_class c ${inSchema} c.relnamespace WHERE n.nspname = ${literal(prepend)}${which} AND c.relkind IN (${kinds}) ORDER BY c.relname`;
  const simple = (table: string, prefix: string, ownerColumn: string): string =>
    `SELECT ${prefix}acl AS name, ${owner(ownerColumn)} FROM pg_catalog.${table} WHERE ${prefix}name = ${literal(name)}`;
  switch (type) {
    case 'table':
      return classes("'r', 'v', 'm', 'p', 'f'");
    case 'sequence':
      return classes("'S'");
    case 'schema':
      return simple('pg_namespace', 'nsp', 'nspowner');
    case 'tablespace':
      return simple('pg_tablespace', 'spc', 'spcowner');
    case 'language':
      return simple('pg_language', 'lan', 'lanowner');
    case 'database':
      return simple('pg_database', 'dat', 'datdba');
    case 'function':
      return `SELECT p.proacl AS name, ${owner('p.proowner')} FROM pg_catalog.pg_proc p ${inSchema} p.pronamespace WHERE n.nspname = ${literal(prepend)} AND p.oid::regprocedure::text = ${literal(name)}`;
    default:
      throw invocationError(`Invalid object_type: ${type} provided`);
  }
}

/** Elements of an array as PostgreSQL writes it: `{a,"b,c"}`. */
function arrayItems(text: string): string[] {
  const inner = text.replace(/^\{|\}$/g, '');
  return [...inner.matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/g)].map(([, quoted, bare = '']) =>
    quoted === undefined ? bare : quoted.replace(/\\(.)/g, '$1'),
  );
}

/** `{alice=ar*w/postgres}` → alice: INSERT no, SELECT with grant option, UPDATE no. */
export function parseAcl(text: string): Map<string, Map<string, boolean>> {
  const found = new Map<string, Map<string, boolean>>();
  for (const item of arrayItems(text)) {
    const [, quoted, bare = '', rights] = /^(?:"((?:[^"]|"")*)"|([^=]*))=([A-Za-z*]*)\//.exec(item) ?? [];
    if (rights === undefined) continue;
    const role = quoted === undefined ? bare || 'public' : quoted.replaceAll('""', '"');
    const has = found.get(role) ?? new Map<string, boolean>();
    for (const [, letter = '', star] of rights.matchAll(/([A-Za-z])(\*?)/g)) {
      const right = letters[letter];
      if (right !== undefined) has.set(right, star === '*');
    }
    found.set(role, has);
  }
  return found;
}

async function groupMembers(group: string, at: Conn, ctx: ModuleContext): Promise<PlainDict> {
  const sql = `SELECT r.rolname, m.admin_option FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles r ON m.member = r.oid WHERE m.roleid IN (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = ${literal(group)}) ORDER BY r.rolname`;
  const rows = await query(sql, at, ctx);
  return newDict(rows.map((row) => [row['rolname'] ?? '', row['admin_option'] === 't']));
}

async function list(target: Target, at: Conn, ctx: ModuleContext): Promise<PlainDict> {
  if (target.type === 'group') return groupMembers(target.name, at, ctx);
  const found = newDict();
  for (const row of await query(aclQuery(target), at, ctx))
    for (const [role, rights] of parseAcl(row['name'] ?? '')) found[role] = newDict([...rights]);
  return found;
}

interface Rights {
  readonly words: string[];
  readonly grantOption: boolean;
}

/** `select, insert` → SELECT, INSERT; checked. */
function rightsFor(type: string, privileges: string | null, grantOption: boolean | null): Rights {
  const text = privileges === null ? '' : pyStr(privileges);
  if (type === 'group') {
    if (text !== '') throw invocationError('The privileges option should not be set for object_type group');
    return { words: [], grantOption: Boolean(grantOption) };
  }
  const known = possible[type];
  if (known === undefined) throw invocationError(`Invalid object_type: ${type} provided`);
  const words = text.toUpperCase().split(/\s?,\s?/);
  const allowed = [...known].map((letter) => letters[letter]);
  if (!words.every((word) => word === 'ALL' || allowed.includes(word)))
    throw invocationError(`Invalid privilege(s): ${text} provided for object ${type}`);
  return { words, grantOption: Boolean(grantOption) };
}

async function has(role: string, target: Target, rights: Rights, at: Conn, ctx: ModuleContext): Promise<boolean> {
  if (target.type === 'group') {
    const member = (await groupMembers(target.name, at, ctx))[role];
    return member !== undefined && (!rights.grantOption || Boolean(member));
  }
  const every = [...(possible[target.type] ?? '')].map((letter) => letters[letter] ?? '');
  const needed = rights.words.includes('ALL') ? every.filter((word) => word !== recent) : rights.words;
  const rows = await query(aclQuery(target), at, ctx);
  return (
    (rows.length > 0 || isAll(target)) &&
    rows.every((row) => {
      if (row['owner'] === role) return true;
      const given = parseAcl(row['name'] ?? '').get(role);
      return needed.every((word) => given?.has(word) && (!rights.grantOption || given.get(word)));
    })
  );
}

/** `TABLE "public"."orders"`, `ALL TABLES IN SCHEMA "public"`. */
function placeOf(target: Target): string {
  const { name, type, prepend } = target;
  const kind = type.toUpperCase();
  if (isAll(target)) return `ALL ${kind}S IN SCHEMA ${ident(prepend)}`;
  if (type === 'table' || type === 'sequence') return `${kind} ${ident(prepend)}.${ident(name)}`;
  // A function is written with its arguments.
  return `${kind} ${type === 'function' ? name : ident(name)}`;
}

const params = {
  name: p.string({ doc: 'the role' }),
  object_name: p.string({ doc: 'the object, or ALL tables or sequences of a schema' }),
  object_type: p.string({ doc: 'table, sequence, schema, database, tablespace, language, function or group' }),
  privileges: p.string({ default: null, doc: 'privileges, with commas' }),
};
const grantOption = p.truthy({ default: null, doc: 'with grant option' });
const { maintenance_db, user, host, port, password } = conn;
const place = {
  prepend: p.string({ default: 'public', doc: 'the schema' }),
  ...{ maintenance_db, user, host, port, password, runas },
};
const targetOf = (args: { object_name: string; object_type: string; prepend: string }): Target => ({
  name: args.object_name,
  type: args.object_type.toLowerCase(),
  prepend: args.prepend,
});

export const privilegeFunctions = {
  privileges_list: fn({
    doc: 'The privileges on an object.',
    examples: ["salt '*' postgres.privileges_list table_name table maintenance_db=db_name"],
    params: { name: p.string({ doc: 'the object' }), object_type: params.object_type, ...place },
    run: (args, ctx) =>
      list({ name: args.name, type: args.object_type.toLowerCase(), prepend: args.prepend }, args, ctx),
  }),
  has_privileges: fn({
    doc: 'Whether a role has privileges on an object.',
    examples: ["salt '*' postgres.has_privileges user_name table_name table SELECT,INSERT maintenance_db=db_name"],
    params: { ...params, grant_option: grantOption, ...place },
    run(args, ctx) {
      const target = targetOf(args);
      return has(args.name, target, rightsFor(target.type, args.privileges, args.grant_option), args, ctx);
    },
  }),
  privileges_grant: fn({
    doc: 'Grants privileges on an object to a role.',
    examples: ["salt '*' postgres.privileges_grant user_name table_name table SELECT,UPDATE maintenance_db=db_name"],
    params: { ...params, grant_option: grantOption, ...place },
    async run(args, ctx) {
      const target = targetOf(args);
      const rights = rightsFor(target.type, args.privileges, args.grant_option);
      if (await has(args.name, target, rights, args, ctx)) return false;
      const to = ident(args.name);
      if (target.type === 'group')
        return execute(
          `GRANT ${ident(target.name)} TO ${to}${rights.grantOption ? ' WITH ADMIN OPTION' : ''}`,
          args,
          ctx,
        );
      const option = rights.grantOption ? ' WITH GRANT OPTION' : '';
      return execute(`GRANT ${rights.words.join(',')} ON ${placeOf(target)} TO ${to}${option}`, args, ctx);
    },
  }),
  privileges_revoke: fn({
    doc: 'Revokes privileges on an object from a role.',
    examples: ["salt '*' postgres.privileges_revoke user_name table_name table SELECT,UPDATE maintenance_db=db_name"],
    params: { ...params, ...place },
    async run(args, ctx) {
      const target = targetOf(args);
      const rights = rightsFor(target.type, args.privileges, null);
      if (!(await has(args.name, target, rights, args, ctx))) return false;
      const from = ident(args.name);
      if (target.type === 'group') return execute(`REVOKE ${ident(target.name)} FROM ${from}`, args, ctx);
      return execute(`REVOKE ${rights.words.join(',')} ON ${placeOf(target)} FROM ${from}`, args, ctx);
    },
  }),
};
