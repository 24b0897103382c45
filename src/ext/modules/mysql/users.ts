// Users of MySQL and MariaDB: checks, creates, changes and removes them.
import { isTrue, type ModuleContext, type PlainDict, pyStr, type Value } from 'halite/sdk';
import {
  isSince,
  noteError,
  quoteIdentifier,
  type Session,
  takeError,
  withSession,
} from '../../shared/mysql/connect.ts';

export interface Account {
  readonly user: string;
  readonly host: string;
  readonly password?: Value;
  readonly password_hash?: Value;
  readonly passwordless?: boolean;
  readonly allow_passwordless?: Value;
  readonly unix_socket?: Value;
  readonly password_column?: Value;
  readonly auth_plugin?: string;
}

interface Statement {
  readonly sql: string;
  readonly values: Value[];
}

const isMaria = (version: string): boolean => version.includes('MariaDB');
/** From this version on, ALTER USER is used instead of writing the column with the hash. */
const isModern = (version: string): boolean => isSince(version, isMaria(version) ? '10.4' : '8.0.11');

/** The server's version text; '' when it cannot be reached. */
export async function serverVersion(args: PlainDict, ctx: ModuleContext): Promise<string> {
  const place = `mysql.version ${JSON.stringify(Object.entries(args).filter(([key]) => key.startsWith('connection_')))}`;
  const known = ctx.cache.get(place);
  if (typeof known === 'string') return known;
  const version = await withSession(args, '', ctx, async (session) => versionOn(session));
  if (version !== '') ctx.cache.set(place, version);
  return version;
}

async function versionOn(session: Session): Promise<string> {
  return (await session.run('SELECT VERSION()')).rows[0]?.[0] ?? '';
}

/**
 * The connection arguments that work. If the password of the connecting user was just changed, the old one is
 * refused and the new one is tried.
 */
async function workingArgs(account: Account, args: PlainDict, ctx: ModuleContext): Promise<PlainDict | undefined> {
  if ((await serverVersion(args, ctx)) !== '') return args;
  if (!account.password) return undefined;
  const first = takeError(ctx);
  const own = { ...args, connection_pass: account.password };
  if ((await serverVersion(own, ctx)) !== '') return own;
  takeError(ctx);
  noteError(first ?? 'MySQL Error: Unable to fetch current server version.', ctx);
  return undefined;
}

async function passwordColumn(account: Account, session: Session): Promise<string> {
  if (account.password_column) return quoteIdentifier(pyStr(account.password_column));
  const { rows } = await session.run(
    "SELECT column_name FROM information_schema.COLUMNS WHERE table_schema='mysql' AND table_name='user' AND column_name='Password'",
  );
  return quoteIdentifier(rows.length > 0 ? 'Password' : 'authentication_string');
}

async function pluginOf(account: Account, session: Session): Promise<string> {
  const { rows } = await session.run('SELECT plugin FROM mysql.user WHERE User=? AND Host=?', [
    account.user,
    account.host,
  ]);
  return rows[0]?.[0] || 'mysql_native_password';
}

/** MySQL's own hash of a password, because MySQL 8 has no function for it. */
async function nativeHash(password: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  const once = createHash('sha1').update(password).digest();
  return `*${createHash('sha1').update(once).digest('hex').toUpperCase()}`;
}

/** The condition for the password, when one was given. */
async function passwordCondition(
  account: Account,
  version: string,
  session: Session,
  ctx: ModuleContext,
): Promise<Statement> {
  const column = await passwordColumn(account, session);
  if (account.passwordless ?? false) {
    if (!isTrue(account.unix_socket ?? false)) return { sql: ` AND ${column} = ''`, values: [] };
    return { sql: ' AND plugin = ?', values: [isMaria(version) ? 'unix_socket' : 'auth_socket'] };
  }
  if (account.password) {
    const password = pyStr(account.password);
    if (isMaria(version) || !isModern(version)) return { sql: ` AND ${column} = PASSWORD(?)`, values: [password] };
    if ((await pluginOf(account, session)) === 'mysql_native_password')
      return { sql: ` AND ${column} = ?`, values: [await nativeHash(password)] };
    noteError('Unable to verify password.', ctx);
    return { sql: '', values: [] };
  }
  return account.password_hash
    ? { sql: ` AND ${column} = ?`, values: [account.password_hash] }
    : { sql: '', values: [] };
}

export async function userExists(account: Account, given: PlainDict, ctx: ModuleContext): Promise<boolean> {
  const args = await workingArgs(account, given, ctx);
  if (!args) return false;
  return withSession(args, false, ctx, async (session) => {
    const more = await passwordCondition(account, await versionOn(session), session, ctx);
    const { rows } = await session.run(`SELECT User,Host FROM mysql.user WHERE User = ? AND Host = ?${more.sql}`, [
      account.user,
      account.host,
      ...more.values,
    ]);
    return rows.length === 1;
  });
}

export async function pluginStatus(name: string, session: Session): Promise<string> {
  const sql = 'SELECT PLUGIN_STATUS FROM INFORMATION_SCHEMA.PLUGINS WHERE PLUGIN_NAME = ?';
  return (await session.run(sql, [name])).rows[0]?.[0] ?? '';
}

/** The clause for logins with the name of the system user; undefined where that is not supported. */
async function socketClause(
  account: Account,
  version: string,
  session: Session,
  ctx: ModuleContext,
): Promise<string | undefined> {
  const plugin = isMaria(version) ? 'unix_socket' : 'auth_socket';
  if (!(await pluginStatus(plugin, session))) {
    noteError(`The ${plugin} plugin is not enabled.`, ctx);
    return undefined;
  }
  if (account.host !== 'localhost') {
    noteError('Auth via unix_socket can be set only for host=localhost', ctx);
    return undefined;
  }
  return isMaria(version) ? ' IDENTIFIED VIA unix_socket' : ' IDENTIFIED WITH auth_socket';
}

const nothingGiven = (ctx: ModuleContext): undefined => {
  ctx.log.error('password or password_hash must be specified, unless allow_passwordless=True');
  return undefined;
};

async function createClause(
  account: Account,
  version: string,
  session: Session,
  ctx: ModuleContext,
): Promise<Statement | undefined> {
  if (account.unix_socket) {
    const sql = await socketClause(account, version, session, ctx);
    return sql === undefined ? undefined : { sql, values: [] };
  }
  if (isTrue(account.allow_passwordless ?? false)) return { sql: '', values: [] };
  const named = !isMaria(version) && isModern(version);
  const plugin = account.auth_plugin ?? 'mysql_native_password';
  const { password = null, password_hash: hash = null } = account;
  if (password !== null)
    return named
      ? { sql: ' IDENTIFIED WITH ? BY ?', values: [plugin, password] }
      : { sql: ' IDENTIFIED BY ?', values: [password] };
  if (hash !== null)
    return named
      ? { sql: ' IDENTIFIED WITH ? AS ?', values: [plugin, hash] }
      : { sql: ' IDENTIFIED BY PASSWORD ?', values: [hash] };
  return nothingGiven(ctx);
}

export async function userCreate(account: Account, given: PlainDict, ctx: ModuleContext): Promise<boolean> {
  const args = await workingArgs(account, given, ctx);
  const { user, host, password = null, password_hash = null, password_column = null } = account;
  if (!args || (await userExists({ user, host }, args, ctx))) return false;
  const done = await withSession(args, false, ctx, async (session) => {
    const clause = await createClause(account, await versionOn(session), session, ctx);
    if (!clause) return false;
    await session.run(`CREATE USER ?@?${clause.sql}`, [user, host, ...clause.values]);
    return true;
  });
  return done && userExists({ user, host, password, password_hash, password_column }, args, ctx);
}

async function passwordStatement(
  account: Account,
  version: string,
  session: Session,
  ctx: ModuleContext,
): Promise<Statement | undefined> {
  const { user, host, password = null, password_hash: hash = null } = account;
  if (isTrue(account.allow_passwordless ?? false) && isTrue(account.unix_socket ?? false)) {
    const clause = await socketClause(account, version, session, ctx);
    return clause === undefined ? undefined : { sql: `ALTER USER ?@?${clause}`, values: [user, host] };
  }
  if (password === null && hash === null && !isTrue(account.allow_passwordless ?? false)) return nothingGiven(ctx);
  const secret = password ?? hash ?? '';
  if (!isModern(version)) {
    const column = await passwordColumn(account, session);
    const value = password === null ? '?' : 'PASSWORD(?)';
    return { sql: `UPDATE mysql.user SET ${column}=${value} WHERE User=? AND Host=?`, values: [secret, user, host] };
  }
  const plugin = await pluginOf(account, session);
  if (isMaria(version)) {
    const value = password === null ? '?' : 'PASSWORD(?)';
    return { sql: `ALTER USER ?@? IDENTIFIED VIA ? USING ${value}`, values: [user, host, plugin, secret] };
  }
  return {
    sql: `ALTER USER ?@? IDENTIFIED WITH ? ${hash !== null && password === null ? 'AS' : 'BY'} ?`,
    values: [user, host, plugin, secret],
  };
}

export async function userChangePassword(account: Account, given: PlainDict, ctx: ModuleContext): Promise<boolean> {
  const args = await workingArgs(account, given, ctx);
  const { user, host } = account;
  if (!args || !(await userExists({ user, host }, args, ctx))) return false;
  return withSession(args, false, ctx, async (session) => {
    const version = await versionOn(session);
    const statement = await passwordStatement(account, version, session, ctx);
    if (!statement) return false;
    const { affected } = await session.run(statement.sql, statement.values);
    if (!isModern(version) && affected === 0) return false;
    await session.run('FLUSH PRIVILEGES');
    return true;
  });
}

export async function userRemove(account: Account, args: PlainDict, ctx: ModuleContext): Promise<boolean> {
  const { user, host } = account;
  if (!(await userExists(account, args, ctx))) return false;
  const done = await withSession(args, false, ctx, async (session) => {
    await session.run('DROP USER ?@?', [user, host]);
    return true;
  });
  return done && !(await userExists({ user, host }, args, ctx));
}
