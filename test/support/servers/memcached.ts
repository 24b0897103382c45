// A real memcached on a private port.
import { connect } from 'node:net';
import { preparedProgram, type RunningServer, startServer } from './server.ts';

/** Resolves when something listens there. */
export const listens = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });

/** Starts one; undefined when it is not there. */
export async function startMemcached(): Promise<RunningServer | undefined> {
  const program = preparedProgram('memcached', 'memcached');
  if (!program) return undefined;
  // Items of a megabyte have to fit with their frame.
  return startServer({
    name: 'memcached',
    command: (port) => [program, '-u', 'root', '-l', '127.0.0.1', '-p', String(port), '-I', '4m'],
    ready: listens,
  });
}
