// etcd over HTTP: the JSON gateway of version 3, and the keys API of version 2 for old servers.

import { HaliteError, messageOf } from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { basicAuth, type HttpCall, type HttpTls, hostPort, httpCall } from '../http/request.ts';

export interface EtcdSettings {
  readonly host: string;
  readonly port: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly tls: HttpTls | undefined;
  readonly encodeValues: boolean;
  readonly signal: AbortSignal;
}

/** The operations that both versions provide. */
export interface EtcdStore {
  /** Writes all entries; with version 3 all or none. */
  put(entries: readonly (readonly [key: string, value: string])[], ttl: number | null): Promise<void>;
  get(keys: readonly string[]): Promise<Map<string, string>>;
  /** Everything below a key that ends with a slash. */
  list(prefix: string): Promise<Map<string, string>>;
  /** Removes a key; a missing key is not an error. */
  remove(key: string): Promise<void>;
  /** Only the keys below it. */
  keys(prefix: string): Promise<string[]>;
}

const baseOf = ({ host, port, tls }: EtcdSettings): string => `${tls ? 'https' : 'http'}://${hostPort(host, port)}`;
const common = (settings: EtcdSettings): Pick<HttpCall, 'service' | 'secrets' | 'signal'> & { tls?: HttpTls } => ({
  service: 'etcd',
  secrets: [settings.password],
  signal: settings.signal,
  ...(settings.tls ? { tls: settings.tls } : {}),
});

interface Pair {
  readonly key: string;
  readonly value?: string;
}
interface RangeAnswer {
  readonly kvs?: readonly Pair[];
}

const base64 = (data: string | Uint8Array): string => Buffer.from(data as string).toString('base64');
const plain = (text: string): string => Buffer.from(text, 'base64').toString('utf8');
/** By default the server accepts 128 operations at a time. */
const batch = 100;

/** The key after all keys that begin with a prefix. */
function afterPrefix(prefix: string): Uint8Array {
  const bytes = Buffer.from(prefix);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) + 1;
  return bytes;
}

/** Version 3. By default values are msgpack texts, as Salt's client writes them. */
export function etcdV3(settings: EtcdSettings): EtcdStore {
  const ask = asker(settings);
  const encode = (text: string): string => base64(settings.encodeValues ? pack(text, { bin: true }) : text);
  const decode = (value: string | undefined): string => decoded(Buffer.from(value ?? '', 'base64'), settings);
  const pairs = (answer: RangeAnswer): [string, string][] =>
    (answer.kvs ?? []).map(({ key, value }) => [plain(key), decode(value)]);
  const below = (prefix: string): object => ({ key: base64(prefix), range_end: base64(afterPrefix(prefix)) });
  return {
    async put(entries, ttl) {
      const lease = ttl ? { lease: ((await ask('lease/grant', { TTL: ttl })) as { ID: string }).ID } : {};
      for (let i = 0; i < entries.length; i += batch) {
        const some = entries.slice(i, i + batch);
        const success = some.map(([key, value]) => ({
          requestPut: { key: base64(key), value: encode(value), ...lease },
        }));
        await ask('kv/txn', { success });
      }
    },
    async get(keys) {
      const found = new Map<string, string>();
      for (let i = 0; i < keys.length; i += batch) {
        const success = keys.slice(i, i + batch).map((key) => ({ requestRange: { key: base64(key) } }));
        const { responses = [] } = (await ask('kv/txn', { success })) as {
          responses?: { response_range?: RangeAnswer }[];
        };
        for (const item of responses) {
          for (const [key, value] of pairs(item.response_range ?? {})) found.set(key, value);
        }
      }
      return found;
    },
    list: async (prefix) => new Map(pairs((await ask('kv/range', below(prefix))) as RangeAnswer)),
    async remove(key) {
      await ask('kv/deleterange', { key: base64(key) });
    },
    async keys(prefix) {
      const { kvs = [] } = (await ask('kv/range', { ...below(prefix), keys_only: true })) as RangeAnswer;
      return kvs.map(({ key }) => plain(key));
    },
  };
}

function decoded(bytes: Buffer, { encodeValues }: EtcdSettings): string {
  if (encodeValues) {
    try {
      const value = unpack(bytes);
      if (typeof value === 'string') return value;
    } catch {
      // Written by a client that does not encode values: unchanged.
    }
  }
  return bytes.toString('utf8');
}

/** One call of the gateway, with a token if a user is configured; an expired token is renewed once. */
function asker(settings: EtcdSettings): (path: string, body: object) => Promise<unknown> {
  const { username, password } = settings;
  let token: string | undefined;
  const send = async (path: string, body: object): Promise<unknown> => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: token };
    const url = `${baseOf(settings)}/v3/${path}`;
    return JSON.parse((await httpCall({ ...common(settings), url, headers, json: JSON.stringify(body) })).text);
  };
  const logIn = async (): Promise<void> => {
    token = undefined;
    token = ((await send('auth/authenticate', { name: username, password })) as { token: string }).token;
  };
  return async (path, body) => {
    if (username === null || password === null) return send(path, body);
    if (token === undefined) await logIn();
    try {
      return await send(path, body);
    } catch (error) {
      if (!/invalid auth token/.test(messageOf(error))) throw error;
      await logIn();
      return send(path, body);
    }
  };
}

interface Node {
  readonly key: string;
  readonly value?: string;
  readonly dir?: boolean;
  readonly nodes?: readonly Node[];
}

/** Version 2: folders and plain values. */
export function etcdV2(settings: EtcdSettings): EtcdStore {
  const { username, password } = settings;
  const headers: Record<string, string> = username && password ? { authorization: basicAuth(username, password) } : {};
  const urlOf = (key: string): string => {
    const parts = key.split('/');
    // Minions choose the names of fields, and `..` in an address would leave the folder in every spelling.
    if (parts.some((part) => part === '.' || part === '..'))
      throw new HaliteError('path.refused', `etcd takes no key like '${key.slice(0, 100)}'`);
    return `${baseOf(settings)}/v2/keys${parts.map(encodeURIComponent).join('/')}`;
  };
  const read = async (key: string, query: string): Promise<Node | undefined> => {
    const answer = await httpCall({ ...common(settings), url: urlOf(key) + query, headers, accept: [404] });
    return answer.status === 404 ? undefined : (JSON.parse(answer.text) as { node: Node }).node;
  };
  const list = async (prefix: string): Promise<Map<string, string>> =>
    new Map(leaves(await read(prefix.replace(/\/$/, ''), '?recursive=true')));
  return {
    async put(entries, ttl) {
      for (const [key, value] of entries) {
        const form = { value, ...(ttl ? { ttl: String(ttl) } : {}) };
        await httpCall({ ...common(settings), url: urlOf(key), method: 'PUT', headers, form });
      }
    },
    async get(keys) {
      const found = new Map<string, string>();
      for (const key of keys) {
        const node = await read(key, '');
        if (node?.value !== undefined) found.set(key, node.value);
      }
      return found;
    },
    list,
    async remove(key) {
      await httpCall({ ...common(settings), url: urlOf(key), method: 'DELETE', headers, accept: [404] });
    },
    keys: async (prefix) => [...(await list(prefix)).keys()],
  };
}

function* leaves(node: Node | undefined): Generator<[string, string]> {
  if (!node) return;
  if (!node.dir && node.value !== undefined) yield [node.key, node.value];
  for (const child of node.nodes ?? []) yield* leaves(child);
}
