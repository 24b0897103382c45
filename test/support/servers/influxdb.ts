// A real InfluxDB 1.x on a private port.
import { writeFileSync } from 'node:fs';
import { freePort, preparedProgram, type RunningServer, startServer } from './server.ts';

/** Starts one; undefined when it is not there. */
export async function startInfluxDb(): Promise<RunningServer | undefined> {
  const program = preparedProgram('influxd', 'influxdb');
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
