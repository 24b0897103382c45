// State module `alias`: mail aliases.
import { defineState, p, pyRepr, pyStr, resource, state } from 'halite/sdk';

const name = p.string({ doc: 'the alias' });

const present = state({
  doc: 'A mail alias with its target.',
  examples: ['root:\n  alias.present:\n    - target: ops@example.com'],
  params: { name, target: p.oneOf(['string', 'list'], { doc: 'the recipients: text or a list' }) },
  run({ name, target }, ctx) {
    const shown = `${name} -> ${Array.isArray(target) ? pyRepr(target) : pyStr(target)}`;
    return resource(ctx, {
      find: () => ctx.call('aliases.has_target', name, target),
      change: () => ctx.call('aliases.set_target', name, target),
      changes: () => ({ alias: name }),
      right: `Alias ${name} already present`,
      would: `Alias ${shown} is set to be added`,
      done: `Set email alias ${shown}`,
      failed: `Failed to set alias ${shown}`,
    });
  },
});

const absent = state({
  doc: 'A mail alias that must not exist.',
  examples: ['root:\n  alias.absent'],
  params: { name },
  run: ({ name }, ctx) =>
    resource(ctx, {
      find: () => ctx.call('aliases.get_target', name),
      wanted: false,
      change: () => ctx.call('aliases.rm_alias', name),
      changes: () => ({ alias: name }),
      right: `Alias ${name} already absent`,
      would: `Alias ${name} is set to be removed`,
      done: `Removed alias ${name}`,
      failed: `Failed to remove alias ${name}`,
    }),
});

export default defineState({ name: 'alias', doc: 'Mail aliases.', functions: { present, absent } });
