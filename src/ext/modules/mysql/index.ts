// Execution module `mysql`: databases, users and grants of MySQL and MariaDB.
import { defineModule, fn, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { asDicts, connectionArgs, quoteIdentifier, takeError, withSession } from '../../shared/mysql/connect.ts';
import { databaseFunctions } from './databases.ts';
import { grantAdd, grantExists, grantOf, grantRevoke, tokenizeGrant, tokensValue, userGrants } from './grants.ts';
import { fileQuery, query } from './query.ts';
import { pluginStatus, serverVersion, userChangePassword, userCreate, userExists, userRemove } from './users.ts';

const user = p.string({ doc: 'the user' });
const host = p.string({ default: 'localhost', doc: 'the host of the user' });
const passwords = {
  password: p.scalar({ default: null, doc: 'the password' }),
  password_hash: p.scalar({ default: null, doc: 'the hash of the password' }),
};
const column = p.string({ default: null, falsy: null, doc: 'column of mysql.user with the hash' });
const socket = p.isTrue({ default: false, doc: 'authenticate with the name of the system user' });
const passwordless = p.isTrue({ default: false, doc: 'without a password' });
const database = p.string({ doc: 'the database' });
const plugin = p.string({ doc: 'the plugin' });
const grantParams = {
  grant: p.string({ doc: 'privileges, with commas' }),
  database: p.string({ doc: '`db.table`, `db.*` or `*.*`' }),
  user,
  host,
  grant_option: p.isTrue({ default: false, doc: 'with grant option' }),
  escape: p.isTrue({ default: true, doc: 'quote the names' }),
};

/** A function that only reads: rows as dictionaries. */
const listing = (sql: string, doc: string, name: string, only: 'first' | 'all') =>
  fn({
    doc,
    examples: [`salt '*' mysql.${name}`],
    params: { connection_args: connectionArgs },
    run: (args, ctx) =>
      withSession<Value>(args.connection_args, [], ctx, async (session) => {
        const rows = asDicts(await session.run(sql));
        return only === 'all' ? rows : (rows[0] ?? []);
      }),
  });

async function changePlugin(sql: string, args: PlainDict, ctx: ModuleContext): Promise<boolean> {
  return withSession(args, false, ctx, async (session) => {
    await session.run(sql);
    return true;
  });
}
const statusOf = (name: string, args: PlainDict, ctx: ModuleContext): Promise<string> =>
  withSession(args, '', ctx, (session) => pluginStatus(name, session));

const userFunctions = {
  user_list: listing('SELECT User,Host FROM mysql.user', 'The users and where they come from.', 'user_list', 'all'),
  user_exists: fn({
    doc: 'Whether there is a user, with this password if one is given.',
    examples: ["salt '*' mysql.user_exists 'username' 'hostname' 'password'"],
    params: {
      user,
      host,
      ...passwords,
      passwordless: p.isTrue({ default: false, doc: 'only without a password' }),
      unix_socket: socket,
      password_column: column,
      connection_args: connectionArgs,
    },
    run: ({ connection_args, ...account }, ctx) => userExists(account, connection_args, ctx),
  }),
  user_info: fn({
    doc: 'Details of a user.',
    examples: ["salt '*' mysql.user_info root localhost"],
    params: { user, host, connection_args: connectionArgs },
    run: (args, ctx) =>
      withSession<Value>(args.connection_args, false, ctx, async (session) => {
        const sql = 'SELECT * FROM mysql.user WHERE User = ? AND Host = ?';
        return asDicts(await session.run(sql, [args.user, args.host]))[0] ?? null;
      }),
  }),
  user_create: fn({
    doc: 'Creates a user; returns whether it was created.',
    examples: ["salt '*' mysql.user_create 'username' 'hostname' 'password'"],
    params: {
      user,
      host,
      ...passwords,
      allow_passwordless: passwordless,
      unix_socket: socket,
      password_column: column,
      auth_plugin: p.string({ default: 'mysql_native_password', doc: 'authentication plugin of the user' }),
      connection_args: connectionArgs,
    },
    run: ({ connection_args, ...account }, ctx) => userCreate(account, connection_args, ctx),
  }),
  user_chpass: fn({
    doc: 'Changes or clears the password of a user.',
    examples: ["salt '*' mysql.user_chpass frank localhost newpassword"],
    params: {
      user,
      host,
      ...passwords,
      allow_passwordless: passwordless,
      unix_socket: p.isTrue({ default: null, doc: 'authenticate with the name of the system user' }),
      password_column: column,
      connection_args: connectionArgs,
    },
    run: ({ connection_args, ...account }, ctx) => userChangePassword(account, connection_args, ctx),
  }),
  user_remove: fn({
    doc: 'Removes a user; returns whether it was removed.',
    examples: ["salt '*' mysql.user_remove frank localhost"],
    params: { user, host, connection_args: connectionArgs },
    run: ({ connection_args, ...account }, ctx) => userRemove(account, connection_args, ctx),
  }),
  user_grants: fn({
    doc: 'The grants of a user as statements.',
    examples: ["salt '*' mysql.user_grants 'frank' 'localhost'"],
    params: { user, host, connection_args: connectionArgs },
    run: (args, ctx) => userGrants(args.user, args.host, args.connection_args, ctx),
  }),
  verify_login: fn({
    doc: 'Whether a user can log in with a password.',
    examples: ["salt '*' mysql.verify_login root password"],
    params: { user, password: p.scalar({ default: null, doc: 'the password' }), connection_args: connectionArgs },
    async run(args, ctx) {
      const own = { ...args.connection_args, connection_user: args.user, connection_pass: args.password };
      const fine = await withSession(own, false, ctx, async () => true);
      if (!fine) takeError(ctx);
      return fine;
    },
  }),
};

const grantFunctions = {
  tokenize_grant: fn({
    doc: 'Splits a GRANT statement into its parts.',
    examples: ['salt \'*\' mysql.tokenize_grant "GRANT SELECT ON db.* TO frank@localhost"'],
    params: { grant: p.string({ doc: 'the statement' }) },
    run: (args) => tokensValue(tokenizeGrant(args.grant)),
  }),
  grant_exists: fn({
    doc: 'Whether a user has privileges.',
    examples: ["salt '*' mysql.grant_exists 'SELECT,INSERT,UPDATE,...' 'database.*' 'frank' 'localhost'"],
    params: { ...grantParams, connection_args: connectionArgs },
    run: ({ connection_args, ...args }, ctx) => grantExists(grantOf(args), connection_args, ctx),
  }),
  grant_add: fn({
    doc: 'Grants privileges to a user; returns whether the user then has them.',
    examples: ["salt '*' mysql.grant_add 'SELECT,INSERT,UPDATE,...' 'database.*' 'frank' 'localhost'"],
    params: {
      ...grantParams,
      ssl_option: p.oneOf(['bool', 'list'], {
        default: false,
        doc: 'list of TLS requirements: SSL, X509, {ISSUER: …}',
      }),
      connection_args: connectionArgs,
    },
    run: ({ connection_args, ssl_option, ...args }, ctx) => grantAdd(grantOf(args), ssl_option, connection_args, ctx),
  }),
  grant_revoke: fn({
    doc: 'Revokes privileges from a user; returns whether they were revoked.',
    examples: ["salt '*' mysql.grant_revoke 'SELECT,INSERT,UPDATE' 'database.*' 'frank' 'localhost'"],
    params: { ...grantParams, connection_args: connectionArgs },
    run: ({ connection_args, ...args }, ctx) => grantRevoke(grantOf(args), connection_args, ctx),
  }),
  quote_identifier: fn({
    doc: 'Quotes a name for statements.',
    examples: ["salt '*' mysql.quote_identifier 'foo`bar'"],
    params: { identifier: p.string({ doc: 'the name' }), for_grants: p.bool({ default: false, doc: 'in GRANT … ON' }) },
    run: (args) => quoteIdentifier(args.identifier, args.for_grants),
  }),
};

const pluginFunctions = {
  plugins_list: fn({
    doc: 'The plugins and whether they are active.',
    examples: ["salt '*' mysql.plugins_list"],
    params: { connection_args: connectionArgs },
    run: (args, ctx) =>
      withSession<Value>(args.connection_args, [], ctx, async (session) =>
        (await session.run('SHOW PLUGINS')).rows.map((row) =>
          newDict([
            ['name', row[0] ?? null],
            ['status', row[1] ?? null],
          ]),
        ),
      ),
  }),
  plugin_add: fn({
    doc: 'Installs a plugin.',
    examples: ["salt '*' mysql.plugin_add auth_socket"],
    params: {
      name: plugin,
      soname: p.string({ default: null, falsy: null, doc: 'its file' }),
      connection_args: connectionArgs,
    },
    async run(args, ctx) {
      if (await statusOf(args.name, args.connection_args, ctx)) return true;
      const file = args.soname ? pyStr(args.soname) : `${args.name}.so`;
      const sql = `INSTALL PLUGIN ${quoteIdentifier(args.name)} SONAME '${file.replace(/['\\]/g, '')}'`;
      return changePlugin(sql, args.connection_args, ctx);
    },
  }),
  plugin_remove: fn({
    doc: 'Removes a plugin.',
    examples: ["salt '*' mysql.plugin_remove auth_socket"],
    params: { name: plugin, connection_args: connectionArgs },
    async run(args, ctx) {
      if (!(await statusOf(args.name, args.connection_args, ctx))) return true;
      return changePlugin(`UNINSTALL PLUGIN ${quoteIdentifier(args.name)}`, args.connection_args, ctx);
    },
  }),
  plugin_status: fn({
    doc: 'Whether a plugin is active; empty when it is not installed.',
    examples: ["salt '*' mysql.plugin_status auth_socket"],
    params: { name: plugin, connection_args: connectionArgs },
    run: (args, ctx) => statusOf(args.name, args.connection_args, ctx),
  }),
};

const serverFunctions = {
  query: fn({
    doc: 'Runs a statement; all values are text.',
    examples: ['salt \'*\' mysql.query mydb "SELECT id,name FROM users LIMIT 3"'],
    params: { database, query: p.string({ doc: 'the statement' }), connection_args: connectionArgs },
    run: (args, ctx) => query(args.database, args.query, args.connection_args, ctx),
  }),
  file_query: fn({
    doc: 'Runs the statements of a file.',
    examples: ["salt '*' mysql.file_query mydb file_name=salt://sql/setup.sql"],
    params: { database, file_name: p.string({ doc: 'the file, here or salt://…' }), connection_args: connectionArgs },
    run: (args, ctx) => fileQuery(args.database, args.file_name, args.connection_args, ctx),
  }),
  status: fn({
    doc: 'The counters of the server.',
    examples: ["salt '*' mysql.status"],
    params: { connection_args: connectionArgs },
    run: (args, ctx) =>
      withSession(args.connection_args, newDict(), ctx, async (session) =>
        newDict((await session.run('SHOW STATUS')).rows.map((row) => [row[0] ?? '', row[1] ?? null])),
      ),
  }),
  version: fn({
    doc: 'The version of the server.',
    examples: ["salt '*' mysql.version"],
    params: { connection_args: connectionArgs },
    run: (args, ctx) => serverVersion(args.connection_args, ctx),
  }),
  slave_lag: fn({
    doc: 'Seconds that a replica is behind; -1: not a replica, -2: not running, -3: query failed.',
    examples: ["salt '*' mysql.slave_lag"],
    params: { connection_args: connectionArgs },
    run: (args, ctx) =>
      withSession<Value>(args.connection_args, -3, ctx, async (session) => {
        const [row] = asDicts(await session.run('SHOW SLAVE STATUS'));
        if (!row) return -1;
        return row['Slave_IO_Running'] === 'Yes' ? Number(row['Seconds_Behind_Master']) : -2;
      }),
  }),
  processlist: listing('SHOW FULL PROCESSLIST', 'What the server is doing.', 'processlist', 'all'),
  get_master_status: listing('SHOW MASTER STATUS', 'Where the log of a primary is.', 'get_master_status', 'first'),
  get_slave_status: listing('SHOW SLAVE STATUS', 'How a replica is doing.', 'get_slave_status', 'first'),
  showvariables: listing('SHOW VARIABLES', 'The settings of the session.', 'showvariables', 'all'),
  showglobal: listing('SHOW GLOBAL VARIABLES', 'The settings of the server.', 'showglobal', 'all'),
};

export default defineModule({
  name: 'mysql',
  doc: 'Databases, users and grants of MySQL and MariaDB.',
  reads: [
    'status',
    'version',
    'slave_lag',
    'processlist',
    'get_master_status',
    'get_slave_status',
    'showvariables',
    'showglobal',
    'db_list',
    'db_get',
    'db_exists',
    'db_tables',
    'user_list',
    'user_exists',
    'user_info',
    'user_grants',
    'verify_login',
    'tokenize_grant',
    'grant_exists',
    'quote_identifier',
    'plugins_list',
    'plugin_status',
  ],
  functions: { ...serverFunctions, ...databaseFunctions, ...userFunctions, ...grantFunctions, ...pluginFunctions },
});
