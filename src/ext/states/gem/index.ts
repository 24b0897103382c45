// State module `gem`: packages of Ruby.
import { defineState, newDict, p, pyStr, type StateContext, type StateResult, state, type Value } from 'halite/sdk';
import { comparePythonVersions } from '../../shared/pip/pep440.ts';
import { plain } from '../shared/calls.ts';

const any = (doc: string) => p.any({ default: null, doc });
const name = p.string({ doc: 'the gem' });
const ruby = any('the Ruby of rvm or rbenv');
const user = any('run as this user');
const gem_bin = any('path of gem');

interface Where {
  readonly name: string;
  readonly ruby: Value;
  readonly user: Value;
  readonly gem_bin: Value;
}

/** Installed versions of a gem; undefined when it is not there. */
async function versions(args: Where, ctx: StateContext): Promise<string[] | undefined> {
  const kwargs = newDict([
    ['gem_bin', args.gem_bin],
    ['runas', args.user],
  ]);
  const found = plain(await ctx.callWith('gem.list', [args.name, args.ruby], kwargs))[args.name];
  return found === undefined ? undefined : (Array.isArray(found) ? found : [found]).map(pyStr);
}

const tests: Readonly<Record<string, (order: number) => boolean>> = {
  '>=': (order) => order >= 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '<': (order) => order < 0,
};

/** What to say when the gem is there as wanted. */
function satisfied(found: readonly string[], version: Value): string | undefined {
  if (version === null) return 'Gem is already installed.';
  const wanted = pyStr(version);
  const operator = /^(>=|<=|>|<)/.exec(wanted)?.[1];
  if (operator === undefined) return found.includes(wanted) ? 'Gem is already installed.' : undefined;
  const current = (found[0] ?? '').replace('default: ', '').trim();
  const order = comparePythonVersions(current, wanted.slice(operator.length).trim());
  return order !== undefined && tests[operator]?.(order) ? 'Installed Gem meets version requirements.' : undefined;
}

const installed = state({
  doc: 'A gem that shall be installed.',
  examples: ['addressable:\n  gem.installed:\n    - version: 2.8.0'],
  params: {
    name,
    ruby,
    gem_bin,
    user,
    version: any('the version, or a limit: `>=2.0`'),
    rdoc: p.bool({ default: false, doc: 'with RDoc documentation' }),
    ri: p.bool({ default: false, doc: 'with ri documentation' }),
    pre_releases: p.bool({ default: false, doc: 'with versions that are not released yet' }),
    proxy: any('proxy to use'),
    source: any('address to take it from'),
  },
  async run(args, ctx) {
    const found = await versions(args, ctx);
    const fine = found && satisfied(found, args.version);
    if (fine !== undefined) return ctx.ok(fine);
    const { name: gem, user: runas, ...options } = args;
    return ctx.change(newDict([[gem, 'Installed']]), 'Gem was successfully installed', {
      test: `The gem ${gem} would have been installed`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.callWith('gem.install', [gem], { ...options, runas }))
          ? undefined
          : ctx.fail('Could not install gem.'),
    });
  },
});

const removed = state({
  doc: 'A gem that shall not be installed.',
  examples: ['addressable:\n  gem.removed'],
  params: { name, ruby, user, gem_bin },
  async run(args, ctx) {
    if ((await versions(args, ctx)) === undefined) return ctx.ok('Gem is not installed.');
    return ctx.change(newDict([[args.name, 'Removed']]), 'Gem was successfully removed.', {
      test: `The gem ${args.name} would have been removed`,
      testChanges: newDict(),
      async apply() {
        const kwargs = { gem_bin: args.gem_bin, runas: args.user };
        const done = await ctx.callWith('gem.uninstall', [args.name, args.ruby], kwargs);
        return done ? undefined : ctx.fail('Could not remove gem.');
      },
    });
  },
});

interface SourceArgs {
  readonly name: string;
  readonly ruby: Value;
  readonly user: Value;
}

async function source(args: SourceArgs, add: boolean, ctx: StateContext): Promise<StateResult> {
  const list = await ctx.callWith('gem.sources_list', [args.ruby], newDict([['runas', args.user]]));
  const there = Array.isArray(list) && list.includes(args.name);
  if (there === add) return ctx.ok(`Gem source is already ${add ? 'added' : 'removed'}.`);
  const done = add ? 'added' : 'removed';
  return ctx.change(newDict([[args.name, add ? 'Installed' : 'Removed']]), `Gem source was successfully ${done}.`, {
    test: add ? `The gem source ${args.name} would have been added.` : 'The gem source would have been removed.',
    testChanges: newDict(),
    async apply() {
      const kwargs = { source_uri: args.name, ruby: args.ruby, runas: args.user };
      const answer = await ctx.callWith(`gem.sources_${add ? 'add' : 'remove'}`, [], kwargs);
      return answer ? undefined : ctx.fail(`Could not ${add ? 'add' : 'remove'} gem source.`);
    },
  });
}

const sourceParams = { name: p.string({ doc: 'the address' }), ruby, user };

export default defineState({
  name: 'gem',
  doc: 'Packages of Ruby.',
  functions: {
    installed,
    removed,
    sources_add: state({
      doc: 'An address gems shall be taken from.',
      examples: ['https://gems.example.com/:\n  gem.sources_add'],
      params: sourceParams,
      run: (args, ctx) => source(args, true, ctx),
    }),
    sources_remove: state({
      doc: 'An address gems shall not be taken from.',
      examples: ['https://gems.example.com/:\n  gem.sources_remove'],
      params: sourceParams,
      run: (args, ctx) => source(args, false, ctx),
    }),
  },
});
