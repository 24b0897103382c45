// Many files at once: folders of the file server, patterns, and the names of states.
import { mkdir } from 'node:fs/promises';
import { matchesGlob } from '../../../base/util/fnmatch.ts';
import { pyRegexSearch } from '../../../base/util/pyregex.ts';
import { parseSaltUrl, saltUrl } from '../../../base/util/salt-url.ts';
import type { FetchOptions, FileClient } from '../../../extend/sdk/index.ts';
import { serverPath } from './url.ts';

/** Files fetched at the same time when there are many. */
const atOnce = 8;

type Patterns = string | readonly string[] | undefined;

/** Runs a few at a time; results stay in order. */
export async function inOrder<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
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

/** Copies a folder of the file server; the last part of its path is kept, those above it are not. */
export async function getFolder(
  client: FileClient,
  url: string,
  dest: string,
  options: FetchOptions,
): Promise<(string | false)[]> {
  const path = serverPath(url).replace(/\/+$/, '');
  const saltenv = parseSaltUrl(url).saltenv ?? options.saltenv;
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

/**
 * A file is included when it matches the first patterns, if there are any, and none of the others. `E@` begins an
 * expression.
 */
export function patternTest(include: Patterns, exclude: Patterns): (path: string) => boolean {
  const wanted = anyOf(include);
  const unwanted = anyOf(exclude);
  return (path) => (wanted?.(path) ?? true) && !unwanted?.(path);
}

function anyOf(patterns: Patterns): ((path: string) => boolean) | undefined {
  const tests = (typeof patterns === 'string' ? [patterns] : (patterns ?? [])).filter(Boolean).map(onePattern);
  return tests.length > 0 ? (path) => tests.some((test) => test(path)) : undefined;
}

function onePattern(pattern: string): (path: string) => boolean {
  if (!pattern.startsWith('E@')) return (path) => matchesGlob(path, pattern);
  const expression = pyRegexSearch(pattern.slice(2));
  return (path) => expression.test(path);
}

/** `app/init.sls` is `app`, `app/sub.sls` is `app.sub`. */
export function stateNames(files: readonly string[]): string[] {
  const names = files.flatMap((path) => {
    if (!path.endsWith('.sls')) return [];
    const name = path.replaceAll('/', '.');
    return [path.endsWith('/init.sls') ? name.slice(0, -9) : name.slice(0, -4)];
  });
  return [...new Set(names)].sort();
}
