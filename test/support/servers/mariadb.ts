// A real MariaDB on a private port, with an empty database `salt` for the user salt with the password salt.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { preparedProgram, type RunningServer, startServer } from './server.ts';

export interface MariaDb extends RunningServer {
  /** Options of the returner for this server, flat as in a minion's configuration. */
  readonly options: Readonly<Record<string, string | number>>;
  /** Runs statements as root, one after the other; the rows of the last one. */
  sql(...statements: string[]): Promise<Record<string, unknown>[]>;
  /** Runs a file of statements, as `mysql < file` does. */
  script(text: string): Promise<void>;
}

/** For clients that ask for TLS; others need none. */
const certificates = join(import.meta.dirname, '../../fixtures/wire-tls');
const asRoot = process.getuid?.() === 0;

function prepare(folder: string): void {
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  mkdirSync(data);
  for (const name of ['ca.pem', 'master.pem', 'master.key']) {
    copyFileSync(join(certificates, name), join(folder, name));
    // Nobody's secret, and the server runs as another user.
    chmodSync(join(folder, name), 0o644);
  }
  const args = [
    '--no-defaults',
    `--datadir=${data}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    ...(asRoot ? ['--user=mysql'] : []),
  ];
  const made = spawnSync('mariadb-install-db', args, { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`mariadb-install-db: ${made.stderr}${made.stdout}`);
}

const connect = (port: number, more: object = {}) =>
  createConnection({ host: '127.0.0.1', port, user: 'root', connectTimeout: 5000, ...more });

/** Starts one, with an empty database or none; undefined when it is not there. */
export async function startMariaDb(prepared: 'database' | 'none' = 'database'): Promise<MariaDb | undefined> {
  const program = preparedProgram('mariadbd', 'mariadb-server');
  if (!program) return undefined;
  const server = await startServer({
    name: 'mariadb',
    prepare,
    command: (port, folder) => [
      program,
      '--no-defaults',
      ...(asRoot ? ['--user=mysql'] : []),
      `--datadir=${join(folder, 'data')}`,
      `--socket=${join(folder, 'data', 's')}`,
      `--pid-file=${join(folder, 'data', 'pid')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-log-bin',
      '--innodb-buffer-pool-size=32M',
      '--innodb-flush-log-at-trx-commit=0',
      '--max-allowed-packet=64M',
      `--ssl-ca=${join(folder, 'ca.pem')}`,
      `--ssl-cert=${join(folder, 'master.pem')}`,
      `--ssl-key=${join(folder, 'master.key')}`,
    ],
    ready: async (port) => (await connect(port)).end(),
  });
  const run = async (statements: readonly string[], more: object) => {
    const connection = await connect(server.port, more);
    try {
      let rows: unknown = [];
      for (const statement of statements) [rows] = await connection.query(statement);
      return (Array.isArray(rows) ? rows : []) as Record<string, unknown>[];
    } finally {
      await connection.end();
    }
  };
  const setUp = [
    'CREATE DATABASE salt DEFAULT CHARACTER SET utf8 DEFAULT COLLATE utf8_general_ci',
    "GRANT ALL ON salt.* TO salt@'%' IDENTIFIED BY 'salt'",
    "GRANT ALL ON salt.* TO salt@'localhost' IDENTIFIED BY 'salt'",
  ];
  if (prepared === 'database') await run(setUp, {});
  const { port } = server;
  return Object.assign(server, {
    options: {
      'mysql.host': '127.0.0.1',
      'mysql.user': 'salt',
      'mysql.pass': 'salt',
      'mysql.db': 'salt',
      'mysql.port': port,
    },
    sql: (...statements: string[]) => run(statements, { database: 'salt' }),
    script: async (text: string) => void (await run([text], { multipleStatements: true })),
  });
}
