// Runner `doc`: the documentation of functions, from the master's own tables and from minions.
import { defineRunner, isDict, type MasterContext, masterFn, newDict, type PlainDict, p } from 'halite/sdk';

async function docsOf(ctx: MasterContext, kind: 'runners' | 'wheel'): Promise<PlainDict> {
  const docs = newDict();
  for (const name of (await ctx.registry.functionNames(kind)).sort()) {
    docs[name] = (await ctx.registry.functionInfo(kind, name))?.doc ?? '';
  }
  return docs;
}

export default defineRunner({
  name: 'doc',
  doc: 'The documentation of runners, wheel functions and execution functions.',
  functions: {
    runner: masterFn({
      doc: 'Every runner function with its documentation.',
      examples: ['salt-run doc.runner'],
      run: (_args, ctx) => docsOf(ctx, 'runners'),
    }),
    wheel: masterFn({
      doc: 'Every wheel function with its documentation.',
      examples: ['salt-run doc.wheel'],
      run: (_args, ctx) => docsOf(ctx, 'wheel'),
    }),
    execution: masterFn({
      doc: 'The execution functions of all minions, each documented once.',
      examples: ['salt-run doc.execution'],
      params: { timeout: p.oneOf(['int', 'float', 'string'], { default: null, doc: 'seconds' }) },
      async run({ timeout }, ctx) {
        const { returns } = await ctx.master.runJob({
          tgt: '*',
          tgt_type: 'glob',
          fun: 'sys.doc',
          arg: [],
          ...(typeof timeout === 'number' ? { timeoutSeconds: timeout } : {}),
        });
        const all = newDict();
        for (const { ret } of Object.values(returns)) if (isDict(ret)) Object.assign(all, ret);
        return newDict(
          Object.keys(all)
            .sort()
            .map((name) => [name, all[name] ?? '']),
        );
      },
    }),
  },
});
