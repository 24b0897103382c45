// Secret store `rest`: answers of a web server.
import {
  type Dict,
  defineSdb,
  dictEntries,
  dictGet,
  HaliteError,
  isDict,
  type ModuleContext,
  newDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { splitQuery } from './shared/profile.ts';

async function query(address: string, profile: Dict, ctx: ModuleContext): Promise<Value> {
  const { key, query: values } = splitQuery(address);
  const item = dictGet(profile, key);
  if (item === undefined || !isDict(item)) throw new HaliteError('call.failed', `The sdb profile has no item "${key}"`);
  const url = dictGet(item, 'url');
  if (typeof url !== 'string') throw new HaliteError('config.value', `The item "${key}" of the sdb profile has no url`);
  const rendered = await ctx.render(url, { pipe: 'jinja|yaml', context: newDict([...values]) });
  const extras = dictEntries(item).filter(([name]) => name !== 'url' && name !== 'backend');
  const options = newDict([['decode', true], ...extras.map(([name, value]): [string, Value] => [pyStr(name), value])]);
  const answer = await ctx.callWith('http.query', [rendered], options);
  const found = isDict(answer) ? dictGet(answer, 'dict') : undefined;
  if (found !== undefined) return found;
  const why = isDict(answer) ? dictGet(answer, 'error') : undefined;
  throw new HaliteError('call.failed', `${pyStr(rendered)} gave no data${why ? `: ${pyStr(why)}` : ''}`);
}

export default defineSdb({
  name: 'rest',
  doc: 'Answers of web servers: each item of the profile has a `url` (a template) and options of http.query; `sdb://profile/item?name=value` fills the template.',
  get: (key, profile, ctx) => query(key, profile, ctx),
  set: (key, _value, profile, ctx) => query(key, profile, ctx),
});
