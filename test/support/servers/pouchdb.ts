// CouchDB's protocol from a real implementation: pouchdb-server of the npm registry, in memory, installed once for all runs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type RunningServer, startServer } from './install.ts';

const version = '4.2.0';
const cache = process.env['HALITE_TEST_CACHE'] ?? join(homedir(), '.cache', 'halite-test');

/** The program, installed when it is missing; undefined, said aloud, when that fails. */
function ensurePouchDb(): string | undefined {
  const folder = join(cache, `pouchdb-server-${version}`);
  const program = join(folder, 'node_modules', 'pouchdb-server', 'bin', 'pouchdb-server');
  if (existsSync(program)) return program;
  console.error(`installing pouchdb-server ${version}`);
  // Beside its place first, so that an interrupted installation is never taken for a whole one.
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, 'package.json'), '{"private": true}\n');
  // Its scripts build storage engines that a server in memory does not need.
  const args = [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--omit=optional',
    `pouchdb-server@${version}`,
  ];
  const done = spawnSync('npm', args, { cwd: draft, encoding: 'utf8', timeout: 100_000 });
  if (done.status === 0 && !existsSync(folder)) renameSync(draft, folder);
  rmSync(draft, { recursive: true, force: true });
  if (existsSync(program)) return program;
  console.error(`SKIPPED: pouchdb-server could not be installed: ${done.stderr?.slice(-500)}`);
  return undefined;
}

/** Starts one; undefined when it cannot be installed here. */
export async function startPouchDb(): Promise<RunningServer | undefined> {
  const program = ensurePouchDb();
  if (!program) return undefined;
  return startServer({
    name: 'pouchdb',
    command: (port) => [process.execPath, program, '--in-memory', '--host', '127.0.0.1', '--port', String(port)],
    async ready(port) {
      const answer = await fetch(`http://127.0.0.1:${port}/_all_dbs`);
      if (!answer.ok) throw new Error(`status ${answer.status}`);
    },
  });
}
