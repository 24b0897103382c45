// Secret store `etcd`: keys of an etcd server.
import { type Dict, defineSdb, dictGet, type ModuleContext, pyStr, type Value } from 'halite/sdk';
import { type EtcdStore, etcdV2, etcdV3 } from '../shared/etcd/store.ts';
import { numberOf, textOf } from './shared/profile.ts';

function storeOf(profile: Dict, ctx: ModuleContext): EtcdStore {
  const ca = textOf(profile, 'etcd.ca');
  const settings = {
    host: textOf(profile, 'etcd.host') ?? '127.0.0.1',
    port: numberOf(profile, 2379, 'etcd.port'),
    username: textOf(profile, 'etcd.username'),
    password: textOf(profile, 'etcd.password'),
    tls:
      ca === null
        ? undefined
        : { ca, cert: textOf(profile, 'etcd.client_cert'), key: textOf(profile, 'etcd.client_key') },
    encodeValues: dictGet(profile, 'etcd.encode_values') !== false,
    signal: ctx.signal,
  };
  return dictGet(profile, 'etcd.require_v2') === false ? etcdV3(settings) : etcdV2(settings);
}

/** Keys of version 2 begin with a slash, which may be omitted. */
const rooted = (key: string, profile: Dict): string =>
  dictGet(profile, 'etcd.require_v2') === false || key.startsWith('/') ? key : `/${key}`;

export default defineSdb({
  name: 'etcd_db',
  virtualName: 'etcd',
  doc: 'Keys of an etcd server (`etcd.host`, `etcd.port`, …), with the version 2 interface unless `etcd.require_v2: false`.',
  async get(key, profile, ctx): Promise<Value> {
    const at = rooted(key, profile);
    return (await storeOf(profile, ctx).get([at])).get(at) ?? null;
  },
  async set(key, value, profile, ctx): Promise<Value> {
    const store = storeOf(profile, ctx);
    const at = rooted(key, profile);
    await store.put([[at, pyStr(value)]], null);
    return (await store.get([at])).get(at) ?? null;
  },
  delete: (key, profile, ctx): Promise<Value> =>
    storeOf(profile, ctx)
      .remove(rooted(key, profile))
      .then(() => true)
      .catch(() => false),
});
