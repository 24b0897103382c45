// State module `gem`: packages of Ruby.
import {
  defineState,
  newDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { comparePythonVersions } from '../../shared/pip/pep440.ts';

const name = p.string({ doc: 'the gem' });
const ruby = p.scalar({ default: null, doc: 'the Ruby of rvm or rbenv' });
const user = p.scalar({ default: null, doc: 'run as this user' });
const gem_bin = p.scalar({ default: null, doc: 'path of gem' });

interface Where {
  readonly name: string;
  readonly ruby: Value;
  readonly user: Value;
  readonly gem_bin: Value;
}

/** Installed versions of a gem; undefined when it is not installed. */
async function versions(args: Where, ctx: StateContext): Promise<string[] | undefined> {
  const kwargs = newDict([
    ['gem_bin', args.gem_bin],
    ['runas', args.user],
  ]);
  const found = textKeyed(await ctx.callWith('gem.list', [args.name, args.ruby], kwargs))[args.name];
  return found === undefined ? undefined : (Array.isArray(found) ? found : [found]).map(pyStr);
}

const tests: Readonly<Record<string, (order: number) => boolean>> = {
  '>=': (order) => order >= 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '<': (order) => order < 0,
};

/** The comment for a gem that is already installed as requested. */
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
  doc: 'A gem that must be installed.',
  examples: ['addressable:\n  gem.installed:\n    - version: 2.8.0'],
  params: {
    name,
    ruby,
    gem_bin,
    user,
    version: p.scalar({ default: null, doc: 'the version, or a limit: `>=2.0`' }),
    rdoc: p.bool({ default: false, doc: 'with RDoc documentation' }),
    ri: p.bool({ default: false, doc: 'with ri documentation' }),
    pre_releases: p.bool({ default: false, doc: 'include pre-release versions' }),
    proxy: p.scalar({ default: null, doc: 'proxy to use' }),
    source: p.scalar({ default: null, doc: 'address of the source' }),
  },
  run(args, ctx) {
    const { name: gem, user: runas, ...options } = args;
    const fine = (found: string[] | undefined) => found && satisfied(found, args.version);
    return resource(ctx, {
      find: () => versions(args, ctx),
      compare: (found) => fine(found) === undefined,
      change: () => ctx.callWith('gem.install', [gem], { ...options, runas }),
      changes: () => ({ [gem]: 'Installed' }),
      right: ({ found }) => fine(found) ?? '',
      would: `The gem ${gem} would have been installed`,
      done: 'Gem was successfully installed',
      failed: 'Could not install gem.',
    });
  },
});

const removed = state({
  doc: 'A gem that must not be installed.',
  examples: ['addressable:\n  gem.removed'],
  params: { name, ruby, user, gem_bin },
  run: (args, ctx) =>
    resource(ctx, {
      find: () => versions(args, ctx),
      compare: (found) => found !== undefined,
      change: () => ctx.callWith('gem.uninstall', [args.name, args.ruby], { gem_bin: args.gem_bin, runas: args.user }),
      changes: () => ({ [args.name]: 'Removed' }),
      right: 'Gem is not installed.',
      would: `The gem ${args.name} would have been removed`,
      done: 'Gem was successfully removed.',
      failed: 'Could not remove gem.',
    }),
});

interface SourceArgs {
  readonly name: string;
  readonly ruby: Value;
  readonly user: Value;
}

const source = ({ name, ruby, user: runas }: SourceArgs, add: boolean, ctx: StateContext): Promise<StateResult> =>
  resource(ctx, {
    async find() {
      const list = await ctx.callWith('gem.sources_list', [ruby], { runas });
      return Array.isArray(list) && list.includes(name);
    },
    wanted: add,
    change: () => ctx.callWith(`gem.sources_${add ? 'add' : 'remove'}`, [], { source_uri: name, ruby, runas }),
    changes: () => ({ [name]: add ? 'Installed' : 'Removed' }),
    right: `Gem source is already ${add ? 'added' : 'removed'}.`,
    would: add ? `The gem source ${name} would have been added.` : 'The gem source would have been removed.',
    done: `Gem source was successfully ${add ? 'added' : 'removed'}.`,
    failed: `Could not ${add ? 'add' : 'remove'} gem source.`,
  });

const sourceParams = { name: p.string({ doc: 'the address' }), ruby, user };

export default defineState({
  name: 'gem',
  doc: 'Packages of Ruby.',
  functions: {
    installed,
    removed,
    sources_add: state({
      doc: 'A gem source that must be configured.',
      examples: ['https://gems.example.com/:\n  gem.sources_add'],
      params: sourceParams,
      run: (args, ctx) => source(args, true, ctx),
    }),
    sources_remove: state({
      doc: 'A gem source that must not be configured.',
      examples: ['https://gems.example.com/:\n  gem.sources_remove'],
      params: sourceParams,
      run: (args, ctx) => source(args, false, ctx),
    }),
  },
});
