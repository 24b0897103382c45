// State module `user`: users of the system.
import { defineState, isTruthy, newDict, p, resource, state, type Value } from 'halite/sdk';
import { present } from './present.ts';

const absent = state({
  doc: 'A user that must not exist.',
  examples: ['fred:\n  user.absent:\n    - purge: true'],
  params: {
    name: p.string({ doc: 'the user' }),
    purge: p.bool({ default: false, doc: 'also remove the files of the user' }),
    force: p.bool({ default: false, doc: 'also when the user is logged in' }),
  },
  run: ({ name, purge, force }, ctx) =>
    resource(ctx, {
      find: () => ctx.call('user.info', name),
      wanted: false,
      async change() {
        const before = (await ctx.call('user.list_groups', name)) as Value[];
        if (!(await ctx.call('user.delete', name, purge, force))) return ctx.fail(`Failed to remove user ${name}`);
        const changes = newDict();
        for (const group of before)
          if (!isTruthy(await ctx.call('group.info', group))) changes[`${String(group)} group`] = 'removed';
        changes[name] = 'removed';
        return ctx.ok(`Removed user ${name}`, { changes });
      },
      right: `User ${name} is not present`,
      would: `User ${name} set for removal`,
    }),
});

export default defineState({ name: 'user', doc: 'Users of the system.', functions: { present, absent } });
