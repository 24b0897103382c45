// Execution module `gem`: packages of Ruby.
import { commandError, defineModule, fn, type ModuleContext, newDict, p, pyStr, type Value } from 'halite/sdk';
import { lines } from 'halite/sdk/text';

interface Where {
  readonly ruby: Value;
  readonly runas: Value;
  readonly gem_bin: Value;
}

async function managerAnswers(manager: string, runas: Value, ctx: ModuleContext): Promise<boolean> {
  const fun = `${manager}.is_installed`;
  return (
    (await ctx.registry.functionInfo('modules', fun)) !== undefined &&
    Boolean(await ctx.callWith(fun, [], newDict([['runas', runas]])))
  );
}

/** Runs the given gem program, that of a Ruby version manager, or the system's. */
async function gem(words: string[], { ruby, runas, gem_bin }: Where, ctx: ModuleContext): Promise<string> {
  const command = [gem_bin ? pyStr(gem_bin) : 'gem', ...words];
  const as = newDict([['runas', runas]]);
  if (gem_bin === null) {
    if (await managerAnswers('rvm', runas, ctx)) return pyStr(await ctx.callWith('rvm.do', [ruby, command], as));
    if (await managerAnswers('rbenv', runas, ctx))
      return pyStr(
        ruby === null
          ? await ctx.callWith('rbenv.do', [command], as)
          : await ctx.callWith('rbenv.do_with_ruby', [ruby, command], as),
      );
  }
  const done = (await ctx.callWith('cmd.run_all', [command], { runas, python_shell: false })) as unknown as {
    retcode: number;
    stdout: string;
    stderr: string;
  };
  if (done.retcode !== 0) throw commandError(done.stderr);
  return done.stdout;
}

const versionOf = async (at: Where, ctx: ModuleContext): Promise<string> =>
  lines(await gem(['--version'], at, ctx)).find((line) => /^[.0-9]+/.test(line)) ?? '';

const names = (gems: Value): string[] =>
  Array.isArray(gems)
    ? gems.map(pyStr)
    : pyStr(gems)
        .split(/\s+/)
        .filter((name) => name !== '');

const gems = p.oneOf(['string', 'list'], { doc: 'one or several gems, as text with spaces between them' });
const where = {
  ruby: p.string({ default: null, doc: 'the Ruby of rvm or rbenv' }),
  runas: p.string({ default: null, doc: 'run as this user' }),
  gem_bin: p.string({ default: null, falsy: null, doc: 'path of gem' }),
};
const source = p.string({ doc: 'the address' });

const install = fn({
  doc: 'Installs gems.',
  examples: ["salt '*' gem.install vagrant"],
  params: {
    gems,
    ruby: where.ruby,
    gem_bin: where.gem_bin,
    runas: where.runas,
    version: p.string({ default: null, falsy: null, doc: 'the version' }),
    rdoc: p.bool({ default: false, doc: 'with RDoc documentation' }),
    ri: p.bool({ default: false, doc: 'with ri documentation' }),
    pre_releases: p.bool({ default: false, doc: 'include pre-release versions' }),
    proxy: p.string({ default: null, falsy: null, doc: 'proxy to use' }),
    source: p.string({ default: null, falsy: null, doc: 'address of the source' }),
  },
  async run(args, ctx) {
    const modern = (await versionOf(args, ctx)).startsWith('3.');
    const documents = modern
      ? args.rdoc && args.ri
        ? []
        : ['--no-document']
      : [...(args.rdoc ? [] : ['--no-rdoc']), ...(args.ri ? [] : ['--no-ri'])];
    const words = [
      'install',
      ...names(args.gems),
      ...(args.version ? ['--version', args.version] : []),
      ...documents,
      ...(args.pre_releases ? [modern ? '--prerelease' : '--pre'] : []),
      ...(args.proxy ? ['-p', args.proxy] : []),
      ...(args.source ? ['--source', args.source] : []),
    ];
    return gem(words, args, ctx);
  },
});

export default defineModule({
  name: 'gem',
  doc: 'Packages of Ruby.',
  reads: ['version', 'list', 'list_upgrades', 'sources_list'],
  functions: {
    install,
    uninstall: fn({
      doc: 'Removes gems.',
      examples: ["salt '*' gem.uninstall vagrant"],
      params: { gems, ...where },
      run: (args, ctx) => gem(['uninstall', ...names(args.gems), '-a', '-x'], args, ctx),
    }),
    update: fn({
      doc: 'Updates gems to their newest version.',
      examples: ["salt '*' gem.update vagrant"],
      params: { gems, ...where },
      run: (args, ctx) => gem(['update', ...names(args.gems)], args, ctx),
    }),
    update_system: fn({
      doc: 'Updates gem itself, optionally to a given version.',
      examples: ["salt '*' gem.update_system"],
      params: { version: p.string({ default: '', doc: 'the version' }), ...where },
      run: (args, ctx) => gem(['update', '--system', args.version], args, ctx),
    }),
    version: fn({
      doc: 'The version of gem.',
      examples: ["salt '*' gem.version"],
      params: where,
      run: (args, ctx) => versionOf(args, ctx),
    }),
    list: fn({
      doc: 'Installed gems and their versions.',
      examples: ["salt '*' gem.list"],
      params: { prefix: p.string({ default: '', doc: 'only names that begin like this' }), ...where },
      async run(args, ctx) {
        const found = newDict();
        for (const line of lines(await gem(['list', ...(args.prefix ? [args.prefix] : [])], args, ctx))) {
          const match = /^([^ ]+) \((.+)\)/.exec(line);
          if (match) found[match[1] ?? ''] = (match[2] ?? '').split(', ');
        }
        return found;
      },
    }),
    list_upgrades: fn({
      doc: 'Gems with a newer version.',
      examples: ["salt '*' gem.list_upgrades"],
      params: where,
      async run(args, ctx) {
        const found = newDict();
        for (const line of lines(await gem(['outdated'], args, ctx))) {
          const match = /(\S+) \(\S+ < (\S+)\)/.exec(line);
          if (match) found[match[1] ?? ''] = match[2] ?? '';
        }
        return found;
      },
    }),
    sources_add: fn({
      doc: 'Adds a gem source.',
      examples: ["salt '*' gem.sources_add https://gems.example.com/"],
      params: { source_uri: source, ...where },
      run: (args, ctx) => gem(['sources', '--add', args.source_uri], args, ctx),
    }),
    sources_remove: fn({
      doc: 'Removes a gem source.',
      examples: ["salt '*' gem.sources_remove https://gems.example.com/"],
      params: { source_uri: source, ...where },
      run: (args, ctx) => gem(['sources', '--remove', args.source_uri], args, ctx),
    }),
    sources_list: fn({
      doc: 'The gem sources.',
      examples: ["salt '*' gem.sources_list"],
      params: where,
      run: async (args, ctx) => lines(await gem(['sources'], args, ctx)).slice(2),
    }),
  },
});
