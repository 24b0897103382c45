// A user's proxy type in Python (`_proxy/*.py`), as the bridge describes it, in the form of `defineProxy`.
import { newDict, type Value } from '../../base/codec/value.ts';
import { type ProxyFunction, type ProxyType, proxyTypeOf } from '../sdk/index.ts';
import type { Described, PythonCaller, PythonParts } from './python.ts';

/** Functions that get the options, whoever calls them. */
const withOptions: ReadonlySet<string> = new Set(['init', 'shutdown', 'alive']);

/** Its module variables and `__context__` last as long as its Python process, which is that of one device. */
export function pythonProxy(parts: PythonParts, described: Described): ProxyType {
  const { file, host, finder } = parts;
  const known = described.functions;
  return {
    kind: 'proxies',
    name: file.name,
    virtualName: described.name,
    doc: described.doc,
    available: ({ opts }) => refusalOf(described, proxyTypeOf(opts)) ?? true,
    async open(_settings, ctx) {
      const run = (fun: string, args: readonly Value[], kwargs = newDict()): Promise<Value> =>
        host.run({ ...parts, fun, args, kwargs }, ctx as PythonCaller, finder);
      const opts = newDict(Object.entries(ctx.opts));
      await run('init', [opts]);
      const functions = Object.keys(known).map((name): [string, ProxyFunction] => [
        name,
        (args, kwargs) => run(name, args.length === 0 && withOptions.has(name) ? [opts] : args, kwargs),
      ]);
      return { functions: Object.fromEntries(functions), close: async () => void (await run('shutdown', [opts])) };
    },
  };
}

/** Salt's rules for files of this kind: made for the type, with `init` and `shutdown`. */
function refusalOf({ functions, proxies }: Described, type: string | undefined): string | undefined {
  if (!proxies.includes('*') && !(type !== undefined && proxies.includes(type)))
    return `its __proxyenabled__ does not name ${type ?? 'any type'}`;
  const missing = ['init', 'shutdown'].filter((name) => functions[name] === undefined);
  return missing.length === 0 ? undefined : `it has no function ${missing.join(' and ')}`;
}
