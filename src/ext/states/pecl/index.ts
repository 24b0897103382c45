// State module `pecl`: extensions of PHP.
import { asList, defineState, needsFunction, p, pyStr, resource, state, textKeyed } from 'halite/sdk';

const name = p.string({ doc: 'the extension, or channel/extension' });

const installed = state({
  doc: 'An extension that must be installed.',
  examples: ['redis:\n  pecl.installed:\n    - version: 5.3.7'],
  params: {
    name,
    version: p.scalar({ default: null, doc: 'this version' }),
    defaults: p.scalar({ default: false, nullable: true, doc: 'answer questions with the defaults' }),
    force: p.scalar({ default: false, nullable: true, doc: 'overwrite an installed one' }),
    preferred_state: p.string({ default: 'stable', doc: 'the preferred stability' }),
  },
  run(args, ctx) {
    const [channel, extension] = args.name.includes('/') ? args.name.split('/') : [null, args.name];
    const version = args.version === null ? null : pyStr(args.version);
    const full = version === null ? args.name : `${args.name}-${version}`;
    const { defaults, force, preferred_state } = args;
    return resource(ctx, {
      find: async () => textKeyed(await ctx.call('pecl.list', channel ?? null))[extension ?? ''] ?? null,
      compare(found) {
        const facts = asList(found) ?? [];
        return !(version === null || facts.includes(version)) || !facts.includes(preferred_state);
      },
      change: () => ctx.callWith('pecl.install', [full], { defaults, force, preferred_state }),
      changes: () => ({ [full]: 'Installed' }),
      right: `Pecl extension ${args.name} is already installed.`,
      would: `Pecl extension ${full} would have been installed`,
      done: `Pecl extension ${full} was successfully installed`,
      failed: `Could not install pecl extension ${full}.`,
    });
  },
});

const removed = state({
  doc: 'An extension that must not be installed.',
  examples: ['redis:\n  pecl.removed'],
  params: { name },
  run: ({ name }, ctx) =>
    resource(ctx, {
      find: async () => name in textKeyed(await ctx.call('pecl.list')),
      wanted: false,
      change: () => ctx.call('pecl.uninstall', name),
      changes: () => ({ [name]: 'Removed' }),
      right: `Pecl extension ${name} is not installed.`,
      would: `Pecl extension ${name} would have been removed`,
      done: `Pecl extension ${name} was successfully removed.`,
      failed: `Could not remove pecl extension ${name}.`,
    }),
});

export default defineState({
  name: 'pecl',
  doc: 'Extensions of PHP.',
  available: needsFunction('pecl.list', 'pecl module could not be loaded'),
  functions: { installed, removed },
});
