// Grants of MySQL: builds them, reads SHOW GRANTS, and compares them.
import {
  isDict,
  isTrue,
  type ModuleContext,
  newDict,
  type PlainDict,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { handleError, isSince, quoteIdentifier, type Session, withSession } from '../../shared/mysql/connect.ts';
import { allPrivileges, knownGrants } from './privileges.ts';
import { serverVersion, userExists } from './users.ts';

export interface Grant {
  readonly grant: string;
  readonly database: string;
  readonly user: string;
  readonly host: string;
  readonly grantOption: boolean;
  readonly escape: boolean;
}

export interface GrantTokens {
  readonly user: string;
  readonly host: string;
  readonly grant: string[];
  readonly database: string;
}

/** `SELECT (a, b), INSERT` → SELECT, SELECT.a, SELECT.b, INSERT. */
function privilegesIn(text: string): string[] {
  return [...text.matchAll(/([\w\s]+?)\s*(?:\(([^)]*)\))?\s*(?:,|$)/g)].flatMap(([, name = '', columns]) => {
    const words = name.trim().split(/\s+/).join(' ');
    if (words === '') return [];
    const named = (columns ?? '').split(',').map((column) => column.trim());
    return [words, ...named.filter((column) => column !== '').map((column) => `${words}.${column}`)];
  });
}

/** A statement `GRANT … ON … TO …` in parts. */
export function tokenizeGrant(sql: string): GrantTokens {
  const part = "(?:`(?:[^`]|``)*`|'[^']*'|[^\\s`'@]+)";
  const match = new RegExp(`^GRANT\\s+(.*?)\\s+ON\\s+(.+?)\\s+TO\\s+(${part})(?:\\s*@\\s*(${part}))?`, 'is').exec(sql);
  const bare = (text = ''): string => text.replace(/^'|'$/g, '');
  return {
    user: bare(match?.[3]),
    host: bare(match?.[4]),
    grant: privilegesIn(match?.[1] ?? ''),
    database: match?.[2] ?? '',
  };
}

function normalized(grant: string): string {
  if (grant.trim().toUpperCase() === 'ALL') return 'ALL PRIVILEGES';
  const one = '[\\w\\s]+(?:\\([^)(;]*\\))?\\s*';
  if (!new RegExp(`^${one}(?:,${one})*$`).test(grant)) throw pythonError('Exception', `Invalid grant : '${grant}'`);
  for (const [, name = ''] of grant.matchAll(/([\w\s]+)(?:\([^)(]*\))?\s*,?/g)) {
    if (!knownGrants.has(name.trim().toUpperCase())) throw pythonError('Exception', `Invalid grant : '${name}'`);
  }
  return grant;
}

/** `db.table` → quoted, unless the caller did that. */
function placeOf(database: string, quoted: boolean): string {
  const at = database.lastIndexOf('.');
  const [db, table] = [database.slice(0, Math.max(at, 0)), database.slice(at + 1)];
  if (!quoted) return `${db}.${table}`;
  return `${db === '*' ? db : quoteIdentifier(db, table === '*')}.${table === '*' ? table : quoteIdentifier(table)}`;
}

const parameterized = ['CIPHER', 'ISSUER', 'SUBJECT'];

/** `[{SSL: true}, {ISSUER: '/CN=x'}]` → ` REQUIRE SSL AND ISSUER '/CN=x'`. */
function requirement(options: Value): string {
  if (!Array.isArray(options)) return '';
  const parts = options.flatMap((option) => {
    const [key = '', value = null] = isDict(option) ? (Object.entries(option)[0] ?? []) : [pyStr(option), true];
    const name = key.trim().toUpperCase();
    if (parameterized.includes(name)) return [`${name} '${pyStr(value as Value).replace(/['\\]/g, '')}'`];
    if (name !== 'SSL' && name !== 'X509') throw pythonError('Exception', `Invalid SSL option : '${key}'`);
    return value ? [name] : [];
  });
  return parts.length > 0 ? ` REQUIRE ${parts.join(' AND ')}` : '';
}

/** The statement; user and host are its two parameters. */
export function grantStatement(wanted: Grant, sslOption: Value = false): string {
  const grant = normalized(wanted.grant.replace(/\s*,\s*/g, ', ').toUpperCase());
  const option = wanted.grantOption ? ' WITH GRANT OPTION' : '';
  return `GRANT ${grant} ON ${placeOf(wanted.database, wanted.escape)} TO ?@?${requirement(sslOption)}${option}`;
}

/** Privileges that MariaDB shows with another name. */
function resolved(grants: readonly string[], version: string): string[] {
  if (!version.includes('MariaDB')) return [...grants];
  const since = (number: string): boolean => isSince(version, number);
  const other: Record<string, string> = {
    ...(since('10.5.1') ? { 'REPLICATION REPLICA': 'REPLICATION SLAVE' } : {}),
    ...(since('10.5.2') ? { 'REPLICATION CLIENT': 'BINLOG MONITOR' } : {}),
    ...(since('10.5.9') ? { 'REPLICA MONITOR': 'SLAVE MONITOR' } : {}),
  };
  return grants.map((grant) => other[grant] ?? grant);
}

/** The grants of a user as statements; false when there is no such user. */
export async function userGrants(
  user: string,
  host: string,
  args: PlainDict,
  ctx: ModuleContext,
): Promise<string[] | false> {
  if (!(await userExists({ user, host }, args, ctx))) return false;
  return withSession<string[] | false>(args, false, ctx, async (session) => {
    const { rows } = await session.run('SHOW GRANTS FOR ?@?', [user, host]);
    return rows.map(([text]) => {
      const whole = text ?? '';
      const short = whole.split(' IDENTIFIED BY')[0] ?? '';
      const option = ' WITH GRANT OPTION';
      return whole.includes(option.trim()) && !short.includes(option.trim()) ? short + option : short;
    });
  });
}

async function everyPrivilege(args: PlainDict, ctx: ModuleContext): Promise<string[]> {
  const found = await withSession<string[]>(args, [], ctx, async (session) => {
    const { rows } = await session.run('SHOW PRIVILEGES');
    return rows.map(([name]) => (name ?? '').trim().toUpperCase());
  });
  const real = found.filter((name) => !['', 'USAGE', 'GRANT OPTION', 'PROXY'].includes(name));
  return real.length > 0 ? real : [...allPrivileges];
}

/** The privileges of a grant on this server. */
async function targetOf(wanted: Grant, version: string, args: PlainDict, ctx: ModuleContext): Promise<GrantTokens> {
  const isAll = wanted.grant.toUpperCase().includes('ALL');
  const { user, host, database } = wanted;
  const spellsOut = isSince(version, '8.0') && !version.includes('MariaDB') && database === '*.*';
  if (isAll && spellsOut) return { user, host, database, grant: await everyPrivilege(args, ctx) };
  const statement = grantStatement(isAll ? { ...wanted, grant: 'ALL PRIVILEGES' } : wanted);
  return { ...tokenizeGrant(statement), user, host };
}

export async function grantExists(wanted: Grant, args: PlainDict, ctx: ModuleContext): Promise<boolean> {
  const version = await serverVersion(args, ctx);
  if (version === '') return false;
  let target: GrantTokens;
  try {
    target = await targetOf(wanted, version, args, ctx);
  } catch (error) {
    ctx.log.error(`Error during grant generation: ${pyStr((error as Error).message)}`);
    return false;
  }
  const grants = await userGrants(wanted.user, wanted.host, args, ctx);
  if (grants === false) return false;
  const byDatabase = new Map<string, { tokens: GrantTokens; all: Set<string> }>();
  for (const tokens of grants.map(tokenizeGrant)) {
    const known = byDatabase.get(tokens.database) ?? { tokens, all: new Set<string>() };
    for (const name of resolved(tokens.grant, version)) known.all.add(name);
    byDatabase.set(tokens.database, known);
  }
  const bare = (text: string): string => text.replace(/["\\`]/g, '');
  const needed = resolved(target.grant, version);
  return [...byDatabase.values()].some(
    ({ tokens, all }) =>
      (['user', 'host', 'database'] as const).every((key) => bare(tokens[key]) === bare(target[key])) &&
      needed.every((name) => all.has(name)),
  );
}

async function execute(sql: string, values: Value[], session: Session, ctx: ModuleContext): Promise<boolean> {
  try {
    await session.run(sql, values);
    return true;
  } catch (error) {
    // A missing user is an error of the statement, but it is logged nevertheless.
    handleError(error, session.where, ctx, true);
    return false;
  }
}

export async function grantAdd(wanted: Grant, sslOption: Value, args: PlainDict, ctx: ModuleContext): Promise<boolean> {
  let sql: string;
  try {
    sql = grantStatement(wanted, sslOption);
  } catch (error) {
    ctx.log.error(`Error during grant generation: ${pyStr((error as Error).message)}`);
    return false;
  }
  const done = await withSession(args, false, ctx, (session) => execute(sql, [wanted.user, wanted.host], session, ctx));
  return done && grantExists(wanted, args, ctx);
}

export async function grantRevoke(wanted: Grant, args: PlainDict, ctx: ModuleContext): Promise<boolean> {
  const grant = normalized(wanted.grant) + (wanted.grantOption ? ', GRANT OPTION' : '');
  const sql = `REVOKE ${grant} ON ${placeOf(wanted.database, true)} FROM ?@?`;
  const done = await withSession(args, false, ctx, (session) => execute(sql, [wanted.user, wanted.host], session, ctx));
  return done && !(await grantExists({ ...wanted, grant }, args, ctx));
}

export const tokensValue = ({ user, host, grant, database }: GrantTokens): PlainDict =>
  newDict([
    ['user', user],
    ['host', host],
    ['grant', grant],
    ['database', database],
  ]);

export const grantOf = (given: {
  grant: Value;
  database: Value;
  user: Value;
  host: Value;
  grant_option: Value;
  escape: Value;
}): Grant => ({
  grant: pyStr(given.grant).trim(),
  database: pyStr(given.database),
  user: pyStr(given.user),
  host: pyStr(given.host),
  grantOption: isTrue(given.grant_option),
  escape: isTrue(given.escape),
});
