// A file client for tests of states: a folder of this machine as file server, another one as cache.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type FileClient, newDict } from 'halite/sdk';
import { parseSaltUrl } from '../shared/file/urls.ts';

interface Found {
  readonly files: string[];
  readonly dirs: string[];
  readonly links: [string, string][];
}

function scan(root: string): Found {
  const found: Found = { files: [], dirs: ['.'], links: [] };
  if (!existsSync(root)) return found;
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(root, path);
    if (entry.isSymbolicLink()) found.links.push([name, readlinkSync(path)]);
    if (statSync(path).isDirectory()) found.dirs.push(name);
    else found.files.push(name);
  }
  return found;
}

/** `roots` holds one folder per environment (`roots/base`). */
export function testFiles(roots: string, cache: string): FileClient {
  const place = (url: string, saltenv = 'base'): string => {
    const { path, saltenv: own } = parseSaltUrl(url);
    return url.startsWith('salt://') ? join(roots, own ?? saltenv, path) : url.replace(/^file:\/\//, '');
  };
  const below = (name: string, prefix = ''): boolean => name.startsWith(prefix);
  const client: Partial<FileClient> = {
    envs: async () => readdirSync(roots),
    list: async (kind, saltenv = 'base', prefix = '') =>
      (kind === 'files' ? scan(join(roots, saltenv)).files : scan(join(roots, saltenv)).dirs)
        .filter((name) => below(name, prefix))
        .sort(),
    symlinks: async (saltenv = 'base', prefix = '') =>
      newDict(scan(join(roots, saltenv)).links.filter(([name]) => below(name, prefix))),
    async hash(url, saltenv) {
      const path = place(url, saltenv);
      if (!existsSync(path) || !statSync(path).isFile()) return undefined;
      return { hash_type: 'sha256', hsum: createHash('sha256').update(readFileSync(path)).digest('hex') };
    },
    async stat(url, saltenv) {
      const path = place(url, saltenv);
      return existsSync(path) ? [statSync(path).mode] : undefined;
    },
    async cacheFile(url, options = {}) {
      const path = place(url, options.saltenv);
      if (!existsSync(path) || !lstatSync(path).isFile()) return '';
      if (!url.startsWith('salt://')) return path;
      const copy = join(cache, relative(roots, path));
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(path, copy);
      return copy;
    },
    async isCached(url, saltenv = 'base') {
      const copy = join(cache, relative(roots, place(url, saltenv)));
      return url.startsWith('salt://') && existsSync(copy) ? copy : '';
    },
  };
  return client as FileClient;
}
