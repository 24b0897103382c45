// The content that `file.recurse` manages: files, folders and links below a folder of the file server.
import { isDict, type PlainDict, pyStr, type StateContext, type Value } from 'halite/sdk';
import { dirName, joinPath, normalPath } from 'halite/sdk/fs';
import { parseSaltUrl, saltUrl } from 'halite/sdk/text';
import { isIncluded } from '../shared/text.ts';

export interface TreeRequest {
  readonly name: string;
  readonly source: Value;
  readonly keep_symlinks?: Value;
  readonly include_pat?: Value;
  readonly exclude_pat?: Value;
  readonly maxdepth?: Value;
  readonly include_empty?: Value;
}

export interface Tree {
  /** Destination → source. */
  readonly files: ReadonlyMap<string, string>;
  readonly folders: ReadonlySet<string>;
  /** Relative path → target. */
  readonly links: ReadonlyMap<string, string>;
  readonly keep: ReadonlySet<string>;
}

/** The path relative to the source; undefined when it is outside, too deep or excluded. */
function below(path: string, folder: string, request: TreeRequest): string | undefined {
  if (!path.startsWith(folder)) return undefined;
  const relative = normalPath(path.slice(folder.length) || '.');
  if (`/${relative}/`.includes('/../')) return undefined;
  const depth = typeof request.maxdepth === 'number' ? request.maxdepth : undefined;
  if (depth !== undefined && relative.split('/').length - 1 > depth) return undefined;
  return isIncluded(relative, request.include_pat ?? null, request.exclude_pat ?? null) ? relative : undefined;
}

export async function recurseTree(request: TreeRequest, ctx: StateContext): Promise<Tree> {
  const { path, saltenv } = parseSaltUrl(
    pyStr(Array.isArray(request.source) ? (request.source[0] ?? '') : request.source),
  );
  const env = saltenv ?? ctx.saltenv;
  const folder = path.endsWith('/') ? path : `${path}/`;
  const client = ctx.files;
  const [files, folders, links, keep] = [
    new Map<string, string>(),
    new Set<string>(),
    new Map<string, string>(),
    new Set<string>(),
  ];
  const symlinks: PlainDict = request.keep_symlinks ? await client.symlinks(env, folder) : {};
  for (const [link, target] of isDict(symlinks) ? Object.entries(symlinks) : []) {
    const relative = below(link, folder, request);
    if (relative === undefined) continue;
    links.set(relative, pyStr(target));
    keep.add(joinPath(request.name, relative));
  }
  const behindLink = (file: string): boolean => Object.keys(symlinks).some((link) => file.startsWith(`${link}/`));
  for (const file of await client.list('files', env, folder)) {
    const relative = file.trim() === '' || behindLink(file) ? undefined : below(file, folder, request);
    if (relative === undefined) continue;
    const target = joinPath(request.name, relative);
    if (!keep.has(dirName(target))) folders.add(dirName(target));
    keep.add(target);
    // A path that is managed as a link is not managed as a file.
    if (!links.has(relative)) files.set(target, saltUrl(file, env));
  }
  for (const found of request.include_empty ? await client.list('dirs', env, folder) : []) {
    const relative = behindLink(found) ? undefined : below(found, folder, request);
    if (relative === undefined) continue;
    folders.add(joinPath(request.name, relative));
    keep.add(joinPath(request.name, relative));
  }
  return { files, folders, links, keep };
}
