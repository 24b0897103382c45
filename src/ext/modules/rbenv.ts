// Execution module `rbenv`: versions of Ruby, with rbenv.
import {
  defineModule,
  fn,
  invocationError,
  isDict,
  type ModuleContext,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { isDirectory } from 'halite/sdk/fs';
import { userByName } from 'halite/sdk/system';
import { lines, shellSplit } from 'halite/sdk/text';
import { command } from './shared/command.ts';

const expanded = (path: string): string =>
  path.replace(/^~([^/]*)/, (whole, user: string) => userByName(user || 'root')?.home ?? whole);

/** The folder of rbenv: the configured one, the system's, or the user's own. */
async function folder(runas: Value, ctx: ModuleContext): Promise<string> {
  const configured = await ctx.call('config.option', 'rbenv.root', null);
  const usual = !runas || runas === 'root' ? '/usr/local/rbenv' : `~${pyStr(runas)}/.rbenv`;
  return expanded(configured ? pyStr(configured) : usual);
}

const isThere = async (runas: Value, ctx: ModuleContext): Promise<Value> =>
  ctx.call('cmd.has_exec', `${await folder(runas, ctx)}/bin/rbenv`);

/** Undefined when rbenv is not installed. */
async function rbenv(args: readonly string[], runas: Value, ctx: ModuleContext) {
  if (!(await isThere(runas, ctx))) return undefined;
  const root = await folder(runas, ctx);
  return command(ctx, [`${root}/bin/rbenv`, ...args], { runas, env: newDict([['RBENV_ROOT', root]]) });
}

async function said(args: readonly string[], runas: string | null, ctx: ModuleContext): Promise<string | false> {
  const done = await rbenv(args, runas, ctx);
  return done?.retcode === 0 ? done.stdout : false;
}

const worked = async (ctx: ModuleContext, argv: string[], runas: Value, cwd: string | null = null): Promise<boolean> =>
  (await command(ctx, argv, { runas, cwd })).retcode === 0;

/** rbenv and the plugin that builds Rubies: cloned when missing, otherwise pulled. */
async function both(runas: string | null, path: string | null, pull: boolean, ctx: ModuleContext): Promise<boolean> {
  const root = path ? expanded(pyStr(path)) : await folder(runas, ctx);
  const parts: [string, string][] = [
    ['rbenv', root],
    ['ruby-build', `${root}/plugins/ruby-build`],
  ];
  for (const [name, at] of parts) {
    if (!pull && isDirectory(at)) continue;
    const argv = pull ? ['git', 'pull'] : ['git', 'clone', `https://github.com/rbenv/${name}.git`, at];
    if ((pull && !isDirectory(at)) || !(await worked(ctx, argv, runas, pull ? at : null))) return false;
  }
  return true;
}

const bare = (ruby: string): string => ruby.replace(/^ruby-/, '');

async function uninstall(ruby: string, runas: string | null, ctx: ModuleContext): Promise<true> {
  await rbenv(['uninstall', '--force', bare(ruby)], runas, ctx);
  return true;
}

/** Runs a command line with the programs of rbenv first. */
async function run(line: string | null, runas: string | null, given: Value, ctx: ModuleContext): Promise<Value> {
  if (!line) throw invocationError('Command must be specified');
  const path = `${await folder(runas, ctx)}/shims:${process.env['PATH'] ?? ''}`;
  const env = newDict([...(isDict(given) ? Object.entries(given) : []), ['PATH', path]]);
  const done = await command(ctx, shellSplit(pyStr(line)), { runas, env });
  if (done.retcode !== 0) return false;
  await rbenv(['rehash'], runas, ctx);
  return done.stdout;
}

const ruby = p.string({ doc: 'the Ruby' });
const runas = p.string({ default: null, doc: 'the owner of rbenv' });
const path = p.string({ default: null, falsy: null, doc: 'folder of rbenv' });
const cmdline = p.string({ falsy: null, doc: 'the command' });

export default defineModule({
  name: 'rbenv',
  doc: 'Versions of Ruby.',
  reads: ['is_installed', 'versions', 'list'],
  functions: {
    install: fn({
      doc: 'Fetches rbenv and its plugin that builds Rubies.',
      examples: ["salt '*' rbenv.install"],
      params: { runas, path },
      run: (args, ctx) => both(args.runas, args.path, false, ctx),
    }),
    update: fn({
      doc: 'Updates rbenv and its plugin that builds Rubies.',
      examples: ["salt '*' rbenv.update"],
      params: { runas, path },
      run: (args, ctx) => both(args.runas, args.path, true, ctx),
    }),
    is_installed: fn({
      doc: 'Whether rbenv is installed.',
      examples: ["salt '*' rbenv.is_installed"],
      params: { runas },
      run: (args, ctx) => isThere(args.runas, ctx),
    }),
    install_ruby: fn({
      doc: 'Builds and installs a Ruby; returns the output of rbenv, or false.',
      examples: ["salt '*' rbenv.install_ruby 2.7.8"],
      params: { ruby, runas },
      async run(args, ctx) {
        const done = await rbenv(['install', bare(args.ruby)], args.runas, ctx);
        if (done?.retcode !== 0) {
          await uninstall(args.ruby, args.runas, ctx);
          return false;
        }
        await rbenv(['rehash'], args.runas, ctx);
        return done.stderr;
      },
    }),
    uninstall_ruby: fn({
      doc: 'Removes a Ruby.',
      examples: ["salt '*' rbenv.uninstall_ruby 2.7.8"],
      params: { ruby, runas },
      run: (args, ctx) => uninstall(args.ruby, args.runas, ctx),
    }),
    versions: fn({
      doc: 'Installed Rubies.',
      examples: ["salt '*' rbenv.versions"],
      params: { runas },
      run: async (args, ctx) => lines((await said(['versions', '--bare'], args.runas, ctx)) || ''),
    }),
    default: fn({
      doc: 'The default Ruby; sets it when one is given.',
      examples: ["salt '*' rbenv.default", "salt '*' rbenv.default 2.7.8"],
      params: { ruby: p.string({ default: null, falsy: null, doc: 'the new default' }), runas },
      reads: ({ ruby }) => !ruby,
      async run(args, ctx) {
        if (!args.ruby) return ((await said(['global'], args.runas, ctx)) || '').trim();
        await rbenv(['global', args.ruby], args.runas, ctx);
        return true;
      },
    }),
    list: fn({
      doc: 'Rubies that can be installed.',
      examples: ["salt '*' rbenv.list"],
      params: { runas },
      run: async (args, ctx) =>
        lines((await said(['install', '--list'], args.runas, ctx)) || '')
          .filter((line) => line !== 'Available versions:')
          .map((line) => line.trim()),
    }),
    rehash: fn({
      doc: 'Updates the links to programs of new gems.',
      examples: ["salt '*' rbenv.rehash"],
      params: { runas },
      async run(args, ctx) {
        await rbenv(['rehash'], args.runas, ctx);
        return true;
      },
    }),
    do: fn({
      doc: 'Runs a command with the programs of rbenv.',
      examples: ["salt '*' rbenv.do 'gem list bundler'"],
      params: { cmdline, runas, env: p.dict({ default: null, falsy: null, doc: 'environment variables' }) },
      run: (args, ctx) => run(args.cmdline, args.runas, args.env, ctx),
    }),
    do_with_ruby: fn({
      doc: 'Runs a command with one of the Rubies.',
      examples: ["salt '*' rbenv.do_with_ruby 2.7.8 'gem list bundler'"],
      params: { ruby, cmdline, runas },
      run: (args, ctx) =>
        run(args.cmdline, args.runas, args.ruby ? newDict([['RBENV_VERSION', args.ruby]]) : null, ctx),
    }),
  },
});
