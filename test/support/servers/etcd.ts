// A real etcd on a private port.
import { freePort, preparedProgram, type RunningServer, startServer } from './server.ts';

/** Starts one; undefined when it is not there. */
export async function startEtcd(options: { v2?: boolean } = {}): Promise<RunningServer | undefined> {
  const program = preparedProgram('etcd', 'etcd-server');
  if (!program) return undefined;
  const peer = `http://127.0.0.1:${await freePort()}`;
  return startServer({
    name: 'etcd',
    command: (port, folder) => {
      const client = `http://127.0.0.1:${port}`;
      return [
        program,
        ...['--data-dir', `${folder}/data`, '--name', 'test', '--initial-cluster', `test=${peer}`],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        `--enable-v2=${options.v2 === true}`,
      ];
    },
    async ready(port) {
      const answer = await fetch(`http://127.0.0.1:${port}/health`);
      if (!(await answer.text()).includes('"true"')) throw new Error('not healthy yet');
    },
  });
}
