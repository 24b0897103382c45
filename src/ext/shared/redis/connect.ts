// Connections to Redis: one server, a socket, sentinels or a cluster, with the few commands that are needed.
import { asNumber, dictGet, HaliteError, isDict, messageOf, pyStr, type Value, withTimeout } from 'halite/sdk';
import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { hostPort } from '../http/request.ts';

export interface RedisSettings {
  readonly host: string;
  readonly port: number;
  readonly unix_socket_path: string | null;
  readonly db: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly cluster_mode: boolean;
  readonly startupNodes: readonly Value[];
  readonly sentinels: readonly Value[];
  readonly sentinel_name: string;
}

export interface RedisLink {
  readonly client: Redis | Cluster;
  /** The servers that hold keys: the masters of a cluster, or the one server. */
  holders(): Redis[];
  /** Runs commands; the loss of the server becomes one clear error. */
  guarded<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

const connectMs = 10_000;
const commandMs = 20_000;

const addressOf = (node: Value): { host: string; port: number } => {
  if (isDict(node)) return { host: pyStr(dictGet(node, 'host') ?? ''), port: asNumber(dictGet(node, 'port')) ?? 6379 };
  const [host = '', port] = pyStr(node).split(/:(?=\d+$)/);
  return { host, port: port === undefined ? 6379 : Number(port) };
};

function placeOf(settings: RedisSettings): string {
  if (settings.cluster_mode) return settings.startupNodes.map((node) => shown(addressOf(node))).join(', ');
  if (settings.sentinels.length > 0) return `${settings.sentinel_name} of ${settings.sentinels.length} sentinels`;
  return settings.unix_socket_path ?? hostPort(settings.host, settings.port);
}
const shown = ({ host, port }: { host: string; port: number }): string => hostPort(host, port);

export async function connectRedis(settings: RedisSettings): Promise<RedisLink> {
  const { Redis, Cluster } = await import('ioredis');
  const common: RedisOptions = {
    ...(settings.username === null ? {} : { username: settings.username }),
    ...(settings.password === null ? {} : { password: settings.password }),
    connectTimeout: connectMs,
    commandTimeout: commandMs,
    // A command fails quickly when the server is unreachable; the caller decides about a retry.
    maxRetriesPerRequest: 1,
    lazyConnect: true,
  };
  if (settings.cluster_mode && settings.startupNodes.length === 0) {
    throw new HaliteError('config.value', 'redis.cluster_mode needs redis.cluster.startup_nodes');
  }
  const client = settings.cluster_mode
    ? new Cluster(settings.startupNodes.map(addressOf), {
        redisOptions: common,
        lazyConnect: true,
        clusterRetryStrategy: (times) => (times > 3 ? null : 200 * times),
      })
    : new Redis({ ...common, ...serverOf(settings), db: settings.db });
  return linkOf(client, placeOf(settings));
}

function serverOf(settings: RedisSettings): RedisOptions {
  if (settings.sentinels.length > 0) {
    return {
      sentinels: settings.sentinels.map(addressOf),
      name: settings.sentinel_name,
      sentinelRetryStrategy: (times) => (times > 3 ? null : 200 * times),
    };
  }
  if (settings.unix_socket_path !== null) return { path: settings.unix_socket_path };
  return { host: settings.host, port: settings.port };
}

/** Limits the search for cluster members that cannot be reached. */
function inTime(work: Promise<void>): Promise<void> {
  return withTimeout(work, connectMs, () => {
    throw new Error(`no answer within ${connectMs / 1000} seconds`);
  });
}

async function linkOf(client: Redis | Cluster, place: string): Promise<RedisLink> {
  // The library reports connection errors only as events, and prints them without a listener.
  let last = '';
  client.on('error', (error: Error) => {
    last = error.message;
  });
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      const answer = error instanceof Error && error.name === 'ReplyError';
      const own = messageOf(error);
      const vague = /max retries|Connection is closed|slots cache/.test(own);
      const why = vague && last !== '' ? last : own;
      throw answer
        ? new HaliteError('call.failed', `redis at ${place} answered: ${own}`)
        : new HaliteError('store.unavailable', `redis at ${place} cannot be reached: ${why}`);
    }
  };
  const close = (): void => client.disconnect();
  try {
    await guarded(() => inTime(client.connect()));
  } catch (error) {
    close();
    throw error;
  }
  const holders = (): Redis[] => ('nodes' in client ? client.nodes('master') : [client]);
  return { client, holders, guarded, close };
}
