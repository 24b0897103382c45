// The option `cluster` of a master, read once.
import { asText, type Dict, dictEntries, dictGet, isDict, isTexts } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { nearest } from '../../base/util/nearest.ts';

export interface ClusterOptions {
  readonly name: string;
  /** Addresses of nats-servers as URLs. */
  readonly servers: readonly string[];
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Files with credentials; one of them at most. */
  readonly creds?: string;
  readonly nkey?: string;
  /** Allows connections without TLS to other machines. */
  readonly insecure: boolean;
  /** When a result counts as stored: here and at the engine, at the engine in any case, or here alone. */
  readonly ack: 'both' | 'quorum' | 'own';
  readonly ackWaitMs: number;
  readonly replicas: number;
  readonly logMb: number;
  /** The master starts and stops a nats-server itself. */
  readonly managed: boolean;
  /** For a managed server: where it listens for masters and for other servers, and where those are. */
  readonly listen: string;
  readonly routesListen?: string;
  readonly peers: readonly string[];
  /** Of the managed server, known while it runs; no option. */
  readonly login?: { readonly user: string; readonly password: string };
}

const keys = [
  ...['name', 'servers', 'creds', 'nkey', 'cert', 'key', 'ca', 'insecure', 'ack', 'ack_wait', 'replicas', 'log_mb'],
  ...['serve', 'nats', 'listen', 'routes_listen', 'peers'],
];
const longestName = /^[a-z0-9-]{1,24}$/;
const address = /^(?:[\w.-]+|\[[\da-fA-F:]+\]):\d{1,5}$/;
const serverUrl = /^(tls|nats):\/\/((?:[\w.-]+|\[[\da-fA-F:]+\])(?::\d{1,5})?)\/?$/;
const mostServers = 32;

/** Undefined for a master without others; throws `config.value` with what is wrong. */
export function readClusterOptions(value: unknown): ClusterOptions | undefined {
  if (value === null || value === undefined) return undefined;
  if (!isDict(value)) throw wrong('', 'is not a map', 'Write `cluster:` with `name` and `servers` below it.');
  for (const [key] of dictEntries(value)) checkKey(String(key));
  const name = textOf(value, 'name');
  if (name === undefined || !longestName.test(name)) {
    throw wrong('name', 'is needed: 1 to 24 of a-z, 0-9 and -', 'All masters of the cluster have the same name.');
  }
  const managed = oneOf(value, 'nats', ['external', 'managed'] as const) === 'managed';
  const listen = addressOf(value, 'listen') ?? '127.0.0.1:4222';
  const insecure = flag(value, 'insecure');
  const servers = list(value, 'servers') ?? (managed ? [`nats://${listen}`] : []);
  if (servers.length === 0) {
    throw wrong('servers', 'is needed', 'List the addresses of your nats-servers, or set `nats: managed`.');
  }
  for (const server of servers) checkServer(server, insecure);
  const [creds, nkey] = [textOf(value, 'creds'), textOf(value, 'nkey')];
  if (creds !== undefined && nkey !== undefined)
    throw wrong('nkey', 'and cluster.creds are both set', 'Keep one of them.');
  if (textOf(value, 'serve') === 'pinned') {
    const hint = 'Leave it out: each member serves what it has, and a difference that stays is named.';
    throw wrong('serve', 'cannot be pinned yet', hint);
  }
  oneOf(value, 'serve', ['watch'] as const);
  const routesListen = addressOf(value, 'routes_listen');
  const peers = list(value, 'peers') ?? [];
  for (const peer of peers) if (!address.test(peer)) throw wrong('peers', `has an entry that is no host:port: ${peer}`);
  return {
    ...{ name, servers, insecure, managed, listen, peers, tls: tlsOf(value) },
    ...(creds === undefined ? {} : { creds }),
    ...(nkey === undefined ? {} : { nkey }),
    ...(routesListen === undefined ? {} : { routesListen }),
    ack: oneOf(value, 'ack', ['both', 'quorum', 'own'] as const),
    ackWaitMs: 1000 * number(value, 'ack_wait', 2, 0, 60),
    replicas: whole(value, 'replicas', 3, 1, 5),
    logMb: whole(value, 'log_mb', 4096, 16, 1 << 20),
  };
}

function wrong(key: string, what: string, hint?: string): HaliteError {
  return new HaliteError('config.value', `Config option cluster${key === '' ? '' : `.${key}`} ${what}`, {
    ...(hint === undefined ? {} : { hint }),
  });
}

function checkKey(key: string): void {
  if (keys.includes(key)) return;
  const meant = nearest(key, keys);
  throw wrong(
    key,
    'is not known',
    meant === undefined ? `Known ones: ${keys.join(', ')}.` : `Did you mean '${meant}'?`,
  );
}

function checkServer(server: string, insecure: boolean): void {
  const found = serverUrl.exec(server);
  if (!found) throw wrong('servers', `has an entry that is no address: ${server}`, 'Write tls://host:4222.');
  if (found[1] === 'tls' || insecure || isLoopback(found[2] ?? '')) return;
  throw wrong(
    'servers',
    `has an address without TLS: ${server}`,
    'Use tls://, or set `insecure: true` in a network that you trust.',
  );
}

export function isLoopback(host: string): boolean {
  return /^(?:127\.[\d.]+|localhost|\[::1\])(?::\d+)?$/.test(host);
}

function tlsOf(dict: Dict): ClusterOptions['tls'] {
  const [ca, cert, key] = [textOf(dict, 'ca'), textOf(dict, 'cert'), textOf(dict, 'key')];
  if ((cert === undefined) !== (key === undefined))
    throw wrong('cert', 'and cluster.key belong together: one is missing');
  return { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) };
}

function textOf(dict: Dict, key: string): string | undefined {
  const value = dictGet(dict, key);
  if (value === undefined || value === null) return undefined;
  const text = asText(value);
  if (text === undefined || text === '') throw wrong(key, 'is not a text');
  return text;
}

function addressOf(dict: Dict, key: string): string | undefined {
  const text = textOf(dict, key);
  if (text !== undefined && !address.test(text)) throw wrong(key, `is not of the form host:port: ${text}`);
  return text;
}

function list(dict: Dict, key: string): readonly string[] | undefined {
  const value = dictGet(dict, key);
  if (value === undefined || value === null) return undefined;
  if (!isTexts(value) || value.length > mostServers) throw wrong(key, `is not a list of at most ${mostServers} texts`);
  return value;
}

function flag(dict: Dict, key: string): boolean {
  const value = dictGet(dict, key) ?? false;
  if (typeof value !== 'boolean') throw wrong(key, 'is neither true nor false');
  return value;
}

function number(dict: Dict, key: string, otherwise: number, least: number, most: number): number {
  const value = dictGet(dict, key) ?? otherwise;
  const plain = typeof value === 'object' ? Number(value) : value;
  if (typeof plain === 'number' && plain >= least && plain <= most) return plain;
  throw wrong(key, `is not a number from ${least} to ${most}`);
}

function whole(dict: Dict, key: string, otherwise: number, least: number, most: number): number {
  const value = number(dict, key, otherwise, least, most);
  if (!Number.isInteger(value)) throw wrong(key, 'is not a whole number');
  return value;
}

function oneOf<const T extends readonly [string, ...string[]]>(dict: Dict, key: string, words: T): T[number] {
  const value = textOf(dict, key) ?? words[0];
  if (words.includes(value)) return value;
  const meant = nearest(value, words);
  throw wrong(
    key,
    `has no value '${value}'`,
    meant === undefined ? `Known ones: ${words.join(', ')}.` : `Did you mean '${meant}'?`,
  );
}
