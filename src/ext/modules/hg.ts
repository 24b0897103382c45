// Execution module `hg`: repositories of Mercurial.
import {
  commandError,
  defineModule,
  fn,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { command, complaint } from './shared/command.ts';

const cwd = p.string({ doc: 'folder of the repository' });
const rev = p.string({ default: 'tip', doc: 'the revision' });
const user = p.string({ default: null, doc: 'run as this user' });
const opts = p.string({ default: null, falsy: null, doc: 'further options, in one text' });
const identity = p.string({ default: null, falsy: null, doc: 'private key for SSH' });

const ssh = (key: string | null): string[] => (key ? ['--ssh', `ssh -i ${pyStr(key)}`] : []);
const optionWords = (given: Value): string[] => (given ? words(pyStr(given)) : []);

/** The output of hg; throws its error message on failure. */
async function hg(
  argv: readonly string[],
  runas: string | null,
  folder: string | null,
  ctx: ModuleContext,
): Promise<string> {
  const done = await command(ctx, ['hg', ...argv], { cwd: folder, runas });
  if (done.retcode !== 0) throw commandError(`Hg command failed: ${complaint(done)}`);
  return done.stdout;
}

async function revision(
  folder: string,
  which: string,
  short: boolean,
  runas: string | null,
  ctx: ModuleContext,
): Promise<string> {
  const argv = ['hg', 'id', '-i', ...(short ? [] : ['--debug']), '-r', pyStr(which)];
  const done = await command(ctx, argv, { cwd: folder, runas });
  return done.retcode === 0 ? done.stdout : '';
}

const marks: Readonly<Record<string, string>> = {
  M: 'modified',
  A: 'added',
  R: 'removed',
  C: 'clean',
  '!': 'missing',
  '?': 'not tracked',
  I: 'ignored',
  ' ': 'origin of the previous file',
};

async function status(
  folder: string,
  given: string | null,
  runas: string | null,
  ctx: ModuleContext,
): Promise<PlainDict> {
  const { stdout } = await command(ctx, ['hg', 'status', ...optionWords(given)], { cwd: folder, runas });
  const found: Record<string, string[]> = newDict() as Record<string, string[]>;
  for (const line of lines(stdout)) {
    const kind = marks[line.charAt(0)] ?? line.charAt(0);
    found[kind] ??= [];
    found[kind].push(line.slice(2));
  }
  return newDict(Object.entries(found));
}

export default defineModule({
  name: 'hg',
  doc: 'Repositories of Mercurial.',
  available: () => which('hg') !== null || 'The hg execution module cannot be loaded: hg unavailable.',
  reads: ['revision', 'describe', 'status'],
  functions: {
    revision: fn({
      doc: 'The full name of a revision.',
      examples: ["salt '*' hg.revision /srv/code"],
      params: { cwd, rev, short: p.bool({ default: false, doc: 'the short name' }), user },
      run: (args, ctx) => revision(args.cwd, args.rev, args.short, args.user, ctx),
    }),
    describe: fn({
      doc: 'A revision by its nearest tag.',
      examples: ["salt '*' hg.describe /srv/code"],
      params: { cwd, rev, user },
      async run(args, ctx) {
        const template = '{latesttag}-{latesttagdistance}-{node|short}';
        const argv = ['hg', 'log', '-r', args.rev, '--template', template];
        const { stdout } = await command(ctx, argv, { cwd: args.cwd, runas: args.user });
        return stdout || revision(args.cwd, args.rev, true, null, ctx);
      },
    }),
    archive: fn({
      doc: 'Writes a revision into an archive.',
      examples: ["salt '*' hg.archive /srv/code output=/tmp/code.tgz fmt=tgz"],
      params: {
        cwd,
        output: p.string({ doc: 'the archive' }),
        rev,
        fmt: p.string({ default: null, falsy: null, doc: 'its format' }),
        prefix: p.string({ default: null, falsy: null, doc: 'folder inside' }),
        user,
      },
      async run(args, ctx) {
        const argv = [
          ...['hg', 'archive', args.output, '--rev', args.rev],
          ...(args.fmt ? ['--type', args.fmt] : []),
          ...(args.prefix ? ['--prefix', args.prefix] : []),
        ];
        const { stdout, stderr } = await command(ctx, argv, { cwd: args.cwd, runas: args.user });
        return [stdout, stderr].filter(Boolean).join('\n');
      },
    }),
    pull: fn({
      doc: 'Fetches changes.',
      examples: ["salt '*' hg.pull /srv/code opts=-u"],
      params: { cwd, opts, user, identity, repository: p.string({ default: null, doc: 'from here' }) },
      run(args, ctx) {
        const from = args.repository === null ? [] : [args.repository];
        return hg(['pull', ...ssh(args.identity), ...optionWords(args.opts), ...from], args.user, args.cwd, ctx);
      },
    }),
    update: fn({
      doc: 'Updates the folder to a revision.',
      examples: ["salt '*' hg.update /srv/code stable"],
      params: {
        cwd,
        rev: p.string({ doc: 'the revision' }),
        force: p.bool({ default: false, doc: 'discard changes' }),
        user,
      },
      run: (args, ctx) => hg(['update', args.rev, ...(args.force ? ['-C'] : [])], args.user, args.cwd, ctx),
    }),
    clone: fn({
      doc: 'Copies a repository.',
      examples: ["salt '*' hg.clone /srv/code https://hg.example.com/code"],
      params: { cwd, repository: p.string({ doc: 'from here' }), opts, user, identity },
      run(args, ctx) {
        const argv = ['clone', args.repository, args.cwd, ...optionWords(args.opts), ...ssh(args.identity)];
        return hg(argv, args.user, null, ctx);
      },
    }),
    status: fn({
      doc: 'Files by what happened to them.',
      examples: ["salt '*' hg.status /srv/code"],
      params: { cwd: p.oneOf(['list', 'string'], { doc: 'folder of the repository, or several' }), opts, user },
      async run(args, ctx) {
        if (!Array.isArray(args.cwd)) return status(pyStr(args.cwd), args.opts, args.user, ctx);
        const found = newDict();
        for (const folder of args.cwd.map(pyStr)) found[folder] = await status(folder, args.opts, args.user, ctx);
        return found;
      },
    }),
  },
});
