// Runner `mine`: reads the mine on the master.
import { defineRunner, masterFn, newDict, p } from 'halite/sdk';
import { resultsOf } from './shared/results.ts';

export default defineRunner({
  name: 'mine',
  doc: 'Read and update the mine.',
  functions: {
    get: masterFn({
      doc: 'Values of a mine function by minion; of several functions (a list, or separated by commas) by function.',
      examples: ["salt-run mine.get '*' network.ip_addrs"],
      params: {
        tgt: p.oneOf(['string', 'list'], { doc: 'whose values' }),
        fun: p.oneOf(['string', 'list'], { doc: 'the mine function or functions' }),
        tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
      },
      async run({ tgt, fun, tgt_type }, ctx) {
        const functions = (Array.isArray(fun) ? fun.map(String) : String(fun).split(',')).map((name) => name.trim());
        const answers = await ctx.master.mine(tgt as string, tgt_type, functions);
        const single = functions.length === 1 && !Array.isArray(fun);
        return single ? (answers[functions[0] ?? ''] ?? newDict()) : answers;
      },
    }),
    update: masterFn({
      doc: 'Makes minions send the values of their mine functions again; returns their answers.',
      examples: ["salt-run mine.update '*'", 'salt-run mine.update juniper-edges tgt_type=nodegroup'],
      params: {
        tgt: p.oneOf(['string', 'list'], { doc: 'which minions' }),
        tgt_type: p.string({ default: 'glob', doc: 'how to read the target' }),
        clear: p.bool({ default: false, doc: 'remove earlier values' }),
        mine_functions: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'these functions only' }),
      },
      run({ tgt, tgt_type, clear, mine_functions }, ctx) {
        const kwargs = newDict([
          ['clear', clear],
          ['mine_functions', mine_functions],
        ]);
        const target = tgt as string;
        return resultsOf(ctx, { tgt: target, tgt_type, fun: 'mine.update', arg: [], kwargs });
      },
    }),
  },
});
