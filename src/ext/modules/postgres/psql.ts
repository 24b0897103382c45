// Runs psql: as which user, on which server, and reads rows from its CSV.
import { commandError, dictGet, type ModuleContext, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { joinPath } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';

/** Arguments nearly every function has. */
export const conn = {
  user: p.string({ default: null, falsy: null, doc: 'user of the database to connect as' }),
  host: p.string({ default: null, falsy: null, doc: 'address of the server' }),
  port: p.string({ default: null, falsy: null, doc: 'its port' }),
  maintenance_db: p.string({ default: null, falsy: null, doc: 'database to connect to' }),
  password: p.string({ default: null, doc: 'password to connect with' }),
};
export const runas = p.string({ default: null, doc: 'run psql as this system user' });

export interface Conn {
  readonly user?: Value;
  readonly host?: Value;
  readonly port?: Value;
  readonly maintenance_db?: Value;
  readonly password?: Value;
  readonly runas?: Value;
}

export interface Answer {
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program of PostgreSQL, in the folder `postgres.bins_dir` or on the path. */
export async function findBinary(name: string, ctx: ModuleContext): Promise<string> {
  const folder = await ctx.call('config.option', 'postgres.bins_dir');
  const found = (folder ? which(joinPath(pyStr(folder), name)) : null) ?? which(name);
  if (found === null) throw commandError(`${name} executable not found.`);
  return found;
}

const option = async (given: Value | undefined, name: string, ctx: ModuleContext): Promise<string> => {
  const value = given || (await ctx.call('config.option', `postgres.${name}`));
  return value ? pyStr(value) : '';
};

/** The system user that has all rights on a local server. */
export const ownerAccount = (ctx: ModuleContext): string =>
  pyStr(dictGet(ctx.grains, 'os_family') ?? '').includes('OpenBSD') ? '_postgresql' : 'postgres';

/** Runs psql. Without a host it runs as the owner of the server, who needs no password. */
async function psql(args: readonly string[], at: Conn, ctx: ModuleContext, stdin?: string): Promise<Answer> {
  const [user, host, port, database] = [
    await option(at.user, 'user', ctx),
    await option(at.host, 'host', ctx),
    await option(at.port, 'port', ctx),
    (await option(at.maintenance_db, 'maintenance_db', ctx)) || 'postgres',
  ];
  const command = [
    await findBinary('psql', ctx),
    ...['--no-align', '--no-readline', '--no-psqlrc', '--no-password'],
    ...(user ? ['--username', user] : []),
    ...(host ? ['--host', host] : []),
    ...(port ? ['--port', port] : []),
    ...['--dbname', database],
    ...args,
  ];
  const account = at.runas ?? (!host || host.startsWith('/') ? ownerAccount(ctx) : null);
  const password = at.password ?? (await ctx.call('config.option', 'postgres.pass'));
  const timeout = Number(await ctx.call('config.option', 'postgres.timeout')) || 0;
  const said = (await ctx.callWith('cmd.run_all', [command], {
    python_shell: false,
    reset_system_locale: false,
    clean_env: true,
    ignore_retcode: true,
    ...(stdin === undefined ? {} : { stdin }),
    ...(account ? { runas: account } : {}),
    ...(timeout > 0 ? { timeout } : {}),
    // Only the user it runs as can read the environment of a process.
    ...(password === null || password === '' ? {} : { env: { PGPASSWORD: pyStr(password) } }),
  })) as unknown as Answer;
  if (said.retcode !== 0) ctx.log.error(`psql: ${pyStr(said.stderr || said.stdout)}`);
  return said;
}

/**
 * Runs statements, in one transaction if there are several; returns whether that worked. They are passed on standard input,
 * because every user of the system can see the arguments of a process, including passwords.
 */
export async function execute(sql: string | readonly string[], at: Conn, ctx: ModuleContext): Promise<boolean> {
  const all = typeof sql === 'string' ? [sql] : sql;
  const together = all.length > 1 ? ['--single-transaction'] : [];
  const said = await psql(['-q', '-v', 'ON_ERROR_STOP=1', ...together, '-f', '-'], at, ctx, `${all.join(';\n')};\n`);
  return said.retcode === 0;
}

/** Records of CSV: fields in quotes may hold commas, lines and doubled quotes. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\r?\n|$)/gy;
  while (field.lastIndex < text.length) {
    const match = field.exec(text);
    if (!match) break;
    const [whole, quoted, bare = '', end] = match;
    row.push(quoted === undefined ? bare.replace(/\r$/, '') : quoted.replaceAll('""', '"'));
    if (end !== ',') {
      if (row.length > 1 || row[0] !== '' || whole.startsWith('"')) rows.push(row);
      row = [];
    }
  }
  if (row.length > 0) rows.push([...row, '']);
  return rows;
}

export type Row = Record<string, string>;

/** The rows of a SELECT; none when it fails. */
export async function query(sql: string, at: Conn, ctx: ModuleContext, write = false): Promise<Row[]> {
  const copy = `COPY (${sql.trim().replace(/;+$/, '')}) TO STDOUT WITH CSV HEADER`;
  const text = write ? `START TRANSACTION READ WRITE; ${copy}; COMMIT TRANSACTION;` : copy;
  const said = await psql(['-v', 'datestyle=ISO,MDY', '-q', '-c', text], at, ctx);
  if (said.retcode !== 0) return [];
  const [header = [], ...rows] = parseCsv(said.stdout);
  return rows.map((row) => newDict(header.map((name, i) => [name, row[i] ?? ''])) as Row);
}

/** Rows by one of their columns, which is removed from the row. */
export function byName(rows: readonly Row[], column: string): PlainDict {
  return newDict(
    rows.map((row) => [row[column] ?? '', newDict(Object.entries(row).filter(([name]) => name !== column))]),
  );
}

export const ident = (name: Value): string => `"${pyStr(name).replaceAll('"', '""')}"`;
export const literal = (text: Value): string => `'${pyStr(text).replaceAll("'", "''")}'`;
