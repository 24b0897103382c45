// A real PostgreSQL on a private port, with an empty database `salt` for the user salt.
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { preparedProgram, type RunningServer, startServer } from './server.ts';

export interface PostgreSql extends RunningServer {
  /** Options of the returner for this server; the first word is the returner's. */
  options(returner: string): Readonly<Record<string, string | number>>;
  /** Runs statements as the superuser, one after the other; the rows of the last one. */
  sql(...statements: string[]): Promise<Record<string, unknown>[]>;
}

/** For clients that ask for TLS; others need none. */
const certificates = join(import.meta.dirname, '../../fixtures/wire-tls');
const asRoot = process.getuid?.() === 0;
/** The server refuses to run as root. */
const owned = asRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];

function accountOf(): { uid: number; gid: number } | undefined {
  if (!asRoot) return undefined;
  const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

function prepare(initdb: string): (folder: string) => void {
  return (folder) => {
    chmodSync(folder, 0o755);
    const data = join(folder, 'data');
    mkdirSync(data, { mode: 0o700 });
    const account = accountOf();
    if (account) chownSync(data, account.uid, account.gid);
    const [file, ...args] = [...owned, initdb, '-N', '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '-D', data];
    const made = spawnSync(file!, args, { encoding: 'utf8', cwd: data });
    if (made.status !== 0) throw new Error(`initdb: ${made.stderr}${made.stdout}`);
    for (const name of ['master.pem', 'master.key']) {
      copyFileSync(join(certificates, name), join(data, name));
      chmodSync(join(data, name), 0o600);
      if (account) chownSync(join(data, name), account.uid, account.gid);
    }
  };
}

async function run(port: number, database: string, statements: readonly string[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database, connectionTimeoutMillis: 5000 });
  // The server may be stopped on purpose while this is open.
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows ?? [];
    return rows;
  } finally {
    await client.end();
  }
}

/** Starts one; undefined when it is not there. */
export async function startPostgreSql(): Promise<PostgreSql | undefined> {
  const program = preparedProgram('postgres', 'postgresql');
  const initdb = preparedProgram('initdb', 'postgresql');
  if (!program || !initdb) return undefined;
  const server = await startServer({
    name: 'postgres',
    prepare: prepare(initdb),
    command: (port, folder) => {
      const tls = ['ssl=on', 'ssl_cert_file=master.pem', 'ssl_key_file=master.key'];
      const settings = [...tls, 'fsync=off', `port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
      const command = [...owned, program, '-D', join(folder, 'data'), ...settings.flatMap((item) => ['-c', item])];
      return command as [string, ...string[]];
    },
    ready: (port) => run(port, 'postgres', ['SELECT 1']),
    // Does not wait for clients to leave.
    signal: 'SIGINT',
  });
  const { port } = server;
  await run(port, 'postgres', ["CREATE ROLE salt LOGIN PASSWORD 'salt'", 'CREATE DATABASE salt OWNER salt']);
  await run(port, 'salt', ['GRANT ALL ON SCHEMA public TO salt']);
  return Object.assign(server, {
    options: (returner: string) => ({
      [`${returner}.host`]: '127.0.0.1',
      [`${returner}.user`]: 'salt',
      [`${returner}.passwd`]: 'salt',
      [`${returner}.pass`]: 'salt',
      [`${returner}.db`]: 'salt',
      [`${returner}.port`]: port,
    }),
    sql: (...statements: string[]) => run(port, 'salt', statements),
  });
}
