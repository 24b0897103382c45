// Execution module `rvm`: Rubies and gemsets, with the Ruby Version Manager.
import {
  commandError,
  defineModule,
  fn,
  listTexts,
  type ModuleContext,
  newDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { pathExists } from 'halite/sdk/fs';
import { userByName } from 'halite/sdk/system';
import { lines, shellSplit } from 'halite/sdk/text';
import { command } from './shared/command.ts';

const installer = 'https://raw.githubusercontent.com/rvm/rvm/master/binscripts/rvm-installer';

/** A user's own rvm, or that of the system. */
function program(runas: Value): string {
  const home = runas ? userByName(pyStr(runas))?.home : undefined;
  const own = `${home}/.rvm/bin/rvm`;
  return home && pathExists(own) ? own : '/usr/local/rvm/bin/rvm';
}

interface Call {
  readonly runas: Value;
  readonly cwd?: Value;
  readonly env?: Value;
}

/** The output of rvm, or false when it failed or is not installed. */
async function rvm(args: readonly string[], call: Call, ctx: ModuleContext): Promise<string | false> {
  const runas = call.runas ?? (await ctx.call('config.option', 'rvm.runas', null));
  if (!(await ctx.call('cmd.has_exec', program(runas)))) return false;
  const { retcode, stdout } = await command(ctx, [program(runas), ...args], { ...call, runas });
  return retcode === 0 ? stdout : false;
}

/** Runs a command with one of the Rubies. */
const inRuby = (ruby: string, args: readonly string[], call: Call, ctx: ModuleContext): Promise<string | false> =>
  rvm([ruby ? pyStr(ruby) : 'default', 'do', ...args], call, ctx);

async function installRuby(ruby: string, opts: Value, { runas, env }: Call, ctx: ModuleContext): Promise<Value> {
  const options = listTexts(opts);
  if (!runas || runas === 'root') return rvm(['install', ruby, ...options], { runas, env }, ctx);
  // Without root, rvm cannot install system packages.
  await rvm(['autolibs', 'disable', ruby, ...options], { runas }, ctx);
  return rvm(['install', ruby, ...options, '--disable-binary'], { runas, env }, ctx);
}

const member = /^ {3}([^ ]+)/;

const ruby = p.string({ doc: 'the Ruby' });
const gemset = p.string({ doc: 'the gemset' });
const runas = p.string({ default: null, doc: 'the owner of rvm' });
const env = p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'environment variables' });

const rubies = {
  is_installed: fn({
    doc: 'Whether rvm is installed.',
    examples: ["salt '*' rvm.is_installed"],
    params: { runas },
    run: (args, ctx) => ctx.call('cmd.has_exec', program(args.runas)),
  }),
  install: fn({
    doc: 'Fetches and installs rvm itself.',
    examples: ["salt '*' rvm.install"],
    params: { runas },
    async run(args, ctx) {
      const done = (await ctx.callWith('cmd.run_all', [`curl -Ls ${installer} | bash -s stable`], {
        runas: args.runas,
        python_shell: true,
      })) as { retcode: number; stderr: string };
      if (done.retcode === 0) return true;
      const said = done.stderr ? `. stderr follows:\n\n${done.stderr}` : '';
      throw commandError(`Error encountered while downloading the RVM installer${said}`);
    },
  }),
  install_ruby: fn({
    doc: 'Installs a Ruby.',
    examples: ["salt '*' rvm.install_ruby 2.7.8"],
    params: { ruby, runas, opts: p.oneOf(['list', 'string'], { default: null, doc: 'list of options' }), env },
    run: (args, ctx) => installRuby(args.ruby, args.opts, args, ctx),
  }),
  reinstall_ruby: fn({
    doc: 'Reinstalls a Ruby.',
    examples: ["salt '*' rvm.reinstall_ruby 2.7.8"],
    params: { ruby, runas, env },
    run: (args, ctx) => rvm(['reinstall', args.ruby], args, ctx),
  }),
  list: fn({
    doc: 'Installed Rubies: implementation, version, and whether it is the default.',
    examples: ["salt '*' rvm.list"],
    params: { runas },
    async run(args, ctx) {
      const found = lines((await rvm(['list'], args, ctx)) || '').map((line) =>
        /^[= ]([*> ]) ([^- ]+)-([^ ]+) \[ (.*) \]/.exec(line),
      );
      return found.flatMap((match) => (match ? [[match[2] ?? '', match[3] ?? '', match[1] === '*']] : []));
    },
  }),
  set_default: fn({
    doc: 'Sets the default Ruby.',
    examples: ["salt '*' rvm.set_default 2.7.8"],
    params: { ruby, runas },
    run: (args, ctx) => rvm(['alias', 'create', 'default', args.ruby], args, ctx),
  }),
  get: fn({
    doc: 'Updates rvm itself.',
    examples: ["salt '*' rvm.get"],
    params: { version: p.string({ default: 'stable', doc: 'the version' }), runas },
    run: (args, ctx) => rvm(['get', args.version], args, ctx),
  }),
  wrapper: fn({
    doc: 'Creates wrapper programs for one Ruby.',
    examples: ["salt '*' rvm.wrapper 2.7.8 web"],
    params: {
      ruby_string: ruby,
      wrapper_prefix: p.string({ doc: 'prefix of their names' }),
      runas,
      binaries: p.rest({ doc: 'the programs' }),
    },
    run: (args, ctx) =>
      rvm(['wrapper', args.ruby_string, args.wrapper_prefix, ...args.binaries.map(pyStr)], { runas: args.runas }, ctx),
  }),
  rubygems: fn({
    doc: 'Installs a version of RubyGems into a Ruby.',
    examples: ["salt '*' rvm.rubygems 2.7.8 3.3.0"],
    params: { ruby, version: p.string({ doc: 'the version' }), runas },
    run: (args, ctx) => inRuby(args.ruby, ['rubygems', args.version], { runas: args.runas }, ctx),
  }),
  do: fn({
    doc: 'Runs a command with one of the Rubies.',
    examples: ["salt '*' rvm.do 2.7.8 'gem list'"],
    params: {
      ruby,
      command: p.string({ doc: 'the command' }),
      runas,
      cwd: p.string({ default: null, doc: 'in this folder' }),
      env,
    },
    run: ({ ruby: which, command: line, ...call }, ctx) => inRuby(which, shellSplit(line), call, ctx),
  }),
};

const gemsets = {
  gemset_create: fn({
    doc: 'Creates a gemset.',
    examples: ["salt '*' rvm.gemset_create 2.7.8 web"],
    params: { ruby, gemset, runas },
    run: (args, ctx) => inRuby(args.ruby, ['rvm', 'gemset', 'create', args.gemset], { runas: args.runas }, ctx),
  }),
  gemset_list: fn({
    doc: 'Gemsets of a Ruby.',
    examples: ["salt '*' rvm.gemset_list"],
    params: { ruby: p.string({ default: 'default', doc: 'the Ruby' }), runas },
    async run(args, ctx) {
      const said = (await inRuby(args.ruby, ['rvm', 'gemset', 'list'], { runas: args.runas }, ctx)) || '';
      return lines(said).flatMap((line) => member.exec(line)?.[1] ?? []);
    },
  }),
  gemset_delete: fn({
    doc: 'Removes a gemset.',
    examples: ["salt '*' rvm.gemset_delete 2.7.8 web"],
    params: { ruby, gemset, runas },
    run: (args, ctx) =>
      inRuby(args.ruby, ['rvm', '--force', 'gemset', 'delete', args.gemset], { runas: args.runas }, ctx),
  }),
  gemset_empty: fn({
    doc: 'Removes the gems of a gemset.',
    examples: ["salt '*' rvm.gemset_empty 2.7.8 web"],
    params: { ruby, gemset, runas },
    run: (args, ctx) =>
      inRuby(args.ruby, ['rvm', '--force', 'gemset', 'empty', args.gemset], { runas: args.runas }, ctx),
  }),
  gemset_copy: fn({
    doc: 'Copies a gemset.',
    examples: ["salt '*' rvm.gemset_copy 2.7.8@web 3.0.1@web"],
    params: { source: p.string({ doc: 'from here' }), destination: p.string({ doc: 'to here' }), runas },
    run: (args, ctx) => rvm(['gemset', 'copy', args.source, args.destination], { runas: args.runas }, ctx),
  }),
  gemset_list_all: fn({
    doc: 'Gemsets of every Ruby.',
    examples: ["salt '*' rvm.gemset_list_all"],
    params: { runas },
    async run(args, ctx) {
      const found = newDict();
      let list: string[] = [];
      for (const line of lines((await inRuby('default', ['rvm', 'gemset', 'list_all'], args, ctx)) || '')) {
        const owner = /^gemsets for ([^ ]+)/.exec(line)?.[1];
        if (owner !== undefined) found[owner] = list = [];
        const name = member.exec(line)?.[1];
        if (name !== undefined) list.push(name);
      }
      return found;
    },
  }),
};

export default defineModule({
  name: 'rvm',
  doc: 'Rubies and gemsets of the Ruby Version Manager.',
  reads: ['is_installed', 'list', 'gemset_list', 'gemset_list_all'],
  functions: { ...rubies, ...gemsets },
});
