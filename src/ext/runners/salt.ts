// Runner `salt`: execution functions on the master itself, and on minions from other runners.
import { asText, defineRunner, masterFn, newDict, type PlainDict, p, type Value } from 'halite/sdk';
import { resultsOf } from './shared/results.ts';

const without = (kwargs: PlainDict, ...names: string[]): PlainDict =>
  newDict(Object.entries(kwargs).filter(([name]) => !name.startsWith('__') && !names.includes(name)));

const textList = (value: Value): Value[] => {
  if (Array.isArray(value)) return value;
  return value === null || value === '' ? [] : [value];
};

export default defineRunner({
  name: 'salt',
  doc: 'Call execution functions on the master, or on minions.',
  functions: {
    cmd: masterFn({
      doc: 'Runs an execution function on the master, as if it were a minion.',
      examples: ['salt-run salt.cmd test.ping', 'salt-run salt.cmd test.arg 1 2 3 a=1'],
      params: {
        fun: p.text({ doc: 'the function' }),
        args: p.rest({ doc: 'its arguments' }),
        with_pillar: p.bool({ default: false, doc: 'compile the pillar of the master first' }),
        kwargs: p.kwargs({ doc: 'its named arguments' }),
      },
      async run({ fun, args, with_pillar, kwargs }, ctx) {
        const user = ctx.job['user'];
        const outcome = await ctx.master.callModule(fun, args, without(kwargs), {
          user: asText(user),
          withPillar: with_pillar,
          signal: ctx.signal,
          progress: (text) => ctx.progress(text),
        });
        if (outcome.retcode !== 0) ctx.setRetcode(outcome.retcode);
        return outcome.return;
      },
    }),
    execute: masterFn({
      doc: 'Runs a function on the minions that a target matches, and returns their results.',
      examples: [
        "salt-run salt.execute '*' test.ping",
        'salt-run salt.execute web cmd.run arg=uptime tgt_type=nodegroup',
      ],
      params: {
        tgt: p.oneOf(['string', 'list'], { doc: 'the target' }),
        fun: p.text({ doc: 'the function' }),
        arg: p.any({ default: null, doc: 'its arguments' }),
        timeout: p.oneOf(['int', 'float', 'string'], { default: null, doc: 'seconds' }),
        tgt_type: p.text({ default: 'glob', doc: 'the kind of target' }),
        ret: p.string({ default: '', doc: 'returners' }),
        jid: p.string({ default: '', doc: 'accepted for compatibility' }),
        kwarg: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'named arguments' }),
        kwargs: p.kwargs({ doc: 'accepted for compatibility' }),
      },
      run({ tgt, fun, arg, timeout, tgt_type, ret, kwarg }, ctx) {
        return resultsOf(ctx, {
          tgt: Array.isArray(tgt) ? tgt.map(String) : String(tgt),
          tgt_type,
          fun,
          arg: textList(arg),
          ...(ret ? { ret } : {}),
          ...(typeof timeout === 'number' ? { timeoutSeconds: timeout } : {}),
          ...(kwarg !== null && typeof kwarg === 'object' && !Array.isArray(kwarg)
            ? { kwargs: kwarg as PlainDict }
            : {}),
        });
      },
    }),
  },
});
