// MySQL and MariaDB for returners: a small connection pool that survives server outages.
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

export interface MysqlPlace {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly pass: string | null;
  readonly db: string;
  readonly unix_socket: string | null;
  readonly ssl_ca: string | null;
  readonly ssl_cert: string | null;
  readonly ssl_key: string | null;
}

const connectMs = 10_000;

export const mysqlDialect: Dialect = {
  name: (text) => `\`${text}\``,
  mark: () => '?',
  asText: (column) => column,
  json: (text) => text,
  // As Python's driver writes True.
  success: (value) => (value ? '1' : '0'),
  unlessThere: 'ON DUPLICATE KEY UPDATE `jid` = `jid`',
  ago: (mark) => `NOW() - INTERVAL ${mark} SECOND`,
  copyTable: (copy, original) => `CREATE TABLE IF NOT EXISTS ${copy} LIKE ${original}`,
};

/** Errors of the data: a retry does not help. */
const permanent = new Set([
  'ER_DATA_TOO_LONG',
  'ER_NET_PACKET_TOO_LARGE',
  'ER_TRUNCATED_WRONG_VALUE_FOR_FIELD',
  'ER_TRUNCATED_WRONG_VALUE',
  'ER_WARN_DATA_OUT_OF_RANGE',
  'ER_BAD_NULL_ERROR',
  'ER_CONSTRAINT_FAILED',
  'ER_INVALID_JSON_TEXT',
]);

async function tlsOf(place: MysqlPlace): Promise<{ ssl?: Record<string, Buffer> }> {
  const files = { ca: place.ssl_ca, cert: place.ssl_cert, key: place.ssl_key };
  const ssl: Record<string, Buffer> = {};
  for (const [name, file] of Object.entries(files)) if (file) ssl[name] = await readFile(file);
  return Object.keys(ssl).length > 0 ? { ssl } : {};
}

/** Connects with the first statement, so that a daemon can start while the server is unreachable. */
export async function openMysql(returner: string, place: MysqlPlace): Promise<SqlClient> {
  const { createPool } = await loadDriver('mysql2', () => import('mysql2/promise'));
  const words: ErrorWords = {
    returner,
    place: place.unix_socket ?? `${place.host}:${place.port}`,
    isPermanent: (code) => permanent.has(code),
    isMissing: (code) => code === 'ER_NO_SUCH_TABLE' || code === 'ER_BAD_DB_ERROR',
  };
  const pool = createPool({
    ...(place.unix_socket ? { socketPath: place.unix_socket } : { host: place.host, port: place.port }),
    ...{ user: place.user, password: place.pass ?? '', database: place.db },
    ...(await tlsOf(place)),
    ...{ connectionLimit: 4, maxIdle: 1, idleTimeout: 60_000, connectTimeout: connectMs, enableKeepAlive: true },
    // Batches of different sizes are different statements; a server limits the number of prepared ones.
    ...{ charset: 'utf8mb4_general_ci', dateStrings: true, maxPreparedStatements: 64 },
  });
  type Executor = Pick<typeof pool, 'execute'>;
  const runOn =
    (executor: Executor): SqlRun =>
    async (sql, values = []) => {
      // Prepared on the server, so that data never becomes part of a statement.
      const [rows] = await executor.execute(sql, [...values]);
      return (Array.isArray(rows) ? rows : []) as SqlRow[];
    };
  const explain = (error: unknown): never => {
    throw sqlError(words, error);
  };
  return {
    run: (sql, values) => runOn(pool)(sql, values).catch(explain),
    async transaction(work) {
      const connection = await pool.getConnection().catch(explain);
      try {
        await connection.beginTransaction();
        const result = await work(runOn(connection as unknown as Executor));
        await connection.commit();
        connection.release();
        return result;
      } catch (error) {
        // A connection in an unknown state is not reused; the server rolls back when it is closed.
        connection.destroy();
        return explain(error);
      }
    },
    close: () => pool.end(),
  };
}
