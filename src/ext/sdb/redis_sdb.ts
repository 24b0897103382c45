// Secret store `redis`: keys of a Redis server.
import { type Dict, defineSdb, pyStr, type Value } from 'halite/sdk';
import { connectRedis, type RedisLink } from '../shared/redis/connect.ts';
import { numberOf, textOf } from './shared/profile.ts';

async function withRedis<T>(profile: Dict, work: (link: RedisLink['client']) => Promise<T>): Promise<T> {
  const link = await connectRedis({
    host: textOf(profile, 'host') ?? 'localhost',
    port: numberOf(profile, 6379, 'port'),
    unix_socket_path: textOf(profile, 'unix_socket_path'),
    db: numberOf(profile, 0, 'db'),
    username: textOf(profile, 'username'),
    password: textOf(profile, 'password'),
    cluster_mode: false,
    startupNodes: [],
    sentinels: [],
    sentinel_name: '',
  });
  try {
    return await link.guarded(() => work(link.client));
  } finally {
    link.close();
  }
}

export default defineSdb({
  name: 'redis_sdb',
  virtualName: 'redis',
  doc: 'Keys of a Redis server: `host`, `port`, `db`, `username`, `password`, `unix_socket_path`.',
  get: (key, profile): Promise<Value> => withRedis(profile, (client) => client.get(key)),
  set: (key, value, profile): Promise<Value> =>
    withRedis(profile, async (client) => (await client.set(key, pyStr(value))) === 'OK'),
  delete: (key, profile): Promise<Value> => withRedis(profile, (client) => client.del(key)),
});
