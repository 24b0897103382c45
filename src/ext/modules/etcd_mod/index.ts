// Execution module `etcd`: keys of an etcd server.
import {
  defineModule,
  dictEntries,
  dictGet,
  fn,
  invocationError,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { type EtcdStore, etcdV2, etcdV3 } from '../../shared/etcd/store.ts';

/** The store that options of the call, of a profile, or of the configuration describe (`etcd.host`, …). */
function storeOf(profile: string | null, kwargs: PlainDict, ctx: ModuleContext): EtcdStore {
  const master = dictGet(ctx.pillar, 'master');
  const places = [ctx.opts, ctx.pillar, isDict(master) ? master : newDict()];
  const named =
    profile === null ? undefined : places.map((place) => read(place, profile)).find((found) => found !== undefined);
  if (profile !== null && !(named !== undefined && isDict(named)))
    throw invocationError(`There is no set of etcd options named '${profile}'`);
  const option = (name: string): Value | undefined => {
    if (kwargs[name] !== undefined) return kwargs[name];
    const from = named !== undefined && isDict(named) ? [named] : places;
    return from.map((place) => read(place, `etcd.${name}`)).find((found) => found !== undefined && found !== null);
  };
  const text = (name: string): string | null => {
    const value = option(name);
    return value === undefined ? null : pyStr(value);
  };
  const ca = text('ca');
  const settings = {
    host: text('host') ?? '127.0.0.1',
    port: Number(text('port') ?? 2379),
    username: text('username'),
    password: text('password'),
    tls: ca === null ? undefined : { ca, cert: text('client_cert'), key: text('client_key') },
    encodeValues: option('encode_values') !== false,
    signal: ctx.signal,
  };
  return option('require_v2') === true ? etcdV2(settings) : etcdV3(settings);
}

const read = (place: Readonly<Record<string, Value>> | Map<Value, Value> | PlainDict, key: string): Value | undefined =>
  dictGet(place as PlainDict, key);

/** Keys with slashes as nested maps. */
export function expand(entries: Iterable<readonly [string, string]>): PlainDict {
  const root = newDict();
  for (const [key, value] of entries) {
    const parts = key.split('/').filter(Boolean);
    const last = parts.pop();
    let place = root;
    for (const part of parts) {
      if (!isDict(place[part] ?? null)) place[part] = newDict();
      place = place[part] as PlainDict;
    }
    if (last !== undefined) place[last] = value;
  }
  return root;
}

/** Nested maps as keys with slashes. */
export function flatten(fields: Value, path: string): [string, string][] {
  if (!isDict(fields)) return [[path, pyStr(fields)]];
  return dictEntries(fields).flatMap(([key, value]) => flatten(value, `${path.replace(/\/$/, '')}/${pyStr(key)}`));
}

async function treeOf(path: string, store: EtcdStore): Promise<PlainDict | null> {
  const below = await store.list(path.endsWith('/') ? path : `${path}/`);
  if (below.size > 0) return expand([...below].map(([key, value]) => [key.slice(path.length), value]));
  const own = (await store.get([path])).get(path);
  return own === undefined ? null : newDict([[path.split('/').at(-1) ?? '', own]]);
}

const key = p.string({ doc: 'the key' });
const path = p.string({ default: '/', doc: 'the parent key' });
const recurse = p.bool({ default: false, doc: 'and all below' });
const profile = p.string({ default: null, doc: 'name of a set of options in the configuration' });
const kwargs = p.kwargs({ doc: 'host, port, username, password, ca, client_cert, client_key, require_v2' });

export default defineModule({
  name: 'etcd_mod',
  virtualName: 'etcd',
  doc: 'Keys of an etcd server.',
  reads: ['get', 'ls', 'tree'],
  functions: {
    get: fn({
      doc: 'The value of a key, or nothing; with `recurse` all below it.',
      examples: ['salt myminion etcd.get /path/to/key profile=my_etcd_config'],
      params: { key, recurse, profile, kwargs },
      async run(args, ctx) {
        const store = storeOf(args.profile, args.kwargs, ctx);
        if (args.recurse) return treeOf(args.key, store);
        return (await store.get([args.key])).get(args.key) ?? null;
      },
    }),
    set: fn({
      doc: 'Sets the value of a key; the value.',
      examples: ['salt myminion etcd.set /path/to/key value'],
      params: {
        key,
        value: p.string({ doc: 'the value' }),
        profile,
        ttl: p.int({ default: null, doc: 'time to live in seconds' }),
        directory: p.bool({ default: false, doc: 'a folder; version 3 has none' }),
        kwargs,
      },
      async run(args, ctx) {
        if (args.directory) throw invocationError('etcd3 does not have directories');
        const store = storeOf(args.profile, args.kwargs, ctx);
        await store.put([[args.key, args.value]], args.ttl);
        return (await store.get([args.key])).get(args.key) ?? null;
      },
    }),
    update: fn({
      doc: 'Sets the values of a nested map.',
      examples: [`salt myminion etcd.update "{'/path/to/key': 'value', 'other': {'key': 'value'}}"`],
      params: {
        fields: p.oneOf(['dict', 'list', 'string'], { doc: 'keys and values' }),
        path: p.string({ default: '', doc: 'below this key' }),
        profile,
        kwargs,
      },
      async run(args, ctx) {
        if (!isDict(args.fields)) return null;
        const entries = flatten(args.fields, args.path).map(
          ([at, value]) => [at.replace(/\/{2,}/g, '/'), value] as const,
        );
        await storeOf(args.profile, args.kwargs, ctx).put(entries, null);
        return newDict([...entries]);
      },
    }),
    ls: fn({
      doc: 'Keys directly below a key; keys with children end in a slash.',
      examples: ['salt myminion etcd.ls /path/to/dir'],
      params: { path, profile, kwargs },
      async run(args, ctx) {
        const tree = await treeOf(args.path, storeOf(args.profile, args.kwargs, ctx));
        if (tree === null) return newDict();
        const start = args.path.endsWith('/') ? args.path : `${args.path}/`;
        const rows = Object.entries(tree).map(([name, value]): [string, Value] =>
          isDict(value) ? [`${start}${name}/`, newDict()] : [`${start}${name}`, value],
        );
        return newDict([[args.path, newDict(rows)]]);
      },
    }),
    tree: fn({
      doc: 'All below a key as nested maps.',
      examples: ['salt myminion etcd.tree /path/to/keys'],
      params: { path, profile, kwargs },
      run: (args, ctx) => treeOf(args.path, storeOf(args.profile, args.kwargs, ctx)),
    }),
  },
});
