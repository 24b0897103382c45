// Returner `etcd`: results, jobs and events in etcd, under Salt's keys.
import {
  asNumber,
  defineReturner,
  dictGet,
  isDict,
  type JobCache,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type ReturnerContext,
  type StoredEvent,
  type Value,
} from 'halite/sdk';
import { type EtcdSettings, type EtcdStore, etcdV2, etcdV3 } from '../../shared/etcd/store.ts';
import { contentId, fromJson, jsonDict, keysOf, toJson } from '../shared/loads.ts';

const options = {
  host: p.string({ default: '127.0.0.1', doc: 'Name or address of the server.' }),
  port: p.int({ default: 2379, doc: 'Its port.' }),
  username: p.string({ default: null, doc: 'User, where the server asks for one.' }),
  password: p.string({ default: null, doc: 'Password of the user.' }),
  ca: p.path({ default: null, doc: 'File of the certificate authority; with it the connection is encrypted.' }),
  client_key: p.path({ default: null, doc: 'File of the client key, together with `client_cert`.' }),
  client_cert: p.path({ default: null, doc: 'File of the client certificate.' }),
  require_v2: p.bool({
    default: false,
    doc: 'Use the keys API of version 2, which servers since 3.6 no longer have.',
  }),
  encode_values: p.bool({ default: true, doc: 'Version 3: values are msgpack texts.' }),
  ttl: p.int({ default: null, doc: 'Time to live of written keys in seconds.' }),
  returner: p.string({ default: null, doc: 'Name of a set of these options (`etcd.host: …`) in the configuration.' }),
  returner_root: p.string({ default: '/salt/return', doc: 'The root key.' }),
  returner_read_profile: p.string({ default: null, doc: 'The set of options used for reading.' }),
  returner_write_profile: p.string({ default: null, doc: 'The set of options used for writing.' }),
};
type Plain = 'host' | 'port' | 'username' | 'password' | 'ca' | 'client_key' | 'client_cert';
type Given = Readonly<Record<Plain, string | number | null>> & {
  readonly require_v2: boolean;
  readonly encode_values: boolean;
  readonly ttl: number | null;
};

/** `my_etcd: {etcd.host: …}` from the configuration or the pillar. */
function profileOf(ctx: ReturnerContext, name: string | null): (option: string) => Value | undefined {
  if (name === null) return () => undefined;
  const master = dictGet(ctx.pillar, 'master');
  const places = [ctx.opts[name], dictGet(ctx.pillar, name), isDict(master) ? dictGet(master, name) : undefined];
  const found = places.find(isDict);
  if (!found) ctx.log.warn(`There is no set of etcd options named '${name}'`);
  return (option) => (found ? dictGet(found, `etcd.${option}`) : undefined);
}

function storeFor(
  given: Given,
  ctx: ReturnerContext,
  profile: string | null,
): { store: EtcdStore; ttl: number | null } {
  const own = profileOf(ctx, profile);
  const text = (name: Plain): string | null => {
    const value = own(name) ?? given[name];
    return value === null ? null : pyStr(value);
  };
  const flag = (name: 'require_v2' | 'encode_values'): boolean => {
    const value = own(name);
    return typeof value === 'boolean' ? value : given[name];
  };
  const ca = text('ca');
  const settings: EtcdSettings = {
    host: text('host') ?? '127.0.0.1',
    port: Number(text('port') ?? 2379),
    username: text('username'),
    password: text('password'),
    tls: ca === null ? undefined : { ca, cert: text('client_cert'), key: text('client_key') },
    encodeValues: flag('encode_values'),
    signal: ctx.signal,
  };
  const store = flag('require_v2') ? etcdV2(settings) : etcdV3(settings);
  return { store, ttl: asNumber(own('ttl')) ?? given.ttl };
}

/** Minion → its return, from keys `…/<minion>/<field>`. */
function returnsIn(found: ReadonlyMap<string, string>, start: string): Map<string, PlainDict> {
  const returns = new Map<string, PlainDict>();
  for (const [key, text] of found) {
    const [id = '', field] = key.slice(start.length).split('/');
    const value = fromJson(text);
    if (field === undefined || value === undefined) continue;
    const load = returns.get(id) ?? newDict();
    load[field] = value;
    returns.set(id, load);
  }
  return returns;
}

function jobCacheOf(read: EtcdStore, write: EtcdStore, root: string, ttl: number | null): JobCache {
  const loadKey = (jid: string): string => `${root}/jobs/${jid}/.load.p`;
  const lastJobs = async (): Promise<Map<string, string>> => {
    const found = [...(await read.list(`${root}/minions/`))];
    return new Map(found.map(([key, jid]) => [key.slice(key.lastIndexOf('/') + 1), jid]));
  };
  return {
    saveLoad: (jid, load) => write.put([[loadKey(jid), toJson(load)]], ttl),
    load: async (jid) => jsonDict((await read.get([loadKey(jid)])).get(loadKey(jid))),
    async returns(jid) {
      const start = `${root}/jobs/${jid}/`;
      return returnsIn(await read.list(start), start);
    },
    async lastOf(fun) {
      // etcd knows the last job of a minion, not of each function.
      const last = await lastJobs();
      const keys = [...last].map(([id, jid]) => [id, `${root}/jobs/${jid}/${id}/`] as const);
      const funs = await read.get(keys.map(([, start]) => `${start}fun`));
      const found = new Map<string, PlainDict>();
      for (const [id, start] of keys) {
        if (fromJson(funs.get(`${start}fun`)) !== fun) continue;
        const load = returnsIn(await read.list(start), start.slice(0, -id.length - 1)).get(id);
        if (load) found.set(id, load);
      }
      return found;
    },
    async jids() {
      const keys = (await read.keys(`${root}/jobs/`)).filter((key) => key.endsWith('/.load.p'));
      const found = await read.get(keys);
      const jobs = new Map<string, PlainDict>();
      for (const key of keys) {
        const load = jsonDict(found.get(key));
        if (load) jobs.set(key.split('/').at(-2) ?? '', load);
      }
      return jobs;
    },
    minions: async () => [...(await lastJobs()).keys()],
  };
}

/** Keys that sort by time; the same event of the same batch has the same key. */
function eventEntry(root: string, { tag, data }: StoredEvent, i: number): [string, string] {
  const text = toJson(
    newDict([
      ['tag', tag],
      ['data', data],
    ]),
  );
  const stamp = pyStr(data['_stamp'] ?? '').replaceAll('/', '_');
  return [`${root}/events/${stamp}-${String(i).padStart(6, '0')}-${contentId(text)}`, text];
}

export default defineReturner({
  name: 'etcd',
  doc:
    'Keeps results in etcd: `<root>/jobs/<jid>/<minion>/<field>` holds each field of a result as JSON, ' +
    '`<root>/minions/<minion>` the last jid, `<root>/jobs/<jid>/.load.p` the job and `<root>/events/…` events.',
  keeps: ['jobs', 'events'],
  options,
  open(given, ctx) {
    const root = given.returner_root.replace(/\/+$/, '');
    const { store: write, ttl } = storeFor(given, ctx, given.returner_write_profile ?? given.returner);
    const { store: read } = storeFor(given, ctx, given.returner_read_profile ?? given.returner);
    return {
      save(ret) {
        const { id, jid } = keysOf(ret);
        // Minions choose the names of fields, which become a part of the path.
        const fields = Object.entries(ret)
          .filter(([name]) => /^\w[\w.-]*$/.test(name))
          .map(([name, value]) => [`${root}/jobs/${jid}/${id}/${name}`, toJson(value)] as const);
        return write.put([[`${root}/minions/${id}`, jid], ...fields], ttl);
      },
      async saveEvents(events) {
        if (events.length > 0)
          await write.put(
            events.map((event, i) => eventEntry(root, event, i)),
            ttl,
          );
      },
      jobCache: jobCacheOf(read, write, root, ttl),
    };
  },
});
