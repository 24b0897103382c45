// Functions of `git` that only read.

import { join } from 'node:path';
import {
  commandError,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { readFileSync } from 'halite/sdk/fs';
import { withAuth } from '../../shared/git/auth-url.ts';
import {
  encoding,
  expandPath,
  git,
  gitText,
  https,
  identityParam,
  ignore,
  lineList,
  options,
  redacted,
  saltenv,
  who,
  words,
} from './run.ts';

const cwd = p.string({ doc: 'the checkout' });
const basic = { ...who, ignore_retcode: ignore, output_encoding: encoding };

/** `<sha> <ref>` lines. */
function refs(text: string): PlainDict {
  return newDict(
    lineList(text).flatMap((line): [string, Value][] => {
      const match = /^(\S+)\s+(.+)$/.exec(line.trim());
      return match ? [[match[2] as string, match[1] as string]] : [];
    }),
  );
}

export async function remotesOf(
  place: string,
  user: string | null,
  redact: boolean,
  ctx: ModuleContext,
): Promise<PlainDict> {
  const found = newDict();
  for (const line of lineList(await gitText(['remote', '--verbose'], { cwd: place, user }, ctx))) {
    const match = /^(\S+)\s+(.+?)\s+\((fetch|push)\)/i.exec(line);
    if (!match) continue;
    const [, name = '', url = '', action = ''] = match;
    found[name] = newDict([
      ...Object.entries((found[name] as PlainDict | undefined) ?? {}),
      [action.toLowerCase(), redact ? redacted(url) : url],
    ]);
  }
  return found;
}

async function isWorktree(place: string, user: string | null, ctx: ModuleContext): Promise<boolean> {
  const top = await git(['rev-parse', '--show-toplevel'], { cwd: place, user, lenient: true }, ctx).catch(
    () => undefined,
  );
  if (top?.retcode !== 0) {
    ctx.setRetcode(top?.retcode ?? 1);
    return false;
  }
  try {
    return /^gitdir:\s+\//.test(readFileSync(join(top.stdout, '.git'), 'utf8'));
  } catch {
    return false;
  }
}

interface MergeBase {
  readonly refs: Value;
  readonly octopus: boolean;
  readonly is_ancestor: boolean;
  readonly independent: boolean;
  readonly fork_point: Value;
  readonly all: boolean;
}

/** Options and references of merge-base, checked. */
function mergeBaseWords(args: MergeBase): string[] {
  const kinds = [args.octopus, args.independent, args.is_ancestor, Boolean(args.fork_point)].filter(Boolean).length;
  if (kinds > 1)
    throw invocationError("Only one of 'octopus', 'independent', 'is_ancestor', and 'fork_point' is permitted");
  if (args.all && (args.independent || args.is_ancestor || args.fork_point)) {
    throw invocationError("The 'all' argument is not compatible with 'independent', 'is_ancestor', or 'fork_point'");
  }
  const list = Array.isArray(args.refs)
    ? args.refs.map(pyStr)
    : args.refs === null
      ? []
      : pyStr(args.refs)
          .split(',')
          .map((item) => item.trim());
  if (args.is_ancestor && list.length !== 2)
    throw invocationError("Two refs/commits are required if 'is_ancestor' is True");
  const kind = args.octopus
    ? ['--octopus']
    : args.is_ancestor
      ? ['--is-ancestor']
      : args.independent
        ? ['--independent']
        : args.fork_point
          ? ['--fork-point', pyStr(args.fork_point)]
          : [];
  return [...(args.all ? ['--all'] : []), ...kind, ...(list.length === 0 && args.fork_point ? ['HEAD'] : list)];
}

const at = (args: { cwd: string; user: Value; output_encoding: Value }) => ({
  cwd: expandPath(args.cwd, args.user),
  user: args.user,
  output_encoding: args.output_encoding,
});

export const readingFunctions = {
  version: fn({
    doc: 'The version of git.',
    examples: ['salt myminion git.version'],
    params: { versioninfo: p.bool({ default: false, doc: 'as list of numbers' }) },
    async run(args, ctx) {
      const { stdout } = await ctx.exec('git', ['--version']);
      const version = stdout.split('(')[0]?.trim().split(/\s+/).at(-1) ?? 'unknown';
      return args.versioninfo ? version.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)) : version;
    },
  }),
  current_branch: fn({
    doc: 'The branch that is checked out.',
    examples: ['salt myminion git.current_branch /path/to/repo'],
    params: { cwd, ...basic },
    run: (args, ctx) => gitText(['rev-parse', '--abbrev-ref', 'HEAD'], at(args), ctx),
  }),
  revision: fn({
    doc: 'The SHA1 of a revision.',
    examples: ['salt myminion git.revision /path/to/repo mybranch'],
    params: { cwd, rev: p.string({ default: 'HEAD' }), short: p.bool({ default: false }), ...basic },
    run: (args, ctx) => gitText(['rev-parse', ...(args.short ? ['--short'] : []), args.rev], at(args), ctx),
  }),
  rev_parse: fn({
    doc: 'The output of rev-parse.',
    examples: ['salt myminion git.rev_parse /path/to/repo HEAD'],
    params: { cwd, rev: p.string({ default: null }), ...options, ...basic },
    run: (args, ctx) =>
      gitText(
        [...words(args.git_opts), 'rev-parse', ...words(args.opts), ...(args.rev === null ? [] : [args.rev])],
        at(args),
        ctx,
      ),
  }),
  describe: fn({
    doc: 'A revision by the nearest tag.',
    examples: ['salt myminion git.describe /path/to/repo develop'],
    params: { cwd, rev: p.string({ default: 'HEAD' }), ...basic },
    run: (args, ctx) => gitText(['describe', '--always', args.rev], at(args), ctx),
  }),
  diff: fn({
    doc: 'The differences between revisions, the index and files.',
    examples: ['salt myminion git.diff /path/to/repo branch1 branch2'],
    params: {
      cwd,
      item1: p.string({ default: null }),
      item2: p.string({ default: null }),
      ...options,
      ...who,
      no_index: p.bool({ default: false }),
      cached: p.bool({ default: false }),
      paths: p.oneOf(['string', 'list'], { default: null }),
      output_encoding: encoding,
    },
    run(args, ctx) {
      if (args.no_index && args.cached)
        throw commandError("The 'no_index' and 'cached' options cannot be used together");
      const items = [args.item1, args.item2].filter(Boolean).map((item) => pyStr(item as Value));
      const shown = args.no_index ? ['--no-index'] : args.cached ? ['--cached', ...items.slice(0, 1)] : items;
      const paths = Array.isArray(args.paths) ? args.paths.map(pyStr) : args.paths ? args.paths.split(',') : [];
      const command = [
        ...words(args.git_opts),
        'diff',
        ...words(args.opts),
        ...shown,
        ...(paths.length > 0 ? ['--', ...paths] : []),
      ];
      return gitText(command, { cwd: args.cwd, user: args.user, merge: true, lenient: args.no_index }, ctx);
    },
  }),
  is_worktree: fn({
    doc: 'Whether a folder is a linked worktree.',
    examples: ['salt myminion git.is_worktree /path/to/repo'],
    params: { cwd, ...who, output_encoding: encoding },
    run: (args, ctx) => isWorktree(expandPath(args.cwd, args.user), args.user, ctx),
  }),
  list_branches: fn({
    doc: 'The branches.',
    examples: ['salt myminion git.list_branches /path/to/repo'],
    params: { cwd, remote: p.bool({ default: false }), ...basic },
    run: async (args, ctx) =>
      lineList(
        await gitText(
          ['for-each-ref', '--format', '%(refname:short)', `refs/${args.remote ? 'remotes' : 'heads'}/`],
          at(args),
          ctx,
        ),
      ),
  }),
  list_tags: fn({
    doc: 'The tags.',
    examples: ['salt myminion git.list_tags /path/to/repo'],
    params: { cwd, ...basic },
    run: async (args, ctx) =>
      lineList(await gitText(['for-each-ref', '--format', '%(refname:short)', 'refs/tags/'], at(args), ctx)),
  }),
  ls_remote: fn({
    doc: 'The references of a remote.',
    examples: ['salt myminion git.ls_remote /path/to/repo origin master'],
    params: {
      cwd: p.string({ default: null }),
      remote: p.string({ default: 'origin' }),
      ref: p.string({ default: null, falsy: null }),
      ...options,
      ...who,
      identity: identityParam,
      ...https,
      ignore_retcode: ignore,
      output_encoding: encoding,
      saltenv,
    },
    async run(args, ctx) {
      const place = args.cwd === null ? null : expandPath(args.cwd, args.user);
      const command = [
        ...words(args.git_opts),
        'ls-remote',
        ...words(args.opts),
        withAuth(args.remote, args.https_user, args.https_pass),
        ...(args.ref ? [args.ref] : []),
      ];
      return refs(
        await gitText(command, { cwd: place, user: args.user, identity: args.identity, saltenv: args.saltenv }, ctx),
      );
    },
  }),
  remote_refs: fn({
    doc: 'The references of a repository by its address.',
    examples: ['salt myminion git.remote_refs https://github.com/saltstack/salt.git'],
    params: {
      url: p.string(),
      heads: p.bool({ default: false }),
      tags: p.bool({ default: false }),
      ...who,
      identity: identityParam,
      ...https,
      ignore_retcode: ignore,
      output_encoding: encoding,
      saltenv,
      kwargs: p.kwargs({ doc: 'filter' }),
    },
    async run(args, ctx) {
      const filter = args.kwargs['filter'];
      const command = [
        'ls-remote',
        ...(args.heads ? ['--heads'] : []),
        ...(args.tags ? ['--tags'] : []),
        withAuth(args.url, args.https_user, args.https_pass),
        ...(filter ? [pyStr(filter)] : []),
      ];
      return refs(await gitText(command, { user: args.user, identity: args.identity, saltenv: args.saltenv }, ctx));
    },
  }),
  remotes: fn({
    doc: 'The remotes with their addresses.',
    examples: ['salt myminion git.remotes /path/to/repo'],
    params: { cwd, ...who, redact_auth: p.bool({ default: true }), ignore_retcode: ignore, output_encoding: encoding },
    run: (args, ctx) => remotesOf(expandPath(args.cwd, args.user), args.user, args.redact_auth, ctx),
  }),
  remote_get: fn({
    doc: 'The addresses of a remote.',
    examples: ['salt myminion git.remote_get /path/to/repo upstream'],
    params: {
      cwd,
      remote: p.string({ default: 'origin' }),
      ...who,
      redact_auth: p.bool({ default: true }),
      ignore_retcode: ignore,
      output_encoding: encoding,
    },
    async run(args, ctx) {
      const place = expandPath(args.cwd, args.user);
      const found = (await remotesOf(place, args.user, args.redact_auth, ctx))[args.remote];
      if (found === undefined)
        throw commandError(`Remote '${args.remote}' not present in git checkout located at ${place}`);
      return found;
    },
  }),
  merge_base: fn({
    doc: 'The common ancestor of commits, or whether one is an ancestor of the other.',
    examples: ['salt myminion git.merge_base /path/to/repo HEAD upstream/mybranch'],
    params: {
      cwd,
      refs: p.oneOf(['string', 'list'], { default: null }),
      octopus: p.bool({ default: false }),
      is_ancestor: p.bool({ default: false }),
      independent: p.bool({ default: false }),
      fork_point: p.string({ default: null, falsy: null }),
      ...options,
      ...basic,
      kwargs: p.kwargs({ doc: 'all' }),
    },
    async run(args, ctx): Promise<Value> {
      const all = Boolean(args.kwargs['all']);
      const command = [...words(args.git_opts), 'merge-base', ...words(args.opts), ...mergeBaseWords({ ...args, all })];
      const result = await git(command, { ...at(args), lenient: args.is_ancestor }, ctx);
      if (args.is_ancestor) return result.retcode === 0;
      return all ? lineList(result.stdout) : (lineList(result.stdout)[0] ?? '');
    },
  }),
  merge_tree: fn({
    doc: 'The result of a merge, without making it.',
    examples: ['salt myminion git.merge_tree /path/to/repo HEAD upstream/dev'],
    params: { cwd, ref1: p.string(), ref2: p.string(), base: p.string({ default: null }), ...basic },
    async run(args, ctx) {
      const base = args.base ?? (await gitText(['merge-base', args.ref1, args.ref2], at(args), ctx));
      return gitText(['merge-tree', base, args.ref1, args.ref2], at(args), ctx);
    },
  }),
  status: fn({
    doc: 'Changed files: modified, new, deleted, untracked.',
    examples: ['salt myminion git.status /path/to/repo'],
    params: { cwd, ...basic },
    async run(args, ctx) {
      const names: Readonly<Record<string, string>> = { M: 'modified', A: 'new', D: 'deleted', '??': 'untracked' };
      const found = newDict();
      for (const row of (await gitText(['status', '-z', '--porcelain'], at(args), ctx)).split('\0')) {
        const match = /^\s*(\S+)\s+([\s\S]+)$/.exec(row);
        if (!match) continue;
        const kind = names[match[1] as string] ?? (match[1] as string);
        found[kind] = [...((found[kind] as Value[] | undefined) ?? []), match[2] as string];
      }
      return found;
    },
  }),
  symbolic_ref: fn({
    doc: 'The target of a symbolic reference.',
    examples: ['salt myminion git.symbolic_ref /path/to/repo HEAD'],
    params: { cwd, ref: p.string(), value: p.string({ default: null, falsy: null }), ...options, ...basic },
    run(args, ctx) {
      const opts = words(args.opts);
      if (args.value !== null && opts.some((word) => word === '-d' || word === '--delete')) {
        throw invocationError('Value cannot be set for symbolic ref if -d/--delete is included in opts');
      }
      return gitText(
        [...words(args.git_opts), 'symbolic-ref', ...opts, args.ref, ...(args.value ? [args.value] : [])],
        at(args),
        ctx,
      );
    },
  }),
};
