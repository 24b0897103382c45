// Secret store `memcached`.
import { type Dict, defineSdb, pyStr, type Value } from 'halite/sdk';
import { type Memcached, memcached } from '../shared/memcache/client.ts';
import { numberOf, textOf } from './shared/profile.ts';

async function withServer<T>(profile: Dict, work: (client: Memcached) => Promise<T>): Promise<T> {
  const host = textOf(profile, 'memcached.host', 'host') ?? '127.0.0.1';
  const client = memcached(host, numberOf(profile, 11211, 'memcached.port', 'port'));
  try {
    return await work(client);
  } finally {
    client.close();
  }
}

export default defineSdb({
  name: 'memcached',
  doc: 'Keys of a memcached server: `memcached.host`, `memcached.port`, `expire` in seconds.',
  get: (key, profile): Promise<Value> =>
    withServer(profile, async (client) => (await client.get([key])).get(key) ?? null),
  set: (key, value, profile): Promise<Value> =>
    withServer(profile, (client) => client.store('set', key, pyStr(value), numberOf(profile, 0, 'expire'))),
});
