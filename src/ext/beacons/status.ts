// Beacon `status`: status values of the machine, from the functions of the module `status`.
import {
  type BeaconContext,
  defineBeacon,
  dictGet,
  dictOf,
  isDict,
  messageOf,
  newDict,
  oneOrMore,
  type PlainDict,
  pyRepr,
  type Value,
} from 'halite/sdk';

const usual = ['loadavg', 'cpustats', 'meminfo', 'vmstats', 'time'] as const;

/** One field of a result: by its name, or by its index in a list. */
function itemOf(data: Value, item: Value): Value | undefined {
  if (isDict(data)) return dictGet(data, item);
  const at = Number(item);
  return Array.isArray(data) ? data[at] : typeof data === 'string' ? data[at] : undefined;
}

async function ask(name: string, items: Value, ctx: BeaconContext): Promise<Value> {
  let data: Value;
  try {
    data = await ctx.call(`status.${name}`);
  } catch (error) {
    ctx.log.debug('a function of the status beacon failed', { function: name, error: messageOf(error) });
    return newDict();
  }
  const wanted = oneOrMore(items);
  if (wanted.includes('all')) return data;
  const found: [Value, Value][] = [];
  for (const item of wanted) {
    const value = itemOf(data, item);
    if (value === undefined) return `Status beacon is incorrectly configured: ${pyRepr(item)}`;
    found.push([item, value]);
  }
  return dictOf(found);
}

async function read(settings: PlainDict, ctx: BeaconContext): Promise<PlainDict[]> {
  // Python's isoformat: microseconds, and no zone.
  const tag = new Date().toISOString().replace('Z', '000');
  const wanted = Object.entries(settings);
  const data = newDict();
  for (const [name, items] of wanted.length > 0 ? wanted : usual.map((of) => [of, 'all'] as const))
    data[name] = await ask(name, items, ctx);
  return [newDict(Object.entries({ tag, data }))];
}

export default defineBeacon({
  name: 'status',
  doc: 'Sends results of functions of the module `status`: all of them, or the named fields.',
  examples: ['status:\n  - interval: 60\n  - loadavg: [all]\n  - meminfo: [MemFree]'],
  open: (settings, ctx) => ({ read: () => read(settings, ctx) }),
});
