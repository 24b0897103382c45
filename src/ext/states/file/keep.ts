// Files that are kept when a folder is cleaned: those that required states manage.

import { dictGet, isDict, type PlainDict, pyStr, type StateContext, type Value } from 'halite/sdk';
import { dirName, joinPath, normalPath, rmSync } from 'halite/sdk/fs';
import { isDir } from '../../shared/file/facts.ts';
import { walk } from '../../shared/file/folders.ts';
import { isIncluded } from '../shared/text.ts';
import { recurseTree } from './tree.ts';

/** `a/b` relative to a folder; both absolute. */
export function relativeTo(path: string, folder: string): string {
  const [from, to] = [normalPath(folder).split('/').filter(Boolean), normalPath(path).split('/').filter(Boolean)];
  let same = 0;
  while (same < from.length && same < to.length && from[same] === to[same]) same++;
  return [...from.slice(same).map(() => '..'), ...to.slice(same)].join('/') || '.';
}

const isBelow = (path: string, folder: string): boolean => !relativeTo(path, folder).startsWith('..');

function everythingBelow(folder: string): string[] {
  const found = [folder];
  for (const { root, folders, files } of walk(folder))
    found.push(...[...files, ...folders].map((entry) => joinPath(root, entry)));
  return found;
}

async function keptBy(chunk: Readonly<PlainDict>, folder: string, ctx: StateContext): Promise<string[]> {
  const path = pyStr(chunk['name'] ?? '');
  if (!isDir(path)) return [path];
  if (!isBelow(path, folder)) return [];
  if (chunk['fun'] === 'recurse') return [...(await recurseTree({ ...chunk, name: path } as never, ctx)).keep];
  return everythingBelow(path);
}

/** Paths managed by the states that `require` names. */
export async function keptFiles(folder: string, require: Value, ctx: StateContext): Promise<string[]> {
  const kept = new Set<string>();
  for (const item of Array.isArray(require) ? require : []) {
    const wanted = isDict(item) ? dictGet(item, 'file') : undefined;
    if (wanted === undefined) continue;
    for (const chunk of ctx.lowstate) {
      if (chunk['name'] !== wanted && chunk['__id__'] !== wanted) continue;
      for (const path of await keptBy(chunk, folder, ctx)) kept.add(path);
    }
  }
  return [...kept];
}

/** Paths to remove: all that are neither kept, nor parents of kept paths, nor excluded. */
export function unwanted(folder: string, kept: readonly string[], exclude: Value): string[] {
  const stays = new Set([folder]);
  for (const path of kept) {
    if (!path.startsWith('/')) continue;
    for (let at = normalPath(path); !stays.has(at); at = dirName(at)) stays.add(at);
  }
  const found: string[] = [];
  for (const { root, folders, files } of walk(folder)) {
    for (const entry of [...folders, ...files]) {
      const path = joinPath(root, entry);
      if (!stays.has(path) && isIncluded(relativeTo(path, folder), null, exclude)) found.push(path);
    }
  }
  return found;
}

/** Removes them; returns the removed paths without those below a removed folder. */
export function removeAll(paths: readonly string[]): string[] {
  const gone: string[] = [];
  for (const path of paths) {
    if (gone.some((above) => path.startsWith(`${above}/`))) continue;
    rmSync(path, { recursive: true, force: true });
    gone.push(path);
  }
  return gone;
}
