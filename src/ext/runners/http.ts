// Runner `http`: requests of the master itself to web servers.
import { defineRunner, HaliteError, masterFn, p, type Value } from 'halite/sdk';
import { pyStr } from '../../base/codec/python/index.ts';

const ask = (name: 'query' | 'update_ca_bundle', doc: string, example: string) =>
  masterFn({
    doc,
    examples: [example],
    params: { args: p.rest({ doc: 'as of the execution function' }), kwargs: p.kwargs({ doc: 'likewise' }) },
    async run({ args, kwargs }, ctx): Promise<Value> {
      const options = { signal: ctx.signal, progress: (text: string) => ctx.progress(text) };
      const outcome = await ctx.master.callModule(`http.${name}`, args, kwargs, options);
      if (!outcome.success || outcome.retcode !== 0) throw new HaliteError('call.failed', pyStr(outcome.return));
      return outcome.return;
    },
  });

export default defineRunner({
  name: 'http',
  doc: 'Requests to web servers, from the master.',
  functions: {
    query: ask(
      'query',
      'Asks an address; arguments are those of the execution function `http.query`.',
      'salt-run http.query http://example.com/ status=True',
    ),
    update_ca_bundle: ask(
      'update_ca_bundle',
      'Fetches a bundle of certificates of authorities into a local file.',
      'salt-run http.update_ca_bundle target=/path/to/cacerts.pem',
    ),
  },
});
