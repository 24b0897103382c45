// Runner functions that call the execution function of the same name on the master.
import { HaliteError, masterFn, p, pyStr, type Value } from 'halite/sdk';

/** `fun` is the full name, such as `http.query`. */
export const asModule = (fun: string, doc: string, example: string) =>
  masterFn({
    doc,
    examples: [example],
    params: {
      args: p.rest({ doc: 'as of the execution function' }),
      kwargs: p.kwargs({ doc: 'as of the execution function' }),
    },
    async run({ args, kwargs }, ctx): Promise<Value> {
      const options = { signal: ctx.signal, progress: (text: string) => ctx.progress(text) };
      const outcome = await ctx.master.callModule(fun, args, kwargs, options);
      if (!outcome.success || outcome.retcode !== 0) throw new HaliteError('call.failed', pyStr(outcome.return));
      return outcome.return;
    },
  });
