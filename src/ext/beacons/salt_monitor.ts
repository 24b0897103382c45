// Beacon `salt_monitor`: calls execution functions and reports their results.
import {
  asList,
  type BeaconContext,
  defineBeacon,
  fieldOf,
  isDict,
  isTruthy,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { entriesOf } from './shared/settings.ts';

interface Call {
  readonly fun: string;
  readonly args: Value[];
  readonly kwargs: PlainDict;
}

function callOf(entry: Value): Call {
  const [[fun, given] = [pyStr(entry), null]] = entriesOf(entry);
  const args = fieldOf(given, 'args');
  const kwargs = fieldOf(given, 'kwargs');
  return {
    fun,
    args: asList(args) ?? [],
    kwargs: newDict(Array.isArray(kwargs) ? kwargs.flatMap((item) => entriesOf(item)) : []),
  };
}

function validate({ salt_fun: given }: PlainDict): string | undefined {
  if (given === undefined) return 'Configuration for salt_monitor beacon requires salt_fun.';
  if (typeof given === 'string') return undefined;
  if (!Array.isArray(given)) return 'Configuration for salt_monitor beacon: salt_fun must be a function or a list.';
  for (const entry of given) {
    const [named] = entriesOf(entry);
    if (!named) continue;
    const [fun, parts] = named;
    for (const [key, value] of entriesOf(parts)) {
      if (key !== 'args' && key !== 'kwargs') return `key ${key} not allowed under fun ${fun}`;
      if (!Array.isArray(value))
        return key === 'args'
          ? `args key for fun ${fun} must be list`
          : `kwargs key for fun ${fun} must be list of key value pairs`;
      const bad = key === 'kwargs' ? value.find((item) => !isDict(item)) : undefined;
      if (bad !== undefined) return `${pyStr(bad)} is not a key / value pair`;
    }
  }
  return undefined;
}

async function read({ salt_fun: given }: PlainDict, ctx: BeaconContext): Promise<PlainDict[]> {
  // The result of a single function is always reported, results of functions in a list only when they are not empty.
  if (typeof given === 'string') return [newDict(Object.entries({ salt_fun: given, ret: await ctx.call(given) }))];
  const found: PlainDict[] = [];
  for (const { fun, args, kwargs } of (asList(given) ?? []).map(callOf)) {
    const ret = await ctx.callWith(fun, args, kwargs);
    if (!isTruthy(ret)) continue;
    const event = newDict(Object.entries({ salt_fun: fun, ret }));
    if (args.length > 0) event['args'] = args;
    if (Object.keys(kwargs).length > 0) event['kwargs'] = kwargs;
    found.push(event);
  }
  return found;
}

export default defineBeacon({
  name: 'salt_monitor',
  doc: 'Calls execution functions and sends their results; for functions in a list, only results that are not empty or false.',
  examples: [
    'salt_monitor:\n  - salt_fun:\n      - test.ping\n      - file.file_exists:\n          args: [/var/run/reboot-required]\n  - interval: 3600',
  ],
  validate,
  open: (settings, ctx) => ({ read: () => read(settings, ctx) }),
});
