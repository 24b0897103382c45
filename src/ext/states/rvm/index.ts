// State module `rvm`: Rubies and gemsets.
import {
  type ArgsOf,
  defineState,
  newDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';

const user = p.scalar({ default: null, doc: 'the owner of rvm' });

const patch = /-([0-9]{4}\.[0-9]{2}|p[0-9]+)$/;

/** Whether a Ruby is installed: without a version any version matches, without a patch level any patch level. */
async function hasRuby(wanted: string, runas: Value, ctx: StateContext): Promise<boolean> {
  const exact = patch.test(wanted);
  const anyVersion = /^[a-z]+$/.test(wanted);
  const list = await ctx.callWith('rvm.list', [], newDict([['runas', runas]]));
  return (Array.isArray(list) ? list : []).some((entry) => {
    const [implementation, number] = (entry as Value[]).map(pyStr);
    let version = implementation === 'ruby' ? (number ?? '') : `${implementation}-${number}`;
    if (!exact) version = version.replace(patch, '');
    if (anyVersion) version = version.replace(/-.*/, '');
    return version === wanted.replace(/^ruby-/, '');
  });
}

type Wanted = ArgsOf<typeof wantedParams>;

async function install(args: Wanted, ctx: StateContext): Promise<StateResult> {
  const there = await hasRuby(args.name, args.user, ctx);
  const as = newDict([['runas', args.user]]);
  if (!there) {
    const kwargs = newDict(Object.entries({ runas: args.user, opts: args.opts, env: args.env }));
    if (!(await ctx.callWith('rvm.install_ruby', [args.name], kwargs))) return ctx.fail('Could not install ruby.');
  }
  if (args.default) await ctx.callWith('rvm.set_default', [args.name], as);
  return there
    ? ctx.ok('Requested ruby exists.')
    : ctx.ok('Successfully installed ruby.', { changes: newDict([[args.name, 'Installed']]) });
}

const wantedParams = {
  name: p.string({ doc: 'the Ruby' }),
  default: p.bool({ default: false, doc: 'make it the default' }),
  user,
  opts: p.oneOf(['list', 'string'], { default: null, doc: 'list of options for rvm install' }),
  env: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'environment variables' }),
};

const installed = state({
  doc: 'A Ruby that must be installed, and rvm with it.',
  examples: ['ruby-2.7.8:\n  rvm.installed:\n    - default: True'],
  params: wantedParams,
  run: (args, ctx) =>
    ctx.change(newDict(), '', {
      test: `Ruby ${args.name} is set to be installed`,
      async apply() {
        const there = await ctx.call('rvm.is_installed', args.user);
        if (!there && !(await ctx.callWith('rvm.install', [], newDict([['runas', args.user]]))))
          return ctx.fail('RVM failed to install.');
        return install(args, ctx);
      },
    }),
});

const gemset_present = state({
  doc: 'A gemset.',
  examples: ['web:\n  rvm.gemset_present:\n    - ruby: 2.7.8'],
  params: {
    name: p.string({ doc: 'the gemset, or ruby@gemset' }),
    ruby: p.string({ default: 'default', doc: 'its Ruby' }),
    user,
  },
  async run(args, ctx) {
    if (!(await ctx.call('rvm.is_installed', args.user))) return ctx.fail('RVM is not installed.');
    const [first, second] = args.name.split('@');
    const [ruby, name] = second === undefined ? [args.ruby, args.name] : [first ?? '', second];
    if (second !== undefined && !(await hasRuby(ruby, null, ctx)))
      return ctx.fail('Requested ruby implementation was not found.');
    const as = newDict([['runas', args.user]]);
    return resource(ctx, {
      find: () => ctx.callWith('rvm.gemset_list', [ruby], as),
      compare: (sets) => !Array.isArray(sets) || !sets.includes(name),
      change: () => ctx.callWith('rvm.gemset_create', [ruby, name], as),
      changes: () => ({ [name]: 'created' }),
      right: 'Gemset already exists.',
      would: `Set to install gemset ${name}`,
      done: 'Gemset successfully created.',
      failed: 'Gemset could not be created.',
    });
  },
});

export default defineState({ name: 'rvm', doc: 'Rubies and gemsets.', functions: { installed, gemset_present } });
