// External pillar `http_yaml`: the answer of a web server, read as YAML.
import { definePillar, isDict, newDict } from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { fetchText, httpParams } from './shared/http.ts';

export default definePillar({
  name: 'http_yaml',
  doc: 'Fetches an address; %s stands for the minion’s id and, with with_grains, <name> for a grain. The answer is YAML.',
  params: httpParams,
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
