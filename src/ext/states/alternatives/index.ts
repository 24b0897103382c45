// State module `alternatives`: which of several programs a name refers to.
import { defineState, needsFunction, newDict, p, pyStr, state } from 'halite/sdk';
import { lines } from 'halite/sdk/text';

const name = p.string({ doc: 'the name' });
const path = p.path({ doc: 'the program' });

const install = state({
  doc: 'A program that is an alternative of a name.',
  examples: [
    'pager:\n  alternatives.install:\n    - link: /usr/bin/pager\n    - path: /usr/bin/less\n    - priority: 30',
  ],
  params: {
    name,
    link: p.path({ doc: 'the path of the link' }),
    path,
    priority: p.scalar({ nullable: true, doc: 'priority; the highest wins' }),
  },
  async run(args, ctx) {
    const { link, priority } = args;
    const extra = { link, path: args.path, priority };
    const order = pyStr(priority);
    if (await ctx.call('alternatives.check_exists', args.name, args.path)) {
      return ctx.ok(`Alternative ${args.path} for ${args.name} is already registered`, extra);
    }
    const done = await ctx.change(newDict(), '', {
      test: `Alternative will be set for ${args.name} to ${args.path} with priority ${order}`,
      async apply() {
        const said = await ctx.call('alternatives.install', args.name, link, args.path, priority);
        if (!(await ctx.call('alternatives.check_exists', args.name, args.path)))
          return ctx.fail(`Alternative for ${args.name} not installed: ${pyStr(said)}`);
        const used = await ctx.call('alternatives.check_installed', args.name, args.path);
        const comment = used
          ? `Alternative for ${args.name} set to path ${args.path} with priority ${order}`
          : `Alternative ${args.path} for ${args.name} registered with priority ${order} and not set to default`;
        return ctx.ok(comment, {
          changes: newDict(Object.entries({ name: args.name, link, path: args.path, priority })),
        });
      },
    });
    return Object.assign(done, extra);
  },
});

const remove = state({
  doc: 'A program that must not be an alternative of a name.',
  examples: ['pager:\n  alternatives.remove:\n    - path: /usr/bin/less'],
  params: { name, path },
  async run(args, ctx) {
    const extra = { path: args.path };
    const current = async () => ctx.call('alternatives.show_current', args.name);
    if (!(await ctx.call('alternatives.check_exists', args.name, args.path))) {
      const now = await current();
      if (now) return ctx.ok(`Alternative for ${args.name} is set to it's default path ${pyStr(now)}`, extra);
      return ctx.fail(`Alternative for ${args.name} doesn't exist`, extra);
    }
    const done = await ctx.change(newDict(), '', {
      test: `Alternative for ${args.name} will be removed`,
      async apply() {
        await ctx.call('alternatives.remove', args.name, args.path);
        const now = await current();
        if (!now) return ctx.ok(`Alternative for ${args.name} removed`);
        return ctx.ok(`Alternative for ${args.name} removed. Falling back to path ${pyStr(now)}`, {
          changes: newDict([['path', now]]),
        });
      },
    });
    return Object.assign(done, extra);
  },
});

const auto = state({
  doc: 'A name in automatic mode: the program with the highest priority is chosen.',
  examples: ['pager:\n  alternatives.auto'],
  params: { name },
  async run(args, ctx) {
    const [first = ''] = lines(pyStr(await ctx.call('alternatives.display', args.name)));
    if (first.endsWith(' auto mode')) return ctx.ok(`${args.name} already in auto mode`);
    return ctx.change(newDict(), '', {
      test: `${args.name} will be put in auto mode`,
      apply: async () => ctx.ok('', { changes: newDict([['result', await ctx.call('alternatives.auto', args.name)]]) }),
    });
  },
});

const set = state({
  doc: 'A name that refers to a manually chosen program.',
  examples: ['pager:\n  alternatives.set:\n    - path: /usr/bin/less'],
  params: { name, path },
  async run(args, ctx) {
    const extra = { path: args.path };
    if ((await ctx.call('alternatives.show_current', args.name)) === args.path)
      return ctx.ok(`Alternative for ${args.name} already set to ${args.path}`, extra);
    const known = lines(pyStr(await ctx.call('alternatives.display', args.name))).some((line) =>
      line.startsWith(args.path),
    );
    if (!known) return ctx.fail(`Alternative ${args.path} for ${args.name} doesn't exist`, extra);
    const done = await ctx.change(newDict(), '', {
      test: `Alternative for ${args.name} will be set to path ${args.path}`,
      async apply() {
        await ctx.call('alternatives.set', args.name, args.path);
        const now = await ctx.call('alternatives.show_current', args.name);
        if (now !== args.path) return ctx.ok(`Alternative for ${args.name} not updated`);
        return ctx.ok(`Alternative for ${args.name} set to path ${pyStr(now)}`, { changes: newDict([['path', now]]) });
      },
    });
    return Object.assign(done, extra);
  },
});

export default defineState({
  name: 'alternatives',
  doc: 'Which of several programs a name refers to.',
  available: needsFunction('alternatives.auto', 'alternatives module could not be loaded'),
  functions: { install, remove, auto, set },
});
