// A real Redis on a private port: one server, or a cluster of one.
import { writeFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { eventually } from '../eventually.ts';
import { freePort, preparedProgram, type RunningServer, startServer } from './server.ts';

type Work<T> = (client: Redis) => Promise<T>;
async function ask<T>(port: number, password: string | undefined, work: Work<T>): Promise<T> {
  const auth = password ? { password } : {};
  const client = new Redis({ host: '127.0.0.1', port, ...auth, lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

export interface RedisServer extends RunningServer {
  ask<T>(work: Work<T>): Promise<T>;
}

/** Starts one; undefined when it is not there. */
export async function startRedis(
  options: { cluster?: boolean; password?: string } = {},
): Promise<RedisServer | undefined> {
  const program = preparedProgram('redis-server', 'redis-server');
  if (!program) return undefined;
  const bus = options.cluster ? await freePort() : 0;
  const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-port', String(bus)];
  // MasterlessLink it would not know its own address, and clients could not follow it.
  cluster.push('--cluster-announce-ip', '127.0.0.1');
  const server = await startServer({
    name: 'redis',
    command: (port, folder) => [
      program,
      ...['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'yes', '--dir', folder],
      ...(options.cluster ? cluster : []),
      ...(options.password ? ['--requirepass', options.password] : []),
    ],
    ready: (port) => ask(port, options.password, (client) => client.ping()),
  });
  const own = <T>(work: Work<T>): Promise<T> => ask(server.port, options.password, work);
  if (options.cluster) {
    await own((client) => client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383'));
    await eventually('the cluster to be whole', () =>
      own(async (client) => String(await client.cluster('INFO')).includes('cluster_state:ok')),
    );
  }
  return Object.assign(server, { ask: own });
}

/** A sentinel that knows a server as `mymaster`; undefined when it is not there. */
export async function startSentinel(redisPort: number): Promise<RunningServer | undefined> {
  const program = preparedProgram('redis-server', 'redis-server');
  if (!program) return undefined;
  return startServer({
    name: 'sentinel',
    prepare(folder, port) {
      const lines = [
        `port ${port}`,
        'bind 127.0.0.1',
        `dir ${folder}`,
        `sentinel monitor mymaster 127.0.0.1 ${redisPort} 1`,
      ];
      writeFileSync(`${folder}/sentinel.conf`, `${lines.join('\n')}\n`);
    },
    command: (_port, folder) => [program, `${folder}/sentinel.conf`, '--sentinel'],
    ready: (port) => ask(port, undefined, (client) => client.ping()),
  });
}
