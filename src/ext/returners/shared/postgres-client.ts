// PostgreSQL for returners: a small connection pool that survives server outages.

import type { ConnectionOptions } from 'node:tls';
import { type ArgsOf, p } from 'halite/sdk';
import { readFile } from 'halite/sdk/fs';
import {
  type Dialect,
  type ErrorWords,
  loadDriver,
  type SqlClient,
  type SqlRow,
  type SqlRun,
  sqlError,
} from '../../shared/sql/sql-client.ts';

/** Options with the names of Salt's three PostgreSQL returners, which use different names for the password. */
export const postgresOptions = {
  host: p.string({ default: 'localhost', doc: 'server' }),
  user: p.string({ default: 'salt', doc: 'user' }),
  passwd: p.string({ default: 'salt', aliases: ['pass'], doc: 'password' }),
  db: p.string({ default: 'salt', doc: 'database' }),
  port: p.int({ default: 5432, doc: 'port' }),
  sslmode: p.string({ default: null, doc: 'disable, require, verify-ca or verify-full' }),
  sslcert: p.string({ default: null, doc: 'file with the certificate of this client' }),
  sslkey: p.string({ default: null, doc: 'file with its key' }),
  sslrootcert: p.string({ default: null, doc: 'file with the CA certificates' }),
  sslcrl: p.string({ default: null, doc: 'file with revoked certificates' }),
};

export type PostgresPlace = ArgsOf<typeof postgresOptions>;

const connectMs = 10_000;
const quiet = (): void => undefined;

export const postgresDialect: Dialect = {
  name: (text) => `"${text}"`,
  mark: (n) => `$${n}`,
  asText: (column) => column,
  // Inside text an escaped NUL is harmless.
  json: (text) => text,
  success: (value) => (value ? 'true' : 'false'),
  unlessThere: 'ON CONFLICT DO NOTHING',
  ago: (mark) => `NOW() - make_interval(secs => ${mark})`,
  copyTable: (copy, original) => `CREATE TABLE IF NOT EXISTS ${copy} (LIKE ${original})`,
};

/** The same with JSONB columns, which cannot contain a NUL character. */
export const jsonbDialect: Dialect = {
  ...postgresDialect,
  asText: (column) => `${column}::text`,
  json: (text) => text.replace(/(\\\\)|\\u0000/g, (found, backslash) => (backslash ? found : '\\ufffd')),
};

async function tlsOf(place: PostgresPlace): Promise<ConnectionOptions | false> {
  const mode = place.sslmode ?? (place.sslrootcert ? 'verify-ca' : 'disable');
  if (!['require', 'verify-ca', 'verify-full'].includes(mode)) return false;
  const files = { ca: place.sslrootcert, cert: place.sslcert, key: place.sslkey, crl: place.sslcrl };
  const tls: Record<string, unknown> = { rejectUnauthorized: mode !== 'require' || place.sslrootcert !== null };
  for (const [name, file] of Object.entries(files)) if (file) tls[name] = await readFile(file);
  if (mode !== 'verify-full') tls['checkServerIdentity'] = () => undefined;
  return tls;
}

/** Connects with the first statement, so that a daemon can start while the server is unreachable. */
export async function openPostgres(returner: string, place: PostgresPlace): Promise<SqlClient> {
  const { default: pg } = await loadDriver('pg', () => import('pg'));
  const words: ErrorWords = {
    returner,
    place: `${place.host}:${place.port}`,
    // Classes of SQLSTATE: data, integrity, limits.
    isPermanent: (code) => /^(?:22|23|54)[0-9A-Z]{3}$/.test(code),
    isMissing: (code) => code === '42P01' || code === '3D000',
  };
  const pool = new pg.Pool({
    ...{ host: place.host, port: place.port, user: place.user, password: place.passwd, database: place.db },
    ...{ max: 4, connectionTimeoutMillis: connectMs, idleTimeoutMillis: 60_000, keepAlive: true },
    ssl: await tlsOf(place),
  });
  // A server that stops notifies its idle clients; without a listener that would end the process.
  pool.on('error', quiet);
  const runOn =
    (client: Pick<typeof pool, 'query'>): SqlRun =>
    async (sql, values = []) =>
      (await client.query(sql, [...values])).rows as SqlRow[];
  const explain = (error: unknown): never => {
    throw sqlError(words, error);
  };
  return {
    run: (sql, values) => runOn(pool)(sql, values).catch(explain),
    async transaction(work) {
      const client = await pool.connect().catch(explain);
      client.on('error', quiet);
      const run = runOn(client as unknown as Pick<typeof pool, 'query'>);
      try {
        await run('BEGIN');
        const result = await work(run);
        await run('COMMIT');
        client.off('error', quiet);
        client.release();
        return result;
      } catch (error) {
        // A connection in an unknown state is not reused; the server rolls back when it is closed.
        client.release(true);
        return explain(error);
      }
    },
    close: () => pool.end(),
  };
}
