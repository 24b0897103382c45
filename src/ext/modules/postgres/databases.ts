// Databases, tablespaces, schemas and languages of PostgreSQL.
import {
  commandError,
  dictEntries,
  fn,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { byName, type Conn, conn, execute, ident, literal, query, runas } from './psql.ts';
import { serverVersion } from './roles.ts';

const name = p.string({ doc: 'its name' });
const owner = p.string({ default: null, falsy: null, doc: 'the owner' });
const tablespace = p.string({ default: null, falsy: null, doc: 'its tablespace' });

async function databases(at: Conn, ctx: ModuleContext): Promise<PlainDict> {
  const sql =
    'SELECT d.datname AS "Name", r.rolname AS "Owner", pg_encoding_to_char(d.encoding) AS "Encoding", d.datcollate AS "Collate", d.datctype AS "Ctype", d.datacl AS "Access privileges", t.spcname AS "Tablespace" FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba JOIN pg_tablespace t ON t.oid = d.dattablespace';
  return byName(await query(sql, at, ctx), 'Name');
}

async function tablespaces(at: Conn, ctx: ModuleContext): Promise<PlainDict> {
  const sql =
    'SELECT t.spcname AS "Name", r.rolname AS "Owner", t.spcacl AS "ACL", t.spcoptions AS "Opts", pg_tablespace_location(t.oid) AS "Location" FROM pg_tablespace t JOIN pg_roles r ON r.oid = t.spcowner';
  return byName(await query(sql, at, ctx), 'Name');
}

/** Kinds of objects with an owner: the statement that changes the owner, and the query for their names. */
function belongings(version: string): readonly [what: string, sql: string][] {
  const own = "NOT IN ('pg_catalog', 'information_schema')";
  const [isAggregate, isOther] =
    Number.parseFloat(version) >= 11 ? ["p.prokind = 'a'", "p.prokind = 'f'"] : ['p.proisagg', 'NOT p.proisagg'];
  const routines = (condition: string): string =>
    `SELECT p.oid::regprocedure::text AS n FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace s ON p.pronamespace = s.oid WHERE s.nspname ${own} AND ${condition}`;
  return [
    [
      'SCHEMA',
      `SELECT quote_ident(nspname) AS n FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'`,
    ],
    [
      'TABLE',
      `SELECT quote_ident(table_schema)||'.'||quote_ident(table_name) AS n FROM information_schema.tables WHERE table_schema ${own}`,
    ],
    ['FUNCTION', routines(isOther)],
    ['AGGREGATE', routines(isAggregate)],
    [
      'SEQUENCE',
      "SELECT quote_ident(sequence_schema)||'.'||quote_ident(sequence_name) AS n FROM information_schema.sequences",
    ],
  ];
}

/** Changes the owner of a database and everything in it. */
async function giveAway(database: string, to: string, at: Conn, ctx: ModuleContext): Promise<boolean> {
  const inside = { ...at, maintenance_db: database };
  const sql = [`ALTER DATABASE ${ident(database)} OWNER TO ${ident(to)}`];
  for (const [what, names] of belongings(await serverVersion(inside, ctx)))
    for (const row of await query(names, inside, ctx)) sql.push(`ALTER ${what} ${row['n']} OWNER TO ${ident(to)}`);
  return execute(sql, inside, ctx);
}

interface Alter {
  readonly name: string;
  readonly tablespace: Value;
  readonly owner: Value;
  readonly owner_recurse: boolean;
}

async function alter(args: Alter, at: Conn, ctx: ModuleContext): Promise<boolean> {
  let fine = true;
  if (args.owner && args.owner_recurse) fine = await giveAway(args.name, pyStr(args.owner), at, ctx);
  else if (args.owner)
    fine = await execute(`ALTER DATABASE ${ident(args.name)} OWNER TO ${ident(args.owner)}`, at, ctx);
  // A database cannot change its tablespace inside a transaction.
  if (fine && args.tablespace)
    fine = await execute(`ALTER DATABASE ${ident(args.name)} SET TABLESPACE ${ident(args.tablespace)}`, at, ctx);
  return fine;
}

async function drop(database: string, at: Conn, ctx: ModuleContext): Promise<boolean> {
  const steps = [
    `REVOKE CONNECT ON DATABASE ${ident(database)} FROM public`,
    `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ${literal(database)} AND pid <> pg_backend_pid()`,
    `DROP DATABASE ${ident(database)}`,
  ];
  for (const step of steps) if (!(await execute(step, at, ctx))) throw commandError(`Failed: ${step}`);
  return true;
}

export const databaseFunctions = {
  db_list: fn({
    doc: 'The databases and their properties.',
    examples: ["salt '*' postgres.db_list"],
    params: { ...conn, runas },
    run: (args, ctx) => databases(args, ctx),
  }),
  db_exists: fn({
    doc: 'Whether there is a database of this name.',
    examples: ["salt '*' postgres.db_exists 'dbname'"],
    params: { name, ...conn, runas },
    run: async (args, ctx) => args.name in (await databases(args, ctx)),
  }),
  db_create: fn({
    doc: 'Creates a database.',
    examples: ["salt '*' postgres.db_create 'dbname' template=template_postgis"],
    params: {
      name,
      ...conn,
      tablespace,
      encoding: p.string({ default: null, falsy: null, doc: 'encoding' }),
      lc_collate: p.string({ default: null, falsy: null, doc: 'collation' }),
      lc_ctype: p.string({ default: null, falsy: null, doc: 'character classification (LC_CTYPE)' }),
      owner,
      template: p.string({ default: null, falsy: null, doc: 'database to copy' }),
      runas,
    },
    run(args, ctx) {
      const given: [string, Value, (value: Value) => string][] = [
        ['TABLESPACE', args.tablespace, ident],
        ['OWNER', args.owner, ident],
        ['TEMPLATE', args.template, ident],
        ['ENCODING', args.encoding, literal],
        ['LC_COLLATE', args.lc_collate, literal],
        ['LC_CTYPE', args.lc_ctype, literal],
      ];
      const parts = given
        .filter(([, value]) => value !== null)
        .map(([key, value, quote]) => `${key} = ${quote(value)}`);
      return execute(
        `CREATE DATABASE ${ident(args.name)}${parts.length > 0 ? ` WITH ${parts.join(' ')}` : ''}`,
        args,
        ctx,
      );
    },
  }),
  db_alter: fn({
    doc: 'Changes owner or tablespace of a database.',
    examples: ["salt '*' postgres.db_alter dbname owner=otheruser"],
    params: {
      name,
      ...conn,
      tablespace,
      owner,
      owner_recurse: p.bool({ default: false, doc: 'also of its content' }),
      runas,
    },
    run: (args, ctx) => alter(args, args, ctx),
  }),
  db_remove: fn({
    doc: 'Removes a database; connections to it are ended.',
    examples: ["salt '*' postgres.db_remove 'dbname'"],
    params: { name, ...conn, runas },
    run: (args, ctx) => drop(args.name, args, ctx),
  }),
  owner_to: fn({
    doc: 'Changes the owner of a database and everything in it.',
    examples: ["salt '*' postgres.owner_to 'dbname' 'username'"],
    params: {
      dbname: p.string({ doc: 'the database' }),
      ownername: p.string({ doc: 'the role' }),
      ...{ user: conn.user, host: conn.host, port: conn.port, password: conn.password, runas },
    },
    run: (args, ctx) => giveAway(args.dbname, args.ownername, args, ctx),
  }),
};

/** `SET (random_page_cost = 2)`: names and numbers only. */
const optionText = (options: Value): string =>
  isDict(options)
    ? dictEntries(options)
        .map(([key, value]) => `${pyStr(key).replace(/\W/g, '')} = ${literal(value)}`)
        .join(', ')
    : '';

export const tablespaceFunctions = {
  tablespace_list: fn({
    doc: 'The tablespaces and their locations.',
    examples: ["salt '*' postgres.tablespace_list"],
    params: { ...conn, runas },
    run: (args, ctx) => tablespaces(args, ctx),
  }),
  tablespace_exists: fn({
    doc: 'Whether there is a tablespace of this name.',
    examples: ["salt '*' postgres.tablespace_exists 'fast'"],
    params: { name, ...conn, runas },
    run: async (args, ctx) => args.name in (await tablespaces(args, ctx)),
  }),
  tablespace_create: fn({
    doc: 'Creates a tablespace.',
    examples: ["salt '*' postgres.tablespace_create fast /srv/fast"],
    params: {
      name,
      location: p.string({ doc: 'its folder' }),
      options: p.dict({ default: null, falsy: null, doc: 'its settings' }),
      owner,
      ...conn,
      runas,
    },
    run(args, ctx) {
      const who = args.owner ? ` OWNER ${ident(args.owner)}` : '';
      const set = optionText(args.options);
      const sql = `CREATE TABLESPACE ${ident(args.name)}${who} LOCATION ${literal(args.location)}`;
      return execute(`${sql}${set === '' ? '' : ` WITH (${set})`}`, args, ctx);
    },
  }),
  tablespace_alter: fn({
    doc: 'Changes name, owner or settings of a tablespace.',
    examples: ["salt '*' postgres.tablespace_alter fast new_owner=otheruser"],
    params: {
      name,
      ...conn,
      new_name: p.string({ default: null, falsy: null, doc: 'new name' }),
      new_owner: p.string({ default: null, falsy: null, doc: 'new owner' }),
      set_option: p.dict({ default: null, falsy: null, doc: 'setting to change' }),
      reset_option: p.string({ default: null, falsy: null, doc: 'setting to reset' }),
      runas,
    },
    async run(args, ctx) {
      const head = `ALTER TABLESPACE ${ident(args.name)}`;
      const sql = [
        ...(args.new_owner ? [`${head} OWNER TO ${ident(args.new_owner)}`] : []),
        ...(args.set_option ? [`${head} SET (${optionText(args.set_option)})`] : []),
        ...(args.reset_option ? [`${head} RESET (${args.reset_option.replace(/\W/g, '')})`] : []),
        ...(args.new_name ? [`${head} RENAME TO ${ident(args.new_name)}`] : []),
      ];
      for (const one of sql) if (!(await execute(one, args, ctx))) return false;
      return true;
    },
  }),
  tablespace_remove: fn({
    doc: 'Removes a tablespace.',
    examples: ["salt '*' postgres.tablespace_remove fast"],
    params: { name, ...conn, runas },
    run: (args, ctx) => execute(`DROP TABLESPACE ${ident(args.name)}`, args, ctx),
  }),
};

const schemaConn = {
  user: p.string({ default: null, falsy: null, doc: 'run psql as this system user' }),
  db_user: p.string({ default: null, falsy: null, doc: 'user of the database to connect as' }),
  db_password: p.string({ default: null, falsy: null, doc: 'password to connect with' }),
  db_host: p.string({ default: null, falsy: null, doc: 'address of the server' }),
  db_port: p.string({ default: null, falsy: null, doc: 'its port' }),
};
interface SchemaConn {
  readonly dbname: string;
  readonly user: Value;
  readonly db_user: Value;
  readonly db_password: Value;
  readonly db_host: Value;
  readonly db_port: Value;
}
const dbname = p.string({ doc: 'the database' });
const schemaName = p.string({ doc: 'the schema' });
const inside = (args: SchemaConn): Conn => ({
  user: args.db_user,
  host: args.db_host,
  port: args.db_port,
  password: args.db_password,
  maintenance_db: args.dbname,
  runas: args.user,
});

async function schemas(args: SchemaConn, ctx: ModuleContext): Promise<PlainDict> {
  const sql =
    'SELECT n.nspname AS "name", r.rolname AS "owner", n.nspacl AS "acl" FROM pg_namespace n LEFT JOIN pg_roles r ON r.oid = n.nspowner';
  return byName(await query(sql, inside(args), ctx), 'name');
}

export const schemaFunctions = {
  schema_list: fn({
    doc: 'The schemas of a database.',
    examples: ["salt '*' postgres.schema_list dbname"],
    params: { dbname, ...schemaConn },
    run: (args, ctx) => schemas(args, ctx),
  }),
  schema_get: fn({
    doc: 'One schema of a database; nothing when there is none of that name.',
    examples: ["salt '*' postgres.schema_get dbname name"],
    params: { dbname, name: schemaName, ...schemaConn },
    run: async (args, ctx) => (await schemas(args, ctx))[args.name] ?? null,
  }),
  schema_exists: fn({
    doc: 'Whether there is a schema of this name in a database.',
    examples: ["salt '*' postgres.schema_exists dbname name"],
    params: { dbname, name: schemaName, ...schemaConn },
    run: async (args, ctx) => args.name in (await schemas(args, ctx)),
  }),
  schema_create: fn({
    doc: 'Creates a schema in a database.',
    examples: ["salt '*' postgres.schema_create dbname name owner='owner'"],
    params: { dbname, name: schemaName, owner, ...schemaConn },
    async run(args, ctx) {
      if (args.name in (await schemas(args, ctx))) return false;
      const who = args.owner === null ? '' : ` AUTHORIZATION ${ident(args.owner)}`;
      return execute(`CREATE SCHEMA ${ident(args.name)}${who}`, inside(args), ctx);
    },
  }),
  schema_remove: fn({
    doc: 'Removes a schema from a database.',
    examples: ["salt '*' postgres.schema_remove dbname name"],
    params: { dbname, name: schemaName, ...schemaConn },
    async run(args, ctx) {
      if (!(args.name in (await schemas(args, ctx)))) return false;
      await execute(`DROP SCHEMA ${ident(args.name)}`, inside(args), ctx);
      return !(args.name in (await schemas(args, ctx)));
    },
  }),
};

const maintenanceDb = p.string({ doc: 'the database' });
const { maintenance_db: _optional, ...rest } = conn;

async function languages(at: Conn, ctx: ModuleContext): Promise<PlainDict> {
  const rows = await query('SELECT lanname AS "Name" FROM pg_language', at, ctx);
  return newDict(rows.map((row) => [row['Name'] ?? '', row['Name'] ?? '']));
}

export const languageFunctions = {
  language_list: fn({
    doc: 'The languages for functions in a database.',
    examples: ["salt '*' postgres.language_list dbname"],
    params: { maintenance_db: maintenanceDb, ...rest, runas },
    run: (args, ctx) => languages(args, ctx),
  }),
  language_exists: fn({
    doc: 'Whether a database has a language.',
    examples: ["salt '*' postgres.language_exists plpgsql dbname"],
    params: { name, maintenance_db: maintenanceDb, ...rest, runas },
    run: async (args, ctx) => args.name in (await languages(args, ctx)),
  }),
  language_create: fn({
    doc: 'Installs a language in a database.',
    examples: ["salt '*' postgres.language_create plpgsql dbname"],
    params: { name, maintenance_db: maintenanceDb, ...rest, runas },
    async run(args, ctx) {
      if (args.name in (await languages(args, ctx))) return false;
      return execute(`CREATE LANGUAGE ${ident(args.name)}`, args, ctx);
    },
  }),
  language_remove: fn({
    doc: 'Removes a language from a database.',
    examples: ["salt '*' postgres.language_remove plpgsql dbname"],
    params: { name, maintenance_db: maintenanceDb, ...rest, runas },
    async run(args, ctx) {
      if (!(args.name in (await languages(args, ctx)))) return false;
      return execute(`DROP LANGUAGE ${ident(args.name)}`, args, ctx);
    },
  }),
};
