// `file.recurse`: a folder of the file server with everything in it.

import {
  type ArgsOf,
  newDict,
  type PlainDict,
  p,
  type StateContext,
  type StateResult,
  state,
  type Value,
  withForecast,
} from 'halite/sdk';
import { baseName, expandUser, joinPath, normalizeMode, rmSync } from 'halite/sdk/fs';
import { parseSaltUrl } from 'halite/sdk/text';
import { accountProblem, exists, isDir, ownerArgument } from '../../shared/file/facts.ts';
import { makeFolder } from '../../shared/file/folders.ts';
import { chooseSource } from '../../shared/file/source.ts';
import { textList } from '../shared/text.ts';
import { directory } from './directory.ts';
import { failureText } from './errors.ts';
import { keptFiles, removeAll, unwanted } from './keep.ts';
import { symlink } from './links.ts';
import { managed } from './managed.ts';
import * as common from './params.ts';
import { recurseTree, type Tree } from './tree.ts';

const params = {
  name: common.name,
  source: p.oneOf(['string', 'list'], { doc: 'folder of the file server: `salt://…`' }),
  keep_source: p.bool({ default: true, doc: 'keep fetched files in the minion cache' }),
  clean: p.bool({ default: false, doc: 'remove what neither the source nor a required state manages' }),
  require: p.oneOf(['list', 'dict', 'string'], {
    default: null,
    doc: 'states whose files are kept when the folder is cleaned',
  }),
  user: common.user,
  group: common.group,
  dir_mode: p.scalar({ default: null, doc: 'permission bits of folders' }),
  file_mode: p.scalar({ default: null, doc: 'permission bits of files, or `keep`' }),
  sym_mode: p.scalar({ default: null, doc: 'permission bits of parent folders of links' }),
  template: common.template,
  context: common.context,
  replace: p.bool({ default: true, doc: 'false: keep existing files' }),
  defaults: common.defaults,
  include_empty: p.bool({ default: false, doc: 'also empty folders' }),
  backup: common.backup,
  include_pat: p.scalar({ default: null, doc: 'glob, or expression after `E@`, of names to include' }),
  exclude_pat: p.scalar({ default: null, doc: 'glob, or expression after `E@`, of names to exclude' }),
  maxdepth: p.scalar({ default: null, doc: 'how many levels down' }),
  keep_symlinks: p.bool({ default: false, doc: 'links stay links' }),
  force_symlinks: p.bool({ default: false, doc: 'links replace files of their name' }),
  win_owner: common.windowsParams.win_owner,
  win_perms: common.windowsParams.win_perms,
  win_deny_perms: common.windowsParams.win_deny_perms,
  win_inheritance: common.windowsParams.win_inheritance,
  kwargs: common.kwargs,
};
type Args = ArgsOf<typeof params>;

/** The results of the parts of the tree, merged as in Salt. */
class Report {
  result: boolean | null = true;
  readonly changes: PlainDict = newDict();
  readonly comments = new Map<string, string[]>();

  add(path: string, part: { result: boolean | null; comment: string | string[]; changes: Value }): void {
    if (part.result === false || this.result === true) this.result = part.result;
    if (part.result !== true && part.comment.length > 0) this.comment(path, part.comment);
    if (Object.keys(part.changes as PlainDict).length > 0) this.changes[path] = part.changes;
  }
  comment(path: string, text: string | string[]): void {
    this.comments.set(path, [...(this.comments.get(path) ?? []), ...(Array.isArray(text) ? text : [text])]);
  }
  text(): string {
    const parts = [...this.comments].map(([path, texts]) => `\n#### ${path} ####\n${texts.join('\n')}`);
    return parts.join('\n').trim();
  }
}

type Given = Readonly<Record<string, Value>>;

/** Calls a function of this family with some arguments, the others as if not given. */
async function part(fn: typeof managed, given: Given, kwargs: PlainDict, ctx: StateContext): Promise<StateResult> {
  const all = newDict();
  for (const [key, param] of Object.entries(fn.params)) all[key] = given[key] ?? param.default;
  if ('kwargs' in fn.params) (all as Record<string, unknown>)['kwargs'] = kwargs;
  return (await fn.run(all as never, ctx)) as unknown as StateResult;
}

/** Removes a path of the wrong kind if `clean` is set. True when nothing remains to be done. */
function replaceKind(
  path: string,
  wrong: boolean,
  say: { test: string; done: string },
  report: Report,
  ctx: StateContext,
): boolean {
  if (!wrong) return false;
  // What stands in the way of a file is told with that file, as one of the results the report collects.
  if (ctx.test) {
    report.add(path, { result: null, comment: say.test, changes: newDict() });
    return true;
  }
  rmSync(path, { recursive: true, force: true });
  report.add(path, { result: true, comment: '', changes: newDict([['diff', say.done]]) });
  return false;
}

async function manageTree(
  tree: Tree,
  name: string,
  user: Value,
  args: Args,
  report: Report,
  ctx: StateContext,
): Promise<void> {
  const { group, clean } = args;
  const none = newDict();
  for (const [relative, target] of tree.links) {
    const path = joinPath(name, relative);
    const given = { name: path, target, makedirs: true, force: args.force_symlinks, user, group, mode: args.sym_mode };
    report.add(path, await part(symlink, given, none, ctx));
  }
  // Parents first, so that each new folder is listed in the changes.
  for (const path of [...tree.folders].sort()) {
    if (baseName(path) === '..') continue;
    const say = { test: `Replacing ${path} with a directory`, done: 'Replaced file with a directory' };
    if (replaceKind(path, clean && exists(path) && !isDir(path), say, report, ctx)) continue;
    report.add(
      path,
      await part(
        directory,
        { name: path, user, group, recurse: [], dir_mode: normalizeMode(args.dir_mode), makedirs: true },
        none,
        ctx,
      ),
    );
  }
  const { mode: _mode, makedirs: _makedirs, ...passed } = args.kwargs;
  const mode =
    typeof args.file_mode === 'string' && args.file_mode.toLowerCase() === 'keep'
      ? 'keep'
      : normalizeMode(args.file_mode);
  const { keep_source, template, replace, context, defaults, backup } = args;
  for (const [path, source] of tree.files) {
    const say = { test: `Replacing directory ${path} with a file`, done: 'Replaced directory with a new file' };
    if (replaceKind(path, clean && replace && isDir(path), say, report, ctx)) continue;
    const given = {
      name: path,
      source,
      keep_source,
      user,
      group,
      mode,
      template,
      makedirs: true,
      replace,
      context,
      defaults,
      backup,
    };
    const own = Object.fromEntries(Object.entries(passed).filter(([key]) => key in managed.params && key !== 'name'));
    const rest = newDict(Object.entries(passed).filter(([key]) => !(key in managed.params)));
    report.add(path, await part(managed, { ...own, ...given }, rest, ctx));
  }
}

async function sourceProblem(source: string, ctx: StateContext): Promise<string | undefined> {
  const { path, saltenv = ctx.saltenv } = parseSaltUrl(source);
  const folders = await ctx.files.list('dirs', saltenv, path);
  return folders.includes(path)
    ? undefined
    : `The directory '${path}' does not exist on the salt fileserver in saltenv '${saltenv}'`;
}

async function finish(name: string, tree: Tree, report: Report, args: Args, ctx: StateContext): Promise<StateResult> {
  if (args.clean) {
    const kept = [...tree.keep, ...(await keptFiles(name, args.require, ctx))];
    const going = unwanted(name, kept, args.exclude_pat);
    await withForecast(
      ctx,
      () => {
        if (going.length === 0) return;
        if (report.result) report.result = null;
        report.comment('removed', going);
      },
      () => {
        const removed = removeAll(going);
        if (removed.length > 0) report.changes['removed'] = removed;
      },
    );
  }
  const comment = report.text() || `Recursively updated ${name}`;
  const clean = Object.keys(report.changes).length === 0 && report.result === true;
  return ctx.result({
    name,
    changes: report.changes,
    result: report.result,
    comment: clean ? `The directory ${name} is in the correct state` : comment,
  });
}

export const recurse = state({
  doc: 'A folder of the file server with all its files and folders.',
  examples: ['/etc/nginx:\n  file.recurse:\n    - source: salt://nginx/files\n    - clean: true'],
  params,
  async run(args, ctx) {
    const name = expandUser(args.name);
    const user = ownerArgument(args.user, args.kwargs, ctx);
    const fail = (problem: string): StateResult => ctx.fail(problem, { name });
    if (args.kwargs['mode'] !== undefined)
      return fail("'mode' is not allowed in 'file.recurse'. Please use 'file_mode' and 'dir_mode'.");
    const account = accountProblem(user, args.group, ctx);
    if (account) return fail(account);
    if (!name.startsWith('/')) return fail(`Specified file ${name} is not an absolute path`);
    const sources = (textList(args.source) ?? []).map((source) => source.replace(/\/+$/, ''));
    const foreign = sources.find((source) => !source.startsWith('salt://'));
    if (foreign !== undefined) return fail(`Invalid source '${foreign}' (must be a salt:// URI)`);
    let source: string;
    try {
      source = (await chooseSource(sources, '', ctx)).source;
    } catch (error) {
      return fail(`Recurse failed: ${failureText(error)}`);
    }
    const problem = await sourceProblem(source, ctx);
    if (problem) return fail(problem);
    if (exists(name) && !isDir(name)) return fail(`The path ${name} exists and is not a directory`);
    // Under test files are compared with a folder that is not there.
    if (!isDir(name) && !ctx.test)
      await makeFolder(name, { user, group: args.group, mode: normalizeMode(args.dir_mode) }, ctx);
    const tree = await recurseTree({ ...args, name, source }, ctx);
    const report = new Report();
    await manageTree(tree, name, user, args, report, ctx);
    return finish(name, tree, report, args, ctx);
  },
});
