// External pillar `file_tree`: folders become maps and files become values, by minion and nodegroup.

import { isAbsolute, join, normalize } from 'node:path';
import {
  type ArgsOf,
  type Dict,
  definePillar,
  dictGet,
  dictOf,
  isDict,
  newDict,
  type PillarContext,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { mergeRecurse } from 'halite/sdk/data';
import { readdir, readFile, realpath, stat } from 'halite/sdk/fs';
import { matchesGlob } from 'halite/sdk/text';

type Settings = ArgsOf<typeof settingsParams>;

/** A folder named after a minion's id must really be below the root. */
const isName = (name: string): boolean => name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);

/** `trail` are the real parent folders: a link back to one of them would be followed for ever. */
async function readTree(
  folder: string,
  prefix: string,
  settings: Settings,
  ctx: PillarContext,
  trail: readonly string[] = [],
): Promise<Dict> {
  const here = await realpath(folder);
  const folders: [Value, Value][] = [];
  const files: [Value, Value][] = [];
  for (const entry of (await readdir(folder, { withFileTypes: true })).sort(byName)) {
    const path = join(folder, entry.name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory()) {
      // A link to a folder is an empty map unless links are followed.
      const follow =
        !entry.isSymbolicLink() || (settings.follow_dir_links && ![...trail, here].includes(await realpath(path)));
      const below = prefix === '.' ? entry.name : `${prefix}/${entry.name}`;
      folders.push([entry.name, follow ? await readTree(path, below, settings, ctx, [...trail, here]) : newDict()]);
    } else if (found?.isFile()) {
      // Salt: a pattern for a file at the top begins with "./".
      const value = await readValue(path, `${prefix}/${entry.name}`, settings, ctx);
      if (value !== undefined) files.push([entry.name, value]);
    } else ctx.log.error(`file_tree: ${path}: not a regular file`);
  }
  return dictOf([...folders, ...files]);
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);

async function readValue(
  path: string,
  name: string,
  settings: Settings,
  ctx: PillarContext,
): Promise<Value | undefined> {
  const bytes = await readFile(path).catch((error: Error) => {
    ctx.log.error(`file_tree: Error reading ${path}: ${error.message}`);
    return undefined;
  });
  if (bytes === undefined) return undefined;
  const cut = bytes.at(-1) === 10 && !keepsNewline(name, settings.keep_newline);
  const content = cut ? bytes.subarray(0, -1) : bytes;
  return settings.template ? renderValue(content.toString('utf8'), settings, ctx) : new Uint8Array(content);
}

function keepsNewline(name: string, keep: Value): boolean {
  if (typeof keep === 'boolean') return keep;
  return Array.isArray(keep) && keep.some((pattern) => matchesGlob(name, pyStr(pattern)));
}

/** Renders with the renderers of the file's first line, or the default ones, if they are allowed. */
async function renderValue(text: string, settings: Settings, ctx: PillarContext): Promise<Value> {
  const shebang = /^#!(?!\/)([^\r\n]*)/.exec(text)?.[1];
  const asked = shebang ?? settings.render_default;
  if (asked === null || text.trim() === '') return newDict();
  const { renderer_whitelist: allowed, renderer_blacklist: forbidden } = settings;
  const kept = asked.split('|').filter((step) => {
    const name = step.trim().split(' ', 1)[0]!;
    return !(allowed?.length && !allowed.includes(name)) && !forbidden?.includes(name);
  });
  return kept.length === 0 ? newDict() : ctx.render(text, { pipe: kept.join('|') });
}

/** Relative folders are looked for in the pillar roots of the pillar environment. */
function rootFolders(root: string, ctx: PillarContext): string[] {
  if (isAbsolute(root)) return [root];
  if (!ctx.pillarenv) {
    ctx.log.error('file_tree: root_dir is relative but pillarenv is not set');
    return [];
  }
  const roots = ctx.opts['pillar_roots'];
  const listed = roots !== undefined && isDict(roots) ? dictGet(roots, ctx.pillarenv) : undefined;
  if (!Array.isArray(listed)) {
    ctx.log.error(`file_tree: root_dir is relative but no pillar_roots are specified for pillarenv ${ctx.pillarenv}`);
    return [];
  }
  const folders = listed.map((folder) => normalize(join(pyStr(folder), root)));
  return folders.filter((folder, at) => folder !== folders[at - 1]);
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

async function fromRoot(root: string, settings: Settings, ctx: PillarContext): Promise<Dict> {
  if (!(await isFolder(root))) {
    ctx.log.error(`file_tree: root_dir ${root} does not exist or is not a directory`);
    return newDict();
  }
  let found: Dict = newDict();
  const groups = ctx.opts['nodegroups'];
  const names = await readdir(join(root, 'nodegroups')).catch(() => []);
  for (const name of groups !== undefined && isDict(groups) ? names.sort() : []) {
    if (dictGet(groups as PlainDict, name) === undefined || !ctx.match(name, 'nodegroup')) continue;
    found = mergeRecurse(found, await readTree(join(root, 'nodegroups', name), '.', settings, ctx));
  }
  const own = join(root, 'hosts', ctx.minionId);
  if (!isName(ctx.minionId) || !(await isFolder(own))) return found;
  return mergeRecurse(found, await readTree(own, '.', settings, ctx));
}

const settingsParams = {
  root_dir: p.path({
    default: null,
    doc: 'the folder; a relative one is searched in the pillar roots of pillarenv',
  }),
  follow_dir_links: p.bool({ default: false }),
  debug: p.bool({ default: false, doc: 'kept for compatibility' }),
  keep_newline: p.oneOf(['bool', 'list', 'string'], {
    default: false,
    doc: 'keep the last line break: true, false, or globs of files',
  }),
  render_default: p.string({ default: null, doc: 'renderers for files without a #! line' }),
  renderer_blacklist: p.list({ default: null }),
  renderer_whitelist: p.list({ default: null }),
  template: p.bool({ default: false, doc: 'render the files' }),
};

export default definePillar({
  name: 'file_tree',
  doc: 'Files below root_dir/hosts/<minion id> and root_dir/nodegroups/<group> as values; folders are maps.',
  params: settingsParams,
  async compile(args, ctx): Promise<Dict> {
    if (!args.root_dir) {
      ctx.log.error('file_tree: no root_dir specified');
      return newDict();
    }
    if (typeof args.keep_newline !== 'boolean' && !Array.isArray(args.keep_newline)) {
      ctx.log.error('file_tree: keep_newline must be either True/False or a list of file globs');
      return newDict();
    }
    let found: Dict = newDict();
    for (const root of rootFolders(args.root_dir, ctx)) found = mergeRecurse(found, await fromRoot(root, args, ctx));
    return found;
  },
});
