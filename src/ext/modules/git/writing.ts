// Functions of `git` that change something.

import { basename } from 'node:path';
import { fn, invocationError, newDict, p, pyStr, type Value } from 'halite/sdk';
import { existsSync, mkdirSync } from 'halite/sdk/fs';
import { withAuth } from '../../shared/git/auth-url.ts';
import { fetched } from './fetched.ts';
import { remotesOf } from './reading.ts';
import {
  encoding,
  expandPath,
  git,
  gitText,
  https,
  identityParam,
  ignore,
  options,
  saltenv,
  who,
  words,
} from './run.ts';

const cwd = p.string({ doc: 'the checkout' });
const tail = { ...who, ignore_retcode: ignore, output_encoding: encoding };
const remoteTail = { ...who, identity: identityParam, ignore_retcode: ignore, saltenv, output_encoding: encoding };

interface Call {
  readonly cwd: string;
  readonly user: Value;
  readonly git_opts: Value;
  readonly opts: Value;
  readonly identity?: Value;
  readonly saltenv?: string;
}
const at = (args: Call) => ({
  cwd: expandPath(args.cwd, args.user),
  user: args.user,
  identity: args.identity ?? null,
  saltenv: args.saltenv ?? 'base',
});
const command = (name: string, args: Call, ...more: string[]): string[] => [
  ...words(args.git_opts),
  name,
  ...words(args.opts),
  ...more,
];
const optional = (value: string | null): string[] => (value === null || value === '' ? [] : [pyStr(value)]);

const plainCommand = (name: string, doc: string, withIdentity: boolean) =>
  fn({
    doc,
    examples: [`salt myminion git.${name} /path/to/repo`],
    params: withIdentity ? { cwd, ...options, ...remoteTail } : { cwd, ...options, ...tail },
    run: (args, ctx) => gitText(command(name, args as unknown as Call), at(args as unknown as Call), ctx),
  });

export const writingFunctions = {
  add: fn({
    doc: 'Adds files to the index.',
    examples: ['salt myminion git.add /path/to/repo foo/bar.py'],
    params: { cwd, filename: p.string(), ...options, ...tail },
    run: (args, ctx) =>
      gitText(
        [
          ...words(args.git_opts),
          'add',
          '--verbose',
          ...words(args.opts).filter((word) => word !== '-v' && word !== '--verbose'),
          '--',
          args.filename,
        ],
        at(args),
        ctx,
      ),
  }),
  archive: fn({
    doc: 'Exports a revision as an archive.',
    examples: ['salt myminion git.archive /path/to/repo /path/to/archive.tar'],
    params: {
      cwd,
      output: p.string(),
      rev: p.string({ default: 'HEAD' }),
      prefix: p.string({ default: null, falsy: null }),
      git_opts: options.git_opts,
      ...tail,
      kwargs: p.kwargs({ doc: 'format' }),
    },
    async run(args, ctx) {
      const place = expandPath(args.cwd, args.user);
      const prefix = args.prefix === '' ? [] : ['--prefix', args.prefix ? args.prefix : `${basename(place)}/`];
      const format = args.kwargs['format'] ? ['--format', pyStr(args.kwargs['format'])] : [];
      await git(
        [
          ...words(args.git_opts),
          'archive',
          ...prefix,
          ...format,
          '--output',
          expandPath(args.output, args.user),
          args.rev,
        ],
        { cwd: place, user: args.user },
        ctx,
      );
      return true;
    },
  }),
  branch: fn({
    doc: 'Makes, renames or removes branches.',
    examples: ['salt myminion git.branch /path/to/repo mybranch'],
    params: { cwd, name: p.string({ default: null, falsy: null }), ...options, ...tail },
    async run(args, ctx) {
      await git(command('branch', args, ...optional(args.name)), at(args), ctx);
      return true;
    },
  }),
  checkout: fn({
    doc: 'Checks out a revision.',
    examples: ['salt myminion git.checkout /path/to/repo somebranch force=True'],
    params: {
      cwd,
      rev: p.string({ default: null, falsy: null }),
      force: p.bool({ default: false }),
      ...options,
      ...tail,
    },
    run(args, ctx) {
      const opts = words(args.opts);
      if (args.rev === null && !opts.includes('-b') && !opts.includes('-B'))
        throw invocationError("'rev' argument is required unless -b or -B in opts");
      return gitText(
        [...words(args.git_opts), 'checkout', ...(args.force ? ['--force'] : []), ...opts, ...optional(args.rev)],
        { ...at(args), merge: true },
        ctx,
      );
    },
  }),
  clone: fn({
    doc: 'Clones a repository.',
    examples: ['salt myminion git.clone /path/to/repo_parent_dir https://github.com/saltstack/salt.git'],
    params: {
      cwd,
      url: p.string({ default: null, falsy: null }),
      name: p.string({ default: null }),
      ...options,
      ...who,
      identity: identityParam,
      ...https,
      ignore_retcode: ignore,
      saltenv,
      output_encoding: encoding,
    },
    async run(args, ctx) {
      if (!args.url) throw invocationError("Missing 'url' argument");
      const target = expandPath(args.cwd, args.user);
      if (args.name !== null && !existsSync(target)) mkdirSync(target, { recursive: true });
      const url = withAuth(args.url, args.https_user, args.https_pass);
      const where = args.name === null ? { cwd: '/tmp', last: target } : { cwd: target, last: args.name };
      await git(
        [...words(args.git_opts), 'clone', ...words(args.opts), '--', url, where.last],
        { ...at(args), cwd: where.cwd },
        ctx,
      );
      return true;
    },
  }),
  commit: fn({
    doc: 'Commits what is in the index.',
    examples: ["salt myminion git.commit /path/to/repo 'The commit message'"],
    params: {
      cwd,
      message: p.string(),
      ...options,
      ...who,
      filename: p.string({ default: null, falsy: null }),
      ignore_retcode: ignore,
      output_encoding: encoding,
    },
    run: (args, ctx) =>
      gitText(
        [
          ...words(args.git_opts),
          'commit',
          '-m',
          args.message,
          ...words(args.opts),
          ...(args.filename ? ['--', args.filename] : []),
        ],
        at(args),
        ctx,
      ),
  }),
  discard_local_changes: fn({
    doc: 'Discards changes of files.',
    examples: ['salt myminion git.discard_local_changes /path/to/repo'],
    params: { cwd, path: p.string({ default: '.' }), ...tail },
    run: (args, ctx) =>
      gitText(
        ['checkout', '--', args.path],
        { cwd: expandPath(args.cwd, args.user), user: args.user, merge: true },
        ctx,
      ),
  }),
  fetch: fn({
    doc: 'Fetches from a remote; what changed.',
    examples: ['salt myminion git.fetch /path/to/repo upstream'],
    params: {
      cwd,
      remote: p.string({ default: null, falsy: null }),
      force: p.bool({ default: false }),
      refspecs: p.oneOf(['string', 'list'], { default: null }),
      ...options,
      ...remoteTail,
    },
    async run(args, ctx) {
      const refspecs = Array.isArray(args.refspecs)
        ? args.refspecs.map(pyStr)
        : args.refspecs === null
          ? []
          : args.refspecs.split(',');
      const opts = words(args.opts).filter((word) => word !== '-f' && word !== '--force');
      return fetched(
        await gitText(
          [
            ...words(args.git_opts),
            'fetch',
            ...(args.force ? ['--force'] : []),
            ...opts,
            ...optional(args.remote),
            ...refspecs,
          ],
          { ...at(args), merge: true },
          ctx,
        ),
      );
    },
  }),
  init: fn({
    doc: 'Creates a repository.',
    examples: ['salt myminion git.init /path/to/bare/repo.git bare=True'],
    params: {
      cwd,
      bare: p.bool({ default: false }),
      template: p.string({ default: null }),
      separate_git_dir: p.string({ default: null }),
      shared: p.oneOf(['int', 'bool', 'string'], { default: null }),
      ...options,
      ...tail,
    },
    run(args, ctx) {
      const shared =
        typeof args.shared === 'number'
          ? `0${args.shared}`
          : typeof args.shared === 'string'
            ? args.shared
            : pyStr(args.shared).toLowerCase();
      const own = [
        ...(args.bare ? ['--bare'] : []),
        ...(args.template === null ? [] : [`--template=${args.template}`]),
        ...(args.separate_git_dir === null ? [] : [`--separate-git-dir=${args.separate_git_dir}`]),
        ...(args.shared === null ? [] : [`--shared=${shared}`]),
      ];
      return gitText(
        [...words(args.git_opts), 'init', ...own, ...words(args.opts), expandPath(args.cwd, args.user)],
        { user: args.user },
        ctx,
      );
    },
  }),
  merge: fn({
    doc: 'Merges a revision.',
    examples: ['salt myminion git.merge /path/to/repo rev=upstream/foo'],
    params: {
      cwd,
      rev: p.string({ default: null, falsy: null }),
      ...options,
      ...who,
      identity: identityParam,
      ignore_retcode: ignore,
      output_encoding: encoding,
      kwargs: p.kwargs(),
    },
    run: (args, ctx) => gitText(command('merge', args, ...optional(args.rev)), at(args), ctx),
  }),
  pull: plainCommand('pull', 'Fetches and merges.', true),
  push: fn({
    doc: 'Sends commits to a remote.',
    examples: ['salt myminion git.push /path/to/repo upstream issue21:issue21'],
    params: {
      cwd,
      remote: p.string({ default: null, falsy: null }),
      ref: p.string({ default: null, falsy: null }),
      ...options,
      ...remoteTail,
      kwargs: p.kwargs(),
    },
    run: (args, ctx) => gitText(command('push', args, ...optional(args.remote), ...optional(args.ref)), at(args), ctx),
  }),
  rebase: fn({
    doc: 'Rebases commits.',
    examples: ['salt myminion git.rebase /path/to/repo master'],
    params: { cwd, rev: p.string({ default: 'master' }), ...options, ...tail },
    run(args, ctx) {
      if (words(args.opts).some((word) => word === '-i' || word === '--interactive'))
        throw invocationError('Interactive rebases are not supported');
      return gitText(command('rebase', args, ...words(args.rev)), at(args), ctx);
    },
  }),
  remote_set: fn({
    doc: 'Sets the addresses of a remote.',
    examples: ['salt myminion git.remote_set /path/to/repo git@github.com:user/repo.git'],
    params: {
      cwd,
      url: p.string(),
      remote: p.string({ default: 'origin' }),
      ...who,
      ...https,
      push_url: p.string({ default: null, falsy: null }),
      push_https_user: p.string({ default: null }),
      push_https_pass: p.string({ default: null }),
      ignore_retcode: ignore,
      output_encoding: encoding,
    },
    async run(args, ctx) {
      const place = { cwd: expandPath(args.cwd, args.user), user: args.user };
      if (args.remote in (await remotesOf(place.cwd, args.user, true, ctx)))
        await git(['remote', 'rm', args.remote], place, ctx);
      await git(['remote', 'add', args.remote, withAuth(args.url, args.https_user, args.https_pass)], place, ctx);
      if (args.push_url)
        await git(
          [
            'remote',
            'set-url',
            '--push',
            args.remote,
            withAuth(args.push_url, args.push_https_user, args.push_https_pass),
          ],
          place,
          ctx,
        );
      return (await remotesOf(place.cwd, args.user, true, ctx))[args.remote] ?? newDict();
    },
  }),
  reset: fn({
    doc: 'Sets the checkout to a revision.',
    examples: ["salt myminion git.reset /path/to/repo opts='--hard origin/master'"],
    params: { cwd, ...options, ...who, identity: identityParam, ignore_retcode: ignore, output_encoding: encoding },
    run: (args, ctx) => gitText(command('reset', args), at(args), ctx),
  }),
  rm: fn({
    doc: 'Removes files.',
    examples: ['salt myminion git.rm /path/to/repo foo/bar.py'],
    params: { cwd, filename: p.string(), ...options, ...tail },
    run: (args, ctx) => gitText(command('rm', args, '--', args.filename), at(args), ctx),
  }),
  stash: fn({
    doc: 'Stashes changes.',
    examples: ['salt myminion git.stash /path/to/repo'],
    params: { cwd, action: p.string({ default: 'save' }), ...options, ...tail },
    run: (args, ctx) => gitText([...words(args.git_opts), 'stash', args.action, ...words(args.opts)], at(args), ctx),
  }),
  submodule: fn({
    doc: 'Manages submodules.',
    examples: ["salt myminion git.submodule /path/to/repo update opts='--init'"],
    params: { cwd, command: p.string(), ...options, ...remoteTail, kwargs: p.kwargs() },
    run: (args, ctx) =>
      gitText([...words(args.git_opts), 'submodule', args.command, ...words(args.opts)], at(args), ctx),
  }),
  tag: fn({
    doc: 'Makes or removes a tag.',
    examples: ['salt myminion git.tag /path/to/repo v1.2'],
    params: {
      cwd,
      name: p.string(),
      ref: p.string({ default: 'HEAD' }),
      message: p.string({ default: null }),
      ...options,
      ...tail,
    },
    run(args, ctx) {
      const opts = words(args.opts).filter((word) => word !== '-a' && word !== '--annotate');
      if (opts.some((word) => word === '-m' || word.includes('--message')))
        throw invocationError('Tag messages must be passed in the "message" argument');
      const removes = opts.includes('-d') || opts.includes('--delete');
      const message = args.message === null ? [] : ['-a', '-m', args.message];
      return gitText(
        [...words(args.git_opts), 'tag', ...message, ...opts, args.name, ...(removes ? [] : [args.ref])],
        { ...at(args), merge: true },
        ctx,
      );
    },
  }),
};
