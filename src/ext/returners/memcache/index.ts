// Returner `memcache`: results and jobs in memcached, under Salt's keys.
import { defineReturner, type JobCache, type PlainDict, p } from 'halite/sdk';
import { type Memcached, memcached } from '../../shared/memcache/client.ts';
import { jsonDict, keysOf, toJson } from '../shared/loads.ts';

/** memcached stores items up to a megabyte: a list that exceeds half of that loses its older half. */
const listLimit = 512 * 1024;

async function listOf(server: Memcached, key: string): Promise<string[]> {
  const text = (await server.get([key])).get(key) ?? '';
  return [...new Set(text.split(',').filter((item) => item !== ''))];
}

async function addToList(server: Memcached, key: string, item: string): Promise<void> {
  const items = await listOf(server, key);
  if (items.includes(item)) return;
  const size = items.reduce((sum, text) => sum + text.length + 1, 0);
  if (size > listLimit) {
    const newer = [...items.slice(Math.floor(items.length / 2)), item];
    await server.store('set', key, `${newer.join(',')},`);
    return;
  }
  if (await server.store('append', key, `${item},`)) return;
  if (await server.store('add', key, `${item},`)) return;
  // Another client created the list between the two commands.
  await server.store('append', key, `${item},`);
}

async function loadsOf(server: Memcached, names: readonly string[], prefix: string): Promise<Map<string, PlainDict>> {
  const found = await server.get(names.map((name) => prefix + name));
  const loads = new Map<string, PlainDict>();
  for (const name of names) {
    const load = jsonDict(found.get(prefix + name));
    if (load) loads.set(name, load);
  }
  return loads;
}

function jobCacheOf(server: Memcached): JobCache {
  return {
    async saveLoad(jid, load) {
      await server.store('set', jid, toJson(load));
      await addToList(server, 'jids', jid);
    },
    load: async (jid) => (await loadsOf(server, [jid], '')).get(jid),
    returns: async (jid) => loadsOf(server, await listOf(server, 'minions'), `${jid}:`),
    lastOf: async (fun) => loadsOf(server, await listOf(server, 'minions'), `${fun}:`),
    jids: async () => loadsOf(server, await listOf(server, 'jids'), ''),
    minions: () => listOf(server, 'minions'),
  };
}

export default defineReturner({
  name: 'memcache',
  doc:
    'Keeps results in memcached: `<jid>:<minion>` and `<function>:<minion>` hold a result as JSON, `<jid>` the job, and ' +
    '`minions` and `jids` lists with commas between. memcached forgets what it has no room for.',
  keeps: ['jobs'],
  options: {
    host: p.string({ doc: 'Name or address of the server.' }),
    port: p.int({ default: 11_211, doc: 'Its port.' }),
  },
  open({ host, port }) {
    const server = memcached(host, port);
    return {
      async save(ret) {
        const { id, jid, fun } = keysOf(ret);
        const text = toJson(ret);
        await server.store('set', `${jid}:${id}`, text);
        await server.store('set', `${fun}:${id}`, text);
        await addToList(server, 'minions', id);
        await addToList(server, 'jids', jid);
      },
      jobCache: jobCacheOf(server),
      close: async () => server.close(),
    };
  },
});
