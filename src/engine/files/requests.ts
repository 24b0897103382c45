// File requests of minions, answered by a file server: the master's own, or that of a minion without a master.
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { FileLists } from './backend.ts';
import { mostBytesAlong } from './file-chunks.ts';
import type { FileServer } from './server.ts';

type Answer = (server: FileServer, load: PlainDict) => Promise<Value>;

/** Minions of 2015 called the environment `env`. */
const envOf = (load: PlainDict): Value => load['saltenv'] ?? load['env'] ?? 'base';

const prefixOf = (load: PlainDict): string =>
  typeof load['prefix'] === 'string' ? load['prefix'].replace(/^\/+|\/+$/g, '') : '';

/** As in Salt, a prefix is the beginning of the text, not of whole names. */
const listed =
  (pick: Exclude<keyof FileLists, 'links'>): Answer =>
  async (server, load) => {
    const prefix = prefixOf(load);
    const all = (await server.lists(envOf(load)))[pick];
    return prefix === '' ? [...all] : all.filter((path) => path.startsWith(prefix));
  };

/** By command; nothing else is a file request. */
export const fileRequests: ReadonlyMap<string, Answer> = new Map<string, Answer>([
  ['_file_envs', (server) => server.envs()],
  ['_file_list', listed('files')],
  ['_dir_list', listed('dirs')],
  ['_file_list_emptydirs', listed('emptyDirs')],
  [
    '_symlink_list',
    async (server, load) => {
      const prefix = prefixOf(load);
      const links = Object.entries((await server.lists(envOf(load))).links);
      return newDict(links.filter(([link]) => link.startsWith(prefix)));
    },
  ],
  [
    '_file_find',
    async (server, load) => {
      const found = await server.find(load['path'], envOf(load));
      if (!found) return newDict(Object.entries({ path: '', rel: '' }));
      const { path, rel, stat, back } = found;
      return newDict(Object.entries({ path, rel, stat: [...stat], back }));
    },
  ],
  ['_file_hash', async (server, load) => (await hashAndStat(server, load))[0]!],
  ['_file_hash_and_stat', hashAndStat],
  [
    '_serve_file',
    async (server, load) => {
      const chunk = await server.serve(load['path'], envOf(load), load['loc'], load['gzip']);
      const reply = newDict(Object.entries({ data: chunk.data, dest: chunk.dest }));
      if (chunk.gzip) reply['gzip'] = chunk.gzip;
      return reply;
    },
  ],
]);

async function hashAndStat(server: FileServer, load: PlainDict): Promise<Value[]> {
  const found = await server.find(load['path'], envOf(load));
  if (!found) return ['', null];
  const hsum = await server.hash(found);
  const answer: Value[] = [newDict(Object.entries({ hash_type: server.hashType, hsum })), [...found.stat]];
  if (typeof load['chunk'] !== 'number' || load['have'] === hsum) return answer;
  // A Halite minion that has another file, or none, gets a small one immediately.
  const data = await server.whole(load['path'], envOf(load), found, Math.min(load['chunk'], mostBytesAlong));
  return data ? [...answer, data] : answer;
}
