// External pillar `http_yaml`: the answer of a web server, read as YAML.
import { definePillar, isDict, newDict, p } from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { fetchText } from './shared/http.ts';

export default definePillar({
  name: 'http_yaml',
  doc: 'Fetches an address; %s stands for the minion’s id and, with with_grains, <name> for a grain. The answer is YAML.',
  params: {
    url: p.string({ doc: 'the address' }),
    with_grains: p.bool({ default: false, doc: 'replace grains in the address' }),
    header_dict: p.dict({ default: null, doc: 'headers to send' }),
    auth: p.list({ default: null, doc: 'user and password as a list' }),
    username: p.string({ default: null }),
    password: p.string({ default: null }),
  },
  async compile(args, ctx) {
    const text = await fetchText(args, ctx);
    if (text === undefined) return newDict();
    try {
      const value = loadYaml(text);
      if (isDict(value)) return value;
      ctx.log.error(`The answer of ${args.url} is not a map`);
    } catch (error) {
      ctx.log.error(`The answer of ${args.url} is not YAML`, { error: String(error) });
    }
    return newDict();
  },
});
