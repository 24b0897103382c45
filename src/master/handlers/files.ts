// File server requests of minions, and files they push (`cp.push`, off unless `file_recv` is set).
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { cleanRelative } from '../../engine/files/paths.ts';
import type { Master, Sender } from '../core.ts';
import type { Handlers } from './table.ts';

export function fileHandlers(master: Master): Handlers {
  const { files } = master;
  /** Minions of 2015 called the environment `env`. */
  const envOf = (load: PlainDict): Value => load['saltenv'] ?? load['env'] ?? 'base';
  const listed = (pick: 'files' | 'dirs' | 'emptyDirs') => ({
    run: async (load: PlainDict): Promise<Value> => {
      const all = (await files.lists(envOf(load)))[pick];
      const prefix = typeof load['prefix'] === 'string' ? load['prefix'].replace(/^\/+|\/+$/g, '') : '';
      return prefix ? all.filter((path) => path === prefix || path.startsWith(`${prefix}/`)) : [...all];
    },
  });
  return {
    _file_envs: { run: () => files.envs() },
    _file_list: listed('files'),
    _dir_list: listed('dirs'),
    _file_list_emptydirs: listed('emptyDirs'),
    _symlink_list: {
      run: async (load) => {
        const prefix = typeof load['prefix'] === 'string' ? load['prefix'].replace(/^\/+/, '') : '';
        const links = Object.entries((await files.lists(envOf(load))).links);
        return newDict(links.filter(([link]) => link.startsWith(prefix)));
      },
    },
    _file_find: {
      run: (load): Value => {
        const found = files.find(load['path'], envOf(load));
        return found
          ? { path: found.path, rel: found.rel, stat: [...found.stat], back: found.back }
          : { path: '', rel: '' };
      },
    },
    _file_hash: { run: async (load) => (await hashed(master, load, envOf(load))) ?? newDict() },
    _file_hash_and_stat: {
      run: async (load) => {
        const found = files.find(load['path'], envOf(load));
        const hash = found && (await hashed(master, load, envOf(load)));
        return hash ? [hash, [...found.stat]] : ['', null];
      },
    },
    _serve_file: {
      run: async (load) => {
        const chunk = await files.serve(load['path'], envOf(load), load['loc'], load['gzip']);
        const reply = newDict([
          ['data', chunk.data],
          ['dest', chunk.dest],
        ]);
        if (chunk.gzip) reply['gzip'] = chunk.gzip;
        return reply;
      },
    },
    _file_recv: { run: (load, sender) => receive(master, load, sender) },
  };
}

async function hashed(master: Master, load: PlainDict, saltenv: Value): Promise<PlainDict | undefined> {
  const found = master.files.find(load['path'], saltenv);
  if (!found) return undefined;
  return newDict([
    ['hash_type', master.files.hashType],
    ['hsum', await master.files.hash(found)],
  ]);
}

/** Stores one piece of a pushed file below `cachedir/minions/<id>/files`; the path is a list of plain components. */
async function receive(master: Master, load: PlainDict, sender: Sender): Promise<Value> {
  const { opts, log } = master;
  const refuse = (why: string): Value => {
    log.limited(`recv:${sender.id}`, 'warn', 'pushed file refused', { minion: sender.id, why });
    return false;
  };
  if (!opts.file_recv) return refuse('file_recv is off');
  const parts = load['path'];
  const { size, loc } = load;
  if (!Array.isArray(parts) || typeof loc !== 'number' || loc < 0) return refuse('malformed');
  const rel = cleanRelative(parts.map(String).join('/').replace(/^\/+/, ''));
  if (rel === undefined || parts.some((part) => part === '..')) return refuse('path');
  const data = typeof load['data'] === 'string' ? Buffer.from(load['data']) : (load['data'] as Uint8Array | undefined);
  const limit = opts.file_recv_max_size * 1024 * 1024;
  const total = loc + (data?.length ?? 0);
  if (!data || Number(size ?? 0) > limit || total > limit) return refuse('larger than file_recv_max_size');
  const file = join(opts.cachedir, 'minions', sender.id, 'files', rel);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  await new Promise<void>((resolve, reject) => {
    const stream = createWriteStream(file, loc === 0 ? { flags: 'w', mode: 0o600 } : { flags: 'r+', start: loc });
    stream.on('error', reject).on('finish', () => resolve());
    stream.end(data);
  });
  return true;
}
