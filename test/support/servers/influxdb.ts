// A real InfluxDB 1.x on a private port.
import { writeFileSync } from 'node:fs';
import { ensureProgram, freePort, type RunningServer, startServer } from './install.ts';

/** Starts one; undefined when it cannot be installed here. */
export async function startInfluxDb(): Promise<RunningServer | undefined> {
  const program = ensureProgram('influxd', 'influxdb');
  if (!program) return undefined;
  const rpc = await freePort();
  return startServer({
    name: 'influxdb',
    prepare(folder, port) {
      const lines = [
        'reporting-disabled = true',
        `bind-address = "127.0.0.1:${rpc}"`,
        `[meta]\ndir = "${folder}/meta"`,
        `[data]\ndir = "${folder}/data"\nwal-dir = "${folder}/wal"\nquery-log-enabled = false`,
        `[http]\nbind-address = "127.0.0.1:${port}"\nlog-enabled = false`,
        '[monitor]\nstore-enabled = false',
      ];
      writeFileSync(`${folder}/influxdb.conf`, `${lines.join('\n')}\n`);
    },
    command: (_port, folder) => [program, '-config', `${folder}/influxdb.conf`],
    async ready(port) {
      const answer = await fetch(`http://127.0.0.1:${port}/ping`);
      if (answer.status !== 204) throw new Error(`status ${answer.status}`);
    },
  });
}
