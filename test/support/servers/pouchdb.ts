// CouchDB's protocol from a real implementation: pouchdb-server of the npm registry, in memory, installed once for all runs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce, testCache } from '../build-once.ts';
import { type Item, isMissing } from '../prepared.ts';
import { type RunningServer, startServer } from './server.ts';

const version = '4.2.0';
const folder = join(testCache, `pouchdb-server-${version}`);
const program = join(folder, 'node_modules', 'pouchdb-server', 'bin', 'pouchdb-server');

export const pouchDbItem: Item = {
  name: `pouchdb-server ${version}`,
  tiers: ['backends'],
  need: 'required',
  isThere: () => existsSync(join(folder, '.complete')),
  make() {
    // Its scripts build storage engines that a server in memory does not need.
    const options = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', '--omit=optional'];
    buildOnce(folder, [
      ['npm', 'install', '--prefix', folder, ...options, `pouchdb-server@${version}`],
      ['test', '-e', program],
    ]);
  },
};

/** Starts one; undefined when it is not there. */
export async function startPouchDb(): Promise<RunningServer | undefined> {
  if (!pouchDbItem.isThere()) return isMissing(pouchDbItem.name);
  return startServer({
    name: 'pouchdb',
    command: (port) => [process.execPath, program, '--in-memory', '--host', '127.0.0.1', '--port', String(port)],
    async ready(port) {
      const answer = await fetch(`http://127.0.0.1:${port}/_all_dbs`);
      if (!answer.ok) throw new Error(`status ${answer.status}`);
    },
  });
}
