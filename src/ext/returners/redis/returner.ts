// Results and jobs in Redis under Salt's keys: `ret:<jid>`, `load:<jid>`, `<minion>:<function>` and `minions`.

import type { JobCache, PlainDict, ReturnerSession } from 'halite/sdk';
import type { ChainableCommander } from 'ioredis';
import type { RedisLink } from '../../shared/redis/connect.ts';
import { isOlder, jsonDict, keysOf, toJson } from '../shared/loads.ts';

type Command = readonly [name: 'hset' | 'expire' | 'set' | 'sadd', ...args: (string | number)[]];

/** The commands that store one return. Without a time to live the keys do not expire. */
function returnCommands(ret: PlainDict, ttl: number): Command[] {
  const { id, jid, fun } = keysOf(ret);
  const expiring = ttl > 0;
  return [
    ['hset', `ret:${jid}`, id, toJson(ret)],
    ...(expiring ? [['expire', `ret:${jid}`, ttl] as const] : []),
    ['set', `${id}:${fun}`, jid, ...(expiring ? ['EX', ttl] : [])],
    ['sadd', 'minions', id],
  ];
}

export function redisSession(link: RedisLink, ttl: number): ReturnerSession {
  const saveMany = (rets: readonly PlainDict[]): Promise<void> =>
    link.guarded(() =>
      run(
        link,
        rets.flatMap((ret) => returnCommands(ret, ttl)),
      ),
    );
  return {
    save: (ret) => saveMany([ret]),
    saveMany,
    jobCache: jobCacheOf(link, ttl),
    close: async () => link.close(),
  };
}

/** A transaction on one server; in a cluster the keys are on several servers, so the commands run one after the other. */
async function run(link: RedisLink, commands: readonly Command[]): Promise<void> {
  const { client } = link;
  if ('nodes' in client) {
    for (const [name, ...args] of commands) await client.call(name, args);
    return;
  }
  const transaction: ChainableCommander = client.multi();
  for (const [name, ...args] of commands) transaction.call(name, ...args);
  const results = await transaction.exec();
  for (const [error] of results ?? []) if (error) throw error;
}

const chunk = 500;

/** Reads many keys in batches instead of one very large command. */
async function each<K, T>(keys: readonly K[], ask: (key: K) => Promise<T>): Promise<T[]> {
  const found: T[] = [];
  for (let i = 0; i < keys.length; i += chunk) {
    found.push(...(await Promise.all(keys.slice(i, i + chunk).map(ask))));
  }
  return found;
}

/** SCAN reads the keys in steps and does not block the server like KEYS. */
async function keysLike(link: RedisLink, pattern: string): Promise<string[]> {
  const found = new Set<string>();
  for (const holder of link.holders()) {
    let cursor = '0';
    do {
      const [next, keys] = await holder.scan(cursor, 'MATCH', pattern, 'COUNT', 1000);
      for (const key of keys) found.add(key);
      cursor = next;
    } while (cursor !== '0');
  }
  return [...found];
}

function jobCacheOf(link: RedisLink, ttl: number): JobCache {
  const { client, guarded } = link;
  const get = (key: string): Promise<string | null> => client.get(key);
  return {
    saveLoad: (jid, load) =>
      guarded(async () => {
        const text = toJson(load);
        await (ttl > 0 ? client.setex(`load:${jid}`, ttl, text) : client.set(`load:${jid}`, text));
      }),
    load: (jid) => guarded(async () => jsonDict(await get(`load:${jid}`))),
    returns: (jid) => guarded(async () => loadsOf(Object.entries(await client.hgetall(`ret:${jid}`)))),
    lastOf: (fun) =>
      guarded(async () => {
        const minions = await client.smembers('minions');
        const jids = await each(minions, (id) => get(`${id}:${fun}`));
        const known = minions.map((id, i) => [id, jids[i]] as const).filter(([, jid]) => jid);
        const texts = await each(known, ([id, jid]) => client.hget(`ret:${jid}`, id));
        return loadsOf(known.map(([id], i) => [id, texts[i]] as const));
      }),
    jids: () =>
      guarded(async () => {
        const keys = await keysLike(link, 'load:*');
        const texts = await each(keys, get);
        return loadsOf(keys.map((key, i) => [key.slice('load:'.length), texts[i]] as const));
      }),
    minions: () => guarded(() => client.smembers('minions')),
    clean: (keepSeconds) => guarded(() => clean(link, keepSeconds)),
  };
}

function loadsOf(entries: readonly (readonly [string, string | null | undefined])[]): Map<string, PlainDict> {
  const found = new Map<string, PlainDict>();
  for (const [key, text] of entries) {
    const load = jsonDict(text);
    if (load) found.set(key, load);
  }
  return found;
}

/** Redis expires keys, but a late return restarts the time to live of its job's results, so old ones are removed here. */
async function clean({ client, ...link }: RedisLink, keepSeconds: number): Promise<number> {
  const old = (await keysLike({ client, ...link }, 'ret:*')).filter((key) => isOlder(key.slice(4), keepSeconds));
  const alive = await each(old, (key) => client.exists(`load:${key.slice(4)}`));
  const gone = old.filter((_, i) => alive[i] === 0);
  const removed = await each(gone, (key) => client.del(key));
  return removed.reduce((sum, count) => sum + count, 0);
}
