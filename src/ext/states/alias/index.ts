// State module `alias`: mail aliases.
import { defineState, newDict, p, pyRepr, pyStr, state } from 'halite/sdk';

const name = p.string({ doc: 'the alias' });

const present = state({
  doc: 'A mail alias with its target.',
  examples: ['root:\n  alias.present:\n    - target: ops@example.com'],
  params: { name, target: p.any({ doc: 'where its mail goes: text or a list' }) },
  async run({ name, target }, ctx) {
    if (await ctx.call('aliases.has_target', name, target)) return ctx.ok(`Alias ${name} already present`);
    const shown = `${name} -> ${Array.isArray(target) ? pyRepr(target) : pyStr(target)}`;
    return ctx.change(newDict([['alias', name]]), `Set email alias ${shown}`, {
      test: `Alias ${shown} is set to be added`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.call('aliases.set_target', name, target)) ? undefined : ctx.fail(`Failed to set alias ${shown}`),
    });
  },
});

const absent = state({
  doc: 'A mail alias that shall not be there.',
  examples: ['root:\n  alias.absent'],
  params: { name },
  async run({ name }, ctx) {
    if (!(await ctx.call('aliases.get_target', name))) return ctx.ok(`Alias ${name} already absent`);
    return ctx.change(newDict([['alias', name]]), `Removed alias ${name}`, {
      test: `Alias ${name} is set to be removed`,
      testChanges: newDict(),
      apply: async () =>
        (await ctx.call('aliases.rm_alias', name)) ? undefined : ctx.fail(`Failed to remove alias ${name}`),
    });
  },
});

export default defineState({ name: 'alias', doc: 'Mail aliases.', functions: { present, absent } });
