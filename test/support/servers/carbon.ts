// A real carbon-cache of Graphite on private ports, and what it has stored.
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { listens } from './memcached.ts';
import { freePort, preparedProgram, type RunningServer, startServer } from './server.ts';

export interface CarbonServer extends RunningServer {
  readonly picklePort: number;
  /** The newest stored value of a metric; undefined while there is none. */
  value(path: string): number | undefined;
}

function newest(program: string, file: string): number | undefined {
  if (!existsSync(file)) return undefined;
  const read = spawnSync(program, ['--json', file], { encoding: 'utf8' });
  const { values } = JSON.parse(read.stdout) as { values: (number | null)[] };
  return values.findLast((value) => value !== null) ?? undefined;
}

/** Starts one; undefined when it is not there. */
export async function startCarbon(): Promise<CarbonServer | undefined> {
  const program = preparedProgram('carbon-cache', 'graphite-carbon');
  const reader = preparedProgram('whisper-fetch', 'python3-whisper');
  if (!program || !reader) return undefined;
  const [picklePort, queryPort] = [await freePort(), await freePort()];
  const server = await startServer({
    name: 'carbon',
    prepare(folder, port) {
      const settings = {
        ...{
          STORAGE_DIR: folder,
          LOCAL_DATA_DIR: `${folder}/whisper`,
          CONF_DIR: folder,
          LOG_DIR: folder,
          PID_DIR: folder,
        },
        ...{ LINE_RECEIVER_INTERFACE: '127.0.0.1', LINE_RECEIVER_PORT: port },
        ...{ PICKLE_RECEIVER_INTERFACE: '127.0.0.1', PICKLE_RECEIVER_PORT: picklePort },
        ...{ CACHE_QUERY_INTERFACE: '127.0.0.1', CACHE_QUERY_PORT: queryPort, CARBON_METRIC_INTERVAL: 0 },
        ...{ MAX_UPDATES_PER_SECOND: 'inf', MAX_CREATES_PER_MINUTE: 'inf', DATABASE: 'whisper', USER: '' },
      };
      const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
      writeFileSync(`${folder}/carbon.conf`, `[cache]\n${lines.join('\n')}\n`);
      writeFileSync(`${folder}/storage-schemas.conf`, '[all]\npattern = .*\nretentions = 1s:1h\n');
    },
    command: (_port, folder) => [
      program,
      ...[`--config=${folder}/carbon.conf`, `--logdir=${folder}`, `--pidfile=${folder}/pid`, '--nodaemon', 'start'],
    ],
    ready: listens,
  });
  const value = (path: string): number | undefined =>
    newest(reader, `${server.folder}/whisper/${path.replaceAll('.', '/')}.wsp`);
  return Object.assign(server, { picklePort, value });
}
