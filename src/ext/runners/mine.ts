// Runner `mine`: what minions have published for each other, as the master sees it.
import { defineRunner, masterFn, newDict, p } from 'halite/sdk';

export default defineRunner({
  name: 'mine',
  doc: 'Read the mine.',
  functions: {
    get: masterFn({
      doc: 'Values of a mine function by minion; of several functions (comma separated) by function.',
      examples: ["salt-run mine.get '*' network.ip_addrs"],
      params: {
        tgt: p.any({ doc: 'whose values' }),
        fun: p.string({ doc: 'the mine function or functions' }),
        tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
      },
      async run({ tgt, fun, tgt_type }, ctx) {
        const functions = fun.split(',').map((name) => name.trim());
        const answers = await ctx.master.mine(tgt as string, tgt_type, functions);
        return functions.length === 1 ? (answers[functions[0] ?? ''] ?? newDict()) : answers;
      },
    }),
  },
});
