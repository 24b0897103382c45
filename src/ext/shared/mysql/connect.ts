// Connections to MySQL and MariaDB: server, user, and the last failure, which states report.

import { userInfo } from 'node:os';
import { isDict, type ModuleContext, messageOf, type PlainDict, p, pyStr, pythonError, type Value } from 'halite/sdk';
import { existsSync, readText } from 'halite/sdk/fs';
import type { Connection, ConnectionOptions } from 'mysql2/promise';

export const connectionArgs = p.kwargs({
  doc: 'connection_host, connection_user, connection_pass, connection_port, connection_db, connection_unix_socket, connection_default_file, connection_charset',
});

/** Default socket paths of distributions. */
const sockets = ['/run/mysqld/mysqld.sock', '/var/lib/mysql/mysql.sock', '/run/mysql/mysql.sock', '/tmp/mysql.sock'];
const errorKey = 'mysql.error';

/** The last failure, cleared when it is read: states put it into their comments. */
export function takeError(ctx: ModuleContext): string | undefined {
  const text = ctx.cache.get(errorKey) as string | undefined;
  ctx.cache.delete(errorKey);
  return text;
}

export function noteError(text: string, ctx: ModuleContext): void {
  ctx.cache.set(errorKey, text);
  ctx.log.error(text);
}

interface MysqlError {
  readonly errno?: number;
  readonly code?: string;
  readonly sqlMessage?: string;
  readonly message: string;
}

/** Errors of the statement or the data, which Salt does not catch; all others are operational errors. */
const kinds: readonly [name: string, numbers: readonly number[]][] = [
  ['ProgrammingError', [1007, 1064, 1102, 1103, 1110, 1111, 1112, 1113, 1146, 1149]],
  ['IntegrityError', [1048, 1062, 1216, 1217, 1451, 1452]],
  ['DataError', [1230, 1171, 1264, 1265, 1406]],
];

/** A failure in Salt's form: `MySQL Error 1045: Access denied …`. */
function errorText(error: MysqlError, where: ConnectionOptions): string {
  const place = where.socketPath ?? where.host ?? 'localhost';
  const unreachable: Readonly<Record<string, string>> = {
    ECONNREFUSED: '([Errno 111] Connection refused)',
    ENOTFOUND: '([Errno -2] Name or service not known)',
    ENOENT: '([Errno 2] No such file or directory)',
    ETIMEDOUT: '(timed out)',
    EHOSTUNREACH: '([Errno 113] No route to host)',
  };
  const why = error.code === undefined ? undefined : unreachable[error.code];
  if (why !== undefined) return `MySQL Error 2003: Can't connect to MySQL server on '${place}' ${why}`;
  return `MySQL Error ${error.errno ?? 0}: ${error.sqlMessage ?? messageOf(error)}`;
}

/** Records a failure, unless it is an error of the statement. */
export function handleError(error: unknown, where: ConnectionOptions, ctx: ModuleContext, all = false): void {
  const failure = error as MysqlError;
  if (!(error instanceof Error) || (failure.errno === undefined && failure.code === undefined)) throw error;
  const kind = all ? undefined : kinds.find(([, numbers]) => numbers.includes(failure.errno ?? 0));
  if (kind)
    throw pythonError(kind[0], `(${failure.errno}, ${JSON.stringify(failure.sqlMessage ?? messageOf(failure))})`);
  noteError(errorText(failure, where), ctx);
}

/** `host`, `user`, … of the groups of a file like my.cnf. */
export function readDefaults(path: string, group: string): Record<string, string> {
  const found: Record<string, string> = Object.create(null) as Record<string, string>;
  let here = '';
  for (const line of (readText(path) ?? '').split('\n').map((text) => text.trim())) {
    const head = /^\[(.+)\]$/.exec(line)?.[1];
    if (head !== undefined) here = head.trim();
    const [, key, value = ''] = /^([^#;=\s]+)\s*=\s*(.*)$/.exec(line) ?? [];
    if (key === undefined || (here !== 'client' && here !== group)) continue;
    found[key.replaceAll('-', '_')] = value.replace(/^(['"])(.*)\1$/, '$2');
  }
  return found;
}

interface Named {
  readonly host?: Value;
  readonly user?: Value;
  readonly pass?: Value;
  readonly port?: Value;
  readonly db?: Value;
  readonly unix_socket?: Value;
  readonly default_file?: Value;
  readonly default_group?: Value;
  readonly charset?: Value;
}
const names = [
  'host',
  'user',
  'pass',
  'port',
  'db',
  'unix_socket',
  'default_file',
  'default_group',
  'charset',
] as const;

/** Arguments of the call first, then the minion's options `mysql.…`, which a defaults file replaces. */
async function named(args: PlainDict, ctx: ModuleContext): Promise<Named> {
  const found: Record<string, Value> = {};
  const withOptions = args['connection_default_file'] === undefined;
  for (const name of names) {
    const given = args[`connection_${name}`];
    const option = withOptions || name === 'charset' ? await ctx.call('config.option', `mysql.${name}`, null) : null;
    const value = given === undefined ? option : given;
    if (value !== null && value !== '' && !isDict(value)) found[name] = value;
  }
  return found;
}

function flagsOf(args: PlainDict): Pick<ConnectionOptions, 'multipleStatements' | 'flags'> {
  const flags = Array.isArray(args['client_flags'])
    ? args['client_flags'].map((flag) => pyStr(flag).toUpperCase())
    : [];
  return {
    multipleStatements: flags.includes('MULTI_STATEMENTS'),
    ...(flags.length > 0 ? { flags } : {}),
  };
}

async function optionsFor(args: PlainDict, ctx: ModuleContext): Promise<ConnectionOptions> {
  const set = await named(args, ctx);
  const file = set.default_file
    ? readDefaults(pyStr(set.default_file), pyStr(set.default_group ?? 'client'))
    : ({} as Record<string, string>);
  const text = (value: Value | undefined, other?: string): string | undefined =>
    value === undefined ? other : pyStr(value);
  const host = text(set.host, file['host']);
  const user = text(set.user, file['user']) ?? userInfo().username;
  const password = text(set.pass, file['password']);
  const database = text(set.db, file['database']);
  const port = Number(text(set.port, file['port']) ?? 3306);
  // As MySQL's own library does: localhost means the socket, when there is one.
  const isLocal = host === undefined || host === 'localhost';
  const socketPath =
    text(set.unix_socket, file['socket']) ?? (isLocal ? sockets.find((path) => existsSync(path)) : undefined);
  const charset = text(set.charset);
  return {
    user,
    ...(password === undefined ? {} : { password }),
    ...(database === undefined ? {} : { database }),
    ...(charset === undefined ? {} : { charset }),
    ...(socketPath === undefined ? { host: isLocal ? '127.0.0.1' : host, port } : { socketPath }),
    ...flagsOf(args),
  };
}

export interface Rows {
  /** Text of every value, or null. */
  readonly rows: (string | null)[][];
  readonly columns: string[];
  readonly affected: number;
}

export interface Session {
  readonly where: ConnectionOptions;
  run(sql: string, values?: readonly Value[]): Promise<Rows>;
}

interface Header {
  readonly affectedRows?: number;
}

function sessionOn(connection: Connection, where: ConnectionOptions): Session {
  return {
    where,
    async run(sql, values = []) {
      const [answer, fields] = await connection.query({
        sql,
        values: values.map((value) => (value === null ? null : pyStr(value))),
        rowsAsArray: true,
        typeCast: (field: { string(): string | null }) => field.string(),
      } as never);
      if (!Array.isArray(answer) || !fields)
        return { rows: [], columns: [], affected: (answer as Header | undefined)?.affectedRows ?? 0 };
      const rows = answer as unknown as (string | null)[][];
      return { rows, columns: fields.map((field) => field.name), affected: rows.length };
    },
  };
}

/** Connects, calls a function and disconnects. A failure is recorded for states and gives `failed`. */
export async function withSession<T>(
  args: PlainDict,
  failed: T,
  ctx: ModuleContext,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const where = await optionsFor(args, ctx);
  const { createConnection } = await import('mysql2/promise');
  let connection: Connection;
  try {
    connection = await createConnection({ ...where, connectTimeout: 30_000 });
  } catch (error) {
    handleError(error, where, ctx, true);
    return failed;
  }
  try {
    return await work(sessionOn(connection, where));
  } catch (error) {
    handleError(error, where, ctx);
    return failed;
  } finally {
    await connection.end().catch(() => connection.destroy());
  }
}

/** `` `name` `` with backquotes doubled; in grants on databases `_` is escaped, so that it is not a wildcard. */
export function quoteIdentifier(name: string, forGrants = false): string {
  const quoted = name.replaceAll('`', '``');
  return `\`${forGrants ? quoted.replaceAll('_', '\\_') : quoted}\``;
}

/** Rows as dictionaries. */
export const asDicts = ({ rows, columns }: Rows): PlainDict[] =>
  rows.map(
    (row) =>
      Object.assign(
        Object.create(null),
        Object.fromEntries(columns.map((name, i) => [name, row[i] ?? null])),
      ) as PlainDict,
  );

/** Whether a server's version (`10.11.6-MariaDB-…`) is at least this one. */
export function isSince(version: string, first: string): boolean {
  const numbers = (text: string): number[] => (/^\d+(?:\.\d+)*/.exec(text)?.[0] ?? '0').split('.').map(Number);
  const [have, want] = [numbers(version), numbers(first)];
  for (let i = 0; i < Math.max(have.length, want.length); i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
