// External pillar `http_json`: the answer of a web server, read as JSON.
import { definePillar, dictOf, isDict, newDict, p } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { fetchText, httpParams } from './shared/http.ts';

export default definePillar({
  name: 'http_json',
  doc: 'Fetches an address; %s stands for the minion’s id and, with with_grains, <name> for a grain. The answer is JSON.',
  params: {
    ...httpParams,
    namespace: p.string({ default: null, doc: 'key for the data' }),
  },
  async compile(args, ctx) {
    const text = await fetchText(args, ctx);
    if (text === undefined) return newDict();
    try {
      const value = loadJson(text);
      if (args.namespace) return dictOf([[args.namespace, value]]);
      if (isDict(value)) return value;
      ctx.log.error(`The answer of ${args.url} is not a map`);
    } catch (error) {
      ctx.log.error(`The answer of ${args.url} is not JSON`, { error: String(error) });
    }
    return newDict();
  },
});
