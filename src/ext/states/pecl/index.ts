// State module `pecl`: extensions of PHP.
import { defineState, needsFunction, newDict, p, pyStr, state } from 'halite/sdk';
import { plain } from '../shared/calls.ts';

const name = p.string({ doc: 'the extension, or channel/extension' });

const installed = state({
  doc: 'An extension that shall be installed.',
  examples: ['redis:\n  pecl.installed:\n    - version: 5.3.7'],
  params: {
    name,
    version: p.scalar({ default: null, doc: 'this version' }),
    defaults: p.scalar({ default: false, nullable: true, doc: 'answer questions with what is proposed' }),
    force: p.scalar({ default: false, nullable: true, doc: 'also over one that is there' }),
    preferred_state: p.string({ default: 'stable', doc: 'how mature it must be' }),
  },
  async run(args, ctx) {
    const [channel, extension] = args.name.includes('/') ? args.name.split('/') : [null, args.name];
    const version = args.version === null ? null : pyStr(args.version);
    const found = plain(await ctx.call('pecl.list', channel ?? null))[extension ?? ''];
    const facts = Array.isArray(found) ? found : [];
    if ((version === null || facts.includes(version)) && facts.includes(args.preferred_state))
      return ctx.ok(`Pecl extension ${args.name} is already installed.`);
    const full = version === null ? args.name : `${args.name}-${version}`;
    return ctx.change(newDict([[full, 'Installed']]), `Pecl extension ${full} was successfully installed`, {
      test: `Pecl extension ${full} would have been installed`,
      testChanges: newDict(),
      async apply() {
        const { defaults, force, preferred_state } = args;
        const done = await ctx.callWith('pecl.install', [full], { defaults, force, preferred_state });
        return done ? undefined : ctx.fail(`Could not install pecl extension ${full}.`);
      },
    });
  },
});

const removed = state({
  doc: 'An extension that shall not be installed.',
  examples: ['redis:\n  pecl.removed'],
  params: { name },
  async run(args, ctx) {
    if (!(args.name in plain(await ctx.call('pecl.list'))))
      return ctx.ok(`Pecl extension ${args.name} is not installed.`);
    return ctx.change(newDict([[args.name, 'Removed']]), `Pecl extension ${args.name} was successfully removed.`, {
      test: `Pecl extension ${args.name} would have been removed`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.call('pecl.uninstall', args.name))
          ? undefined
          : ctx.fail(`Could not remove pecl extension ${args.name}.`),
    });
  },
});

export default defineState({
  name: 'pecl',
  doc: 'Extensions of PHP.',
  available: needsFunction('pecl.list', 'pecl module could not be loaded'),
  functions: { installed, removed },
});
