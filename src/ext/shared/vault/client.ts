// The Vault client: a connection with a token, cached while it is valid, and paths of both versions of key/value engines.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { dictGet, type ExtensionLog, fieldOf, HaliteError, isDict, pyStr, type Value } from 'halite/sdk';
import { readFile, rename, rm, writeFile } from 'halite/sdk/fs';
import { answerField, askVault, isOk, type VaultAnswer } from './request.ts';
import { now, ownToken, serverOf, type VaultConnection, vaultConfig } from './token.ts';

/** The caller of Vault: a minion, the master, or the master for a minion. */
export interface VaultHost {
  readonly opts: Readonly<Record<string, Value>>;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal | undefined;
  /** Caches connections; pillar compilations have one for each minion. */
  readonly cache: Map<string, unknown>;
  /** The cache key of a connection. */
  readonly name: string;
  /** Requests a token from the master; undefined: the local configuration is complete. */
  readonly fromMaster?: (() => Promise<Value>) | undefined;
}

export const tokenFile = (opts: Readonly<Record<string, Value>>): string =>
  join(pyStr(opts['cachedir'] ?? ''), 'salt_vault_token');

const key = (host: VaultHost): string => `vault connection ${host.name}`;
/** Safety margin before a token expires. */
const margin = 10;

async function connect(host: VaultHost): Promise<VaultConnection> {
  if (host.fromMaster) return granted(await host.fromMaster(), host);
  const config = vaultConfig(host.opts);
  return { ...serverOf(config), token: await ownToken(config, host.signal), until: now() + 3600 };
}

/** The connection described by the master's answer. */
function granted(result: Value, host: VaultHost): VaultConnection {
  if (!isDict(result)) {
    throw new HaliteError(
      'call.failed',
      'Failed to get token from master! No result returned - is the peer publish configuration correct?',
      {
        hint: 'The master needs peer_run: {".*": [vault.generate_token]} and a vault section.',
      },
    );
  }
  const error = dictGet(result, 'error');
  if (error !== undefined)
    throw new HaliteError('call.failed', `Failed to get token from master! An error was returned: ${pyStr(error)}`);
  const text = (name: string): string => pyStr(dictGet(result, name) ?? '');
  const uses = Number(dictGet(result, 'uses') ?? 1);
  const verify = dictGet(result, 'verify') ?? null;
  const ours = host.opts['vault'];
  return {
    url: text('url'),
    token: text('token'),
    namespace: dictGet(result, 'namespace') ? text('namespace') : null,
    // The CA file may have another path on this machine.
    verify: verify ?? (ours !== undefined && isDict(ours) ? (dictGet(ours, 'verify') ?? null) : null),
    until: Number(dictGet(result, 'issued') ?? now()) + Number(dictGet(result, 'lease_duration') || 3600),
    onDisk: dictGet(result, 'token_backend') === 'disk',
    ...(uses > 0 ? { uses } : {}),
  };
}

async function connection(host: VaultHost): Promise<VaultConnection> {
  const known = (host.cache.get(key(host)) as VaultConnection | undefined) ?? (await fromDisk(host));
  if (known && known.until - margin > now()) return known;
  const fresh = await connect(host);
  host.cache.set(key(host), fresh);
  await toDisk(host, fresh);
  return fresh;
}

/** The token file in Salt's form, so that Salt and Halite can use each other's token. */
interface CachedToken {
  readonly url: string;
  readonly token: string;
  readonly verify: Value;
  readonly namespace: string | null;
  readonly uses: number;
  readonly lease_duration: number;
  readonly issued: number;
  readonly unlimited_use_token: boolean;
}

async function fromDisk(host: VaultHost): Promise<VaultConnection | undefined> {
  if (!host.fromMaster) return undefined;
  try {
    const kept = JSON.parse(await readFile(tokenFile(host.opts), 'utf8')) as Partial<CachedToken>;
    const { url, token, verify, namespace, issued, lease_duration: lease, uses, unlimited_use_token: unlimited } = kept;
    if (typeof url !== 'string' || typeof token !== 'string') return undefined;
    const limited = unlimited === true || typeof uses !== 'number' ? {} : { uses };
    const until = Number(issued ?? 0) + Number(lease ?? 0);
    return { url, token, verify: verify ?? null, namespace: namespace ?? null, until, onDisk: true, ...limited };
  } catch {
    return undefined;
  }
}

async function toDisk(host: VaultHost, link: VaultConnection): Promise<void> {
  if (!link.onDisk) return;
  const file = tokenFile(host.opts);
  const fresh = `${file}.${randomUUID()}`;
  const { url, token, verify = null, namespace = null, uses, until } = link;
  const times = { issued: now(), lease_duration: until - now() };
  const kept: CachedToken = {
    url,
    token,
    verify,
    namespace,
    uses: uses ?? 0,
    ...times,
    unlimited_use_token: uses === undefined,
  };
  try {
    await writeFile(fresh, JSON.stringify(kept), { mode: 0o600 });
    await rename(fresh, file);
  } catch {
    host.log.error('Failed to cache vault information');
    await rm(fresh, { force: true }).catch(() => undefined);
  }
}

async function forget(host: VaultHost, link: VaultConnection): Promise<void> {
  host.cache.delete(key(host));
  if (link.onDisk) await rm(tokenFile(host.opts), { force: true });
}

export interface Question {
  readonly method?: string;
  readonly path: string;
  readonly json?: string;
}

/** Sends a request; an invalid token is replaced once. */
export async function ask(host: VaultHost, question: Question): Promise<VaultAnswer> {
  for (let retry = false; ; retry = true) {
    const link = await connection(host);
    const answer = await askVault(link, { ...question, token: link.token, signal: host.signal });
    const errors = answerField(answer, 'errors');
    const denied = Array.isArray(errors) && errors.length === 1 && errors[0] === 'permission denied';
    if (denied) await forget(host, link);
    else await countUse(host, link);
    if (!denied || retry) return answer;
  }
}

/** The server counts every request; Salt does not count some, is refused and retries. */
async function countUse(host: VaultHost, link: VaultConnection): Promise<void> {
  if (link.uses === undefined) return;
  link.uses -= 1;
  if (link.uses <= 0) await forget(host, link);
  else await toDisk(host, link);
}

export interface KvPaths {
  readonly v2: boolean;
  readonly data: string;
  readonly metadata: string;
  readonly destroy: string;
}

interface Mount {
  readonly path: string;
  readonly v2: boolean;
}

/** The real path of data: engines of version 2 add a word after the mount. */
export async function kvPaths(host: VaultHost, given: string): Promise<KvPaths> {
  const path = given.replace(/^\/+/, '');
  const mount = await mountOf(host, path);
  if (!mount?.v2) return { v2: false, data: path, metadata: path, destroy: path };
  const kind = (word: string): string => withWord(path, mount.path.replace(/^\/+|\/+$/g, ''), word);
  return { v2: true, data: kind('data'), metadata: kind('metadata'), destroy: kind('destroy') };
}

function withWord(path: string, mount: string, word: string): string {
  const trailing = path.endsWith('/') ? '/' : '';
  const inside = path.replace(/\/+$/, '').slice(mount.length).replace(/^\/+/, '');
  const bare = inside.replace(/^(?:data|metadata|destroy)(?:\/|$)/, '');
  return `${mount}/${word}${bare === '' ? '' : `/${bare}`}${trailing}`;
}

async function mountOf(host: VaultHost, path: string): Promise<Mount | undefined> {
  const name = `vault mounts ${host.name}`;
  const known = (host.cache.get(name) as Mount[] | undefined) ?? [];
  const found = known.find((mount) => `${path}/`.startsWith(mount.path));
  if (found) return found;
  const answer = await ask(host, { path: `sys/internal/ui/mounts/${path.replace(/\/+$/, '')}` });
  const data = isOk(answer) ? answerField(answer, 'data') : undefined;
  if (data === undefined || !isDict(data)) {
    host.log.error('Failed to get secret metadata', { status: answer.status });
    return undefined;
  }
  const options = dictGet(data, 'options') ?? null;
  const version = fieldOf(options, 'version');
  const mount = { path: pyStr(dictGet(data, 'path') ?? path), v2: dictGet(data, 'type') === 'kv' && version === '2' };
  host.cache.set(name, [...known, mount]);
  return mount;
}

/** Vault's answer for a secret, and whether its data is one level deeper. */
export async function readSecret(
  host: VaultHost,
  path: string,
): Promise<{ readonly answer: VaultAnswer; readonly v2: boolean }> {
  const { data, v2 } = await kvPaths(host, path);
  return { answer: await ask(host, { path: data }), v2 };
}
