// State module `rbenv`: versions of Ruby.
import {
  defineState,
  isTruthy,
  newDict,
  p,
  resource,
  type StateContext,
  state,
  type Value,
  withForecast,
} from 'halite/sdk';

const name = p.string({ doc: 'the Ruby' });
const user = p.scalar({ default: null, doc: 'the owner of rbenv' });
const bare = (ruby: string): string => ruby.replace(/^ruby-/, '');
const as = (runas: Value) => newDict([['runas', runas]]);

async function find(ruby: string, runas: Value, ctx: StateContext): Promise<{ isDefault: boolean } | undefined> {
  const isDefault = (await ctx.callWith('rbenv.default', [], as(runas))) === ruby;
  const list = await ctx.call('rbenv.versions', runas);
  return Array.isArray(list) && list.includes(ruby) ? { isDefault } : undefined;
}

const isThere = async (runas: Value, ctx: StateContext): Promise<boolean> =>
  isTruthy(await ctx.call('rbenv.is_installed', runas));

/** True when rbenv is installed, or was installed now. */
const ensured = async (runas: Value, ctx: StateContext): Promise<boolean> =>
  (await isThere(runas, ctx)) || isTruthy(await ctx.call('rbenv.install', runas));

const installed = state({
  doc: 'A Ruby that must be installed, and rbenv with it.',
  examples: ['ruby-2.7.8:\n  rbenv.installed:\n    - default: True'],
  params: { name, default: p.bool({ default: false, doc: 'make it the default' }), user },
  async run(args, ctx) {
    const ruby = bare(args.name);
    return withForecast(
      ctx,
      async () =>
        (await find(ruby, args.user, ctx))
          ? ctx.ok(`Ruby ${ruby} is already installed`)
          : ctx.result({ result: null, comment: `Ruby ${ruby} is set to be installed` }),
      async () => {
        if (!(await ensured(args.user, ctx))) return ctx.fail('Rbenv failed to install');
        const there = await find(ruby, args.user, ctx);
        if (!there && !(await ctx.callWith('rbenv.install_ruby', [ruby], as(args.user))))
          return ctx.fail('Failed to install ruby');
        if (args.default) await ctx.callWith('rbenv.default', [ruby], as(args.user));
        return there
          ? ctx.ok('Requested ruby exists')
          : ctx.ok('Successfully installed ruby', { changes: newDict([[ruby, 'Installed']]) });
      },
    );
  },
});

const absent = state({
  doc: 'A Ruby that must not be installed.',
  examples: ['ruby-2.7.8:\n  rbenv.absent'],
  params: { name, user },
  async run({ name, user: runas }, ctx) {
    const ruby = bare(name);
    if (!(await isThere(runas, ctx))) return ctx.ok(`Rbenv not installed, ${ruby} not either`);
    return resource(ctx, {
      find: () => find(ruby, runas, ctx),
      wanted: false,
      async change({ found }) {
        if (found?.isDefault) await ctx.callWith('rbenv.default', ['system'], as(runas));
        return ctx.callWith('rbenv.uninstall_ruby', [ruby], as(runas));
      },
      changes: () => ({ [ruby]: 'Uninstalled' }),
      // Salt has two versions of this text.
      right: `Ruby ${ruby} is already ${ctx.test ? 'uninstalled' : 'absent'}`,
      would: `Ruby ${ruby} is set to be uninstalled`,
      done: 'Successfully removed ruby',
      failed: 'Failed to uninstall ruby',
    });
  },
});

const install_rbenv = state({
  doc: 'rbenv itself.',
  examples: ['rbenv:\n  rbenv.install_rbenv'],
  params: { name: p.string({ doc: 'any name' }), user },
  run: (args, ctx) =>
    resource(ctx, {
      find: () => isThere(args.user, ctx),
      change: () => ctx.call('rbenv.install', args.user),
      right: 'Rbenv is already installed',
      would: 'Rbenv is set to be installed',
      done: 'Rbenv installed',
      failed: 'Rbenv failed to install',
    }),
});

export default defineState({
  name: 'rbenv',
  doc: 'Versions of Ruby.',
  functions: { installed, absent, install_rbenv },
});
