// The minion's file client: what `ctx.files` is. Everything it fetches is verified and put in place at once.
import { copyFile, mkdir, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { dictEntries, isDict, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { matchesGlob } from '../../../base/util/fnmatch.ts';
import { pyRegexSearch } from '../../../base/util/pyregex.ts';
import type {
  CacheDirOptions,
  FetchOptions,
  FileClient,
  FileHash,
  MinionServices,
  UrlOptions,
} from '../../../extend/sdk/index.ts';
import { hashFile } from '../hashes.ts';
import { isEnvironmentName } from '../paths.ts';
import { pythonStat } from '../roots.ts';
import { askFile, fetchTo, fetchToCache } from './fetch.ts';
import { CachePlaces } from './places.ts';
import { pushFile } from './push.ts';
import { fileSource } from './source.ts';
import { isSaltUrl, parseSaltUrl, saltUrl, serverPath } from './url.ts';
import { UrlFetcher } from './url-fetcher.ts';

export interface FileClientParts {
  readonly opts: Readonly<Record<string, Value>>;
  readonly minion: MinionServices;
  readonly log: { warn(message: string, fields?: Readonly<Record<string, unknown>>): void };
  readonly signal?: AbortSignal;
  /** Waits before a lost piece is asked for again; as many as there are tries. */
  readonly retryMs?: readonly number[];
}

/** Files fetched at the same time when there are many. */
const atOnce = 8;

export function createFileClient(parts: FileClientParts): FileClient {
  const { opts, signal, retryMs } = parts;
  const source = fileSource(parts);
  const request = source.send;
  const places = new CachePlaces(String(opts['cachedir'] ?? ''));
  const defaultEnv = (): string => (typeof opts['saltenv'] === 'string' && opts['saltenv']) || 'base';
  const web = new UrlFetcher(opts, places, signal);

  /** The path and environment an address means. */
  const located = (url: string, saltenv: string | undefined): { path: string; saltenv: string } => {
    const path = serverPath(url);
    const environment = parseSaltUrl(url).saltenv ?? (saltenv || defaultEnv());
    if (!isEnvironmentName(environment)) {
      throw new HaliteError('path.refused', `${JSON.stringify(environment)} cannot be an environment`);
    }
    return { path, saltenv: environment };
  };

  const texts = async (cmd: string, saltenv: string | undefined, prefix: string): Promise<string[]> => {
    const reply = await request(newDict(Object.entries({ cmd, saltenv: saltenv || defaultEnv(), prefix })));
    return Array.isArray(reply) ? reply.filter((item) => typeof item === 'string') : [];
  };

  const cacheSalt = async (url: string, saltenv: string | undefined, gzip?: number): Promise<string> => {
    const wanted = located(url, saltenv);
    const dest = places.file(wanted.path, wanted.saltenv);
    const top = places.files(wanted.saltenv);
    return (await fetchToCache(source, { ...wanted, gzip, signal, retryMs }, dest, top)) === 'missing' ? '' : dest;
  };

  const cacheMany = (paths: readonly string[], saltenv: string): Promise<string[]> =>
    inOrder(paths, (path) => cacheSalt(saltUrl(path), saltenv));

  const client: FileClient = {
    async envs() {
      const reply = await request(newDict([['cmd', '_file_envs']]));
      return Array.isArray(reply) ? reply.map(String) : [];
    },
    list: (kind, saltenv, prefix = '') => texts(listCommands[kind], saltenv, prefix),
    async symlinks(saltenv, prefix = ''): Promise<PlainDict> {
      const cmd = '_symlink_list';
      const reply = await request(newDict(Object.entries({ cmd, saltenv: saltenv || defaultEnv(), prefix })));
      return newDict(isDict(reply) ? dictEntries(reply).map(([link, target]) => [String(link), target] as const) : []);
    },
    states: async (saltenv) => stateNames(await client.list('files', saltenv)),
    async hash(path, saltenv): Promise<FileHash | undefined> {
      if (!isSaltUrl(path)) return localHash(path, String(opts['hash_type'] ?? 'sha256'));
      const wanted = located(path, saltenv);
      return (await askFile(request, wanted.path, wanted.saltenv))?.hash;
    },
    async stat(path, saltenv) {
      if (!isSaltUrl(path)) return localStat(path);
      const wanted = located(path, saltenv);
      return (await askFile(request, wanted.path, wanted.saltenv))?.stat;
    },

    cacheFile: async (url, options = {}) => (await client.getUrl(url, '', options)) || '',
    cacheDir: (url, options = {}) => cacheDir(client, places, cacheMany, url, options, defaultEnv()),
    async cacheAll(saltenv) {
      const environment = saltenv || defaultEnv();
      return cacheMany(await client.list('files', environment), environment);
    },
    async cacheLocalFile(path) {
      const dest = places.localFile(path);
      await mkdir(dirname(dest), { recursive: true });
      await copyFile(path, dest);
      return dest;
    },
    cacheDest: (url, saltenv) => places.expected(url, saltenv || defaultEnv()),
    isCached: async (path, saltenv) => places.present(path, saltenv || defaultEnv()),
    cached: (saltenv) => places.all(saltenv || defaultEnv()),

    async getFile(url, dest, options: FetchOptions = {}) {
      if (dest === '') return cacheSalt(url, options.saltenv, options.gzip);
      const wanted = { ...located(url, options.saltenv), gzip: options.gzip, signal, retryMs };
      const result = await fetchTo(source, wanted, dest, options.makedirs ?? false);
      if (result === 'missing') return '';
      return result === 'no folder' ? false : result.path;
    },
    getDir: (url, dest, options = {}) => getDir(client, url, dest, options),
    async getUrl(url, dest, options: UrlOptions = {}) {
      if (isSaltUrl(url)) return client.getFile(url, dest, options);
      return web.get(url, dest, { ...options, saltenv: options.saltenv || defaultEnv() });
    },
    async read(url, options: UrlOptions = {}) {
      if (!isSaltUrl(url)) return web.read(url, options);
      const cached = await cacheSalt(url, options.saltenv);
      return cached === '' ? undefined : readFile(cached);
    },

    push: (path, options) => pushFile(request, path, Number(opts['file_buffer_size']) || 262_144, options),
    async syncExtensions(kinds, options = {}) {
      const { syncExtensions } = await import('../sync.ts');
      const report = await syncExtensions({ client, opts, log: parts.log }, kinds, options);
      if (report.touched) await parts.minion.reloadExtensions();
      return report;
    },
  };
  return client;
}

const listCommands = { files: '_file_list', dirs: '_dir_list', emptyDirs: '_file_list_emptydirs' } as const;

/** Runs a few at a time; results stay in order. */
async function inOrder<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await run(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

async function localHash(path: string, type: string): Promise<FileHash | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? { hash_type: type, hsum: await hashFile(path, type) } : undefined;
}

async function localStat(path: string): Promise<number[] | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() ? pythonStat(found) : undefined;
}

function stateNames(files: readonly string[]): string[] {
  const names = files.flatMap((path) => {
    if (!path.endsWith('.sls')) return [];
    const name = path.replaceAll('/', '.');
    return [path.endsWith('/init.sls') ? name.slice(0, -9) : name.slice(0, -4)];
  });
  return [...new Set(names)].sort();
}

async function cacheDir(
  client: FileClient,
  places: CachePlaces,
  cacheMany: (paths: readonly string[], saltenv: string) => Promise<string[]>,
  url: string,
  options: CacheDirOptions,
  defaultEnv: string,
): Promise<string[]> {
  const path = serverPath(url);
  const saltenv = parseSaltUrl(url).saltenv ?? (options.saltenv || defaultEnv);
  const folder = path.endsWith('/') ? path : `${path}/`;
  const chosen = patternTest(options.includePattern, options.excludePattern);
  const files = (await client.list('files', saltenv)).filter((file) => file.startsWith(folder) && chosen(file));
  const cached = (await cacheMany(files, saltenv)).filter((file) => file !== '');
  if (!options.includeEmpty) return cached;
  const empty = (await client.list('emptyDirs', saltenv)).filter((dir) => dir.startsWith(folder));
  const made = empty.map((dir) => places.file(dir, saltenv));
  for (const dir of made) await mkdir(dir, { recursive: true });
  return [...cached, ...made];
}

type Patterns = string | readonly string[] | undefined;

/** A file is taken when it fits the first patterns, if there are any, and none of the others. `E@` begins an expression. */
export function patternTest(include: Patterns, exclude: Patterns): (path: string) => boolean {
  const one = (pattern: string): ((path: string) => boolean) => {
    if (!pattern.startsWith('E@')) return (path) => matchesGlob(path, pattern);
    const expression = pyRegexSearch(pattern.slice(2));
    return (path) => expression.test(path);
  };
  const any = (patterns: Patterns): ((path: string) => boolean) | undefined => {
    const tests = (typeof patterns === 'string' ? [patterns] : (patterns ?? [])).filter(Boolean).map(one);
    return tests.length > 0 ? (path) => tests.some((test) => test(path)) : undefined;
  };
  const wanted = any(include);
  const unwanted = any(exclude);
  return (path) => (wanted?.(path) ?? true) && !unwanted?.(path);
}

async function getDir(
  client: FileClient,
  url: string,
  dest: string,
  options: FetchOptions,
): Promise<(string | false)[]> {
  const path = serverPath(url).replace(/\/+$/, '');
  const saltenv = parseSaltUrl(url).saltenv ?? options.saltenv;
  // The last folder of the path is copied with its name, those above it are not.
  const above = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
  const inside = (name: string): boolean => name[path.length] === '/' && name.startsWith(path);
  const place = (name: string): string => `${dest}/${name.slice(above.length).replace(/^\/+/, '')}`;
  const files = (await client.list('files', saltenv, path)).filter(inside);
  const copied = await inOrder(files, (name) =>
    client.getFile(saltUrl(name), place(name), { ...options, saltenv, makedirs: true }),
  );
  const empty = (await client.list('emptyDirs', saltenv, path)).filter(inside).map(place);
  for (const folder of empty) await mkdir(folder, { recursive: true });
  return [...copied, ...empty].sort();
}
