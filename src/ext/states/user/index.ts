// State module `user`: users of the system.
import { defineState, newDict, p, state, type Value } from 'halite/sdk';
import { plain } from '../shared/calls.ts';
import { present } from './present.ts';

const absent = state({
  doc: 'A user that shall not exist.',
  examples: ['fred:\n  user.absent:\n    - purge: true'],
  params: {
    name: p.string({ doc: 'the user' }),
    purge: p.bool({ default: false, doc: 'also remove the files of the user' }),
    force: p.bool({ default: false, doc: 'also when the user is logged in' }),
  },
  async run({ name, purge, force }, ctx) {
    if (Object.keys(plain(await ctx.call('user.info', name))).length === 0)
      return ctx.ok(`User ${name} is not present`);
    return ctx.change(newDict(), `Removed user ${name}`, {
      test: `User ${name} set for removal`,
      async apply() {
        const before = (await ctx.call('user.list_groups', name)) as Value[];
        if (!(await ctx.call('user.delete', name, purge, force))) return ctx.fail(`Failed to remove user ${name}`);
        const changes = newDict();
        for (const group of before) {
          if (Object.keys(plain(await ctx.call('group.info', group))).length === 0)
            changes[`${String(group)} group`] = 'removed';
        }
        changes[name] = 'removed';
        return ctx.ok(`Removed user ${name}`, { changes });
      },
    });
  },
});

export default defineState({ name: 'user', doc: 'Users of the system.', functions: { present, absent } });
