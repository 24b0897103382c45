// Runner `sdb`: secret stores, from the master.
import { defineRunner, HaliteError, masterFn, p, type Value } from 'halite/sdk';
import { pyStr } from '../../base/codec/python/index.ts';

const ask = (name: string, doc: string, example: string) =>
  masterFn({
    doc,
    examples: [example],
    params: { args: p.rest({ doc: 'as of the execution function' }), kwargs: p.kwargs({ doc: 'likewise' }) },
    async run({ args, kwargs }, ctx): Promise<Value> {
      const options = { signal: ctx.signal, progress: (text: string) => ctx.progress(text) };
      const outcome = await ctx.master.callModule(`sdb.${name}`, args, kwargs, options);
      if (!outcome.success || outcome.retcode !== 0) throw new HaliteError('call.failed', pyStr(outcome.return));
      return outcome.return;
    },
  });

export default defineRunner({
  name: 'sdb',
  doc: 'Values of secret stores, with the profiles of the master.',
  functions: {
    get: ask('get', 'The value behind an address.', 'salt-run sdb.get sdb://mymemcached/foo'),
    set: ask('set', 'Sets a value.', 'salt-run sdb.set sdb://mymemcached/foo bar'),
    delete: ask('delete', 'Deletes a value.', 'salt-run sdb.delete sdb://mymemcached/foo'),
    get_or_set_hash: ask(
      'get_or_set_hash',
      'The value of an address; when there is none yet, a random text that is stored there.',
      'salt-run sdb.get_or_set_hash sdb://mymemcached/SECRET_KEY 50',
    ),
  },
});
